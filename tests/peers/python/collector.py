"""A collector of OpenTelemetry (rotel) and what it forwards, for the tests of `capsid trail export --otlp`.

Prints the address of the collector, then each span that came through it as a line of JSON. Ends with its stdin.
"""

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import rotel
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

PRINTING = threading.Lock()


def tell(line):
    with PRINTING:
        print(json.dumps(line), flush=True)


def attributes(pairs):
    kinds = {"string_value": str, "int_value": int}
    return {pair.key: kinds[kind](getattr(pair.value, kind)) for pair in pairs if (kind := pair.value.WhichOneof("value"))}


class Sink(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    tell(
                        {
                            "service": attributes(resource.resource.attributes)["service.name"],
                            "schema": scope.schema_url,
                            "trace": span.trace_id.hex(),
                            "id": span.span_id.hex(),
                            "parent": span.parent_span_id.hex(),
                            "name": span.name,
                            "kind": span.kind,
                            "start": span.start_time_unix_nano,
                            "end": span.end_time_unix_nano,
                            "status": span.status.code,
                            "attributes": attributes(span.attributes),
                        }
                    )
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"the collector ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("the collector does not listen")


def main():
    sink = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=sink.serve_forever, daemon=True).start()
    http, grpc = free_port(), free_port()
    options = {
        "--otlp-http-endpoint": f"127.0.0.1:{http}",
        "--otlp-grpc-endpoint": f"127.0.0.1:{grpc}",
        "--exporter": "otlp",
        "--otlp-exporter-protocol": "http",
        "--otlp-exporter-endpoint": f"http://127.0.0.1:{sink.server_port}",
        "--batch-timeout": "50ms",
    }
    program = Path(rotel.__file__).with_name("rotel-agent")
    words = [word for pair in options.items() for word in pair]
    process = subprocess.Popen([program, "start", *words], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        wait_for(http, process)
        tell(f"http://127.0.0.1:{http}")
        sys.stdin.read()
    finally:
        process.kill()
        process.wait()


main()
