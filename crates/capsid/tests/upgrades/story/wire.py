"""A hub that runs, and those who talk to it. Standard library only."""

import atexit
import hashlib
import http.server
import json
import os
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from datetime import datetime, timezone

PASSWORD = "correct horse battery staple"


def stamp(asset):
    """Sets the content id of an asset."""
    asset.pop("asset_id", None)
    text = json.dumps(asset, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    asset["asset_id"] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return asset["asset_id"]


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers webhooks with 200 below /ok and 500 elsewhere, and makes embeddings of eight numbers."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = b"{}"
        if self.path.endswith("/embeddings"):
            texts = json.loads(body)["input"]
            vectors = [[byte / 255 for byte in hashlib.sha256(text.encode()).digest()[:8]] for text in texts]
            data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
            answer = json.dumps({"data": data}).encode()
        self.send_response(200 if self.path.startswith(("/ok", "/v1")) else 500)
        self.send_header("content-length", str(len(answer)))
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass

    @classmethod
    def start(cls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), cls)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"


class Hub:
    """A hub of the given program.

    `stored` keeps answers that the hub must give again byte for byte, `seen` what it shows.
    """

    def __init__(self, binary, data, database, endpoint):
        self.binary, self.place = binary, ["--data", data]
        self.place += ["--database", database] if database else []
        self.stored, self.seen, self.count = [], [], 0
        env = dict(os.environ, CAPSID_LOG="warn", CAPSID_HUB_WEBHOOKS_ALLOW_LOCAL="true",
                   CAPSID_HUB_WEBHOOKS_FIRST_RETRY_SECONDS="86400", CAPSID_HUB_WEBHOOKS_LONGEST_RETRY_SECONDS="86400",
                   CAPSID_HUB_SEARCH_EMBEDDINGS_URL=f"{endpoint}/v1", CAPSID_HUB_SEARCH_EMBEDDINGS_MODEL="fixture-8")
        words = [binary, "hub", "serve", "--listen", "127.0.0.1:0", *self.place]
        self.process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.url = self.process.stdout.readline().strip().removeprefix("listening on ")
        assert self.url.startswith("http://"), "the hub did not start"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0

    def admin(self, *words, stdin=""):
        command = [self.binary, "hub", "admin", *words, *self.place]
        subprocess.run(command, input=stdin, text=True, check=True, stdout=subprocess.DEVNULL)

    def call(self, method, path, body=None, bearer="", status=None):
        """Sends a request; gives the answer as JSON. `body` may be a text, which is sent as it is."""
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        request = urllib.request.Request(self.url + path, method=method, data=text.encode() if text else None)
        request.add_header("content-type", "application/json")
        if bearer:
            request.add_header("authorization", f"Bearer {bearer}")
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                code, said = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            code, said = error.code, error.read().decode()
        assert code == status or (status is None and code < 300), f"{method} {path}: {code} {said}"
        self.said = said
        return json.loads(said) if said else None

    def post(self, path, body, bearer="", status=None):
        return self.call("POST", path, body, bearer, status)

    def get(self, path, bearer=""):
        return self.call("GET", path, None, bearer)

    def see(self, path, bearer=""):
        self.get(path, bearer)
        self.seen.append({"path": path, "bearer": bearer, "answer": json.loads(self.said)})

    def fsck(self):
        ran = subprocess.run([self.binary, "hub", "fsck", "--json", *self.place], stdout=subprocess.PIPE, check=True)
        return json.loads(ran.stdout)

    def register(self, name):
        account = {"email": f"{name}@example.org", "password": PASSWORD}
        return self.post("/auth/register", account)["token"]


class Node:
    """An agent with a secret of its own."""

    def __init__(self, hub, node_id, **told):
        self.hub, self.id, self.secret = hub, node_id, ""
        self.hello = self.message("hello", {"capabilities": {}, **told})
        self.secret = self.hello["payload"]["node_secret"]

    def message(self, kind, payload, keep=False):
        """Sends a message in its envelope. `payload` may be a text, which stays as it is."""
        self.hub.count += 1
        envelope = json.dumps({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
            "message_id": f"msg_fixture_{self.hub.count:04}", "sender_id": self.id,
            "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "payload": "PAYLOAD",
        })
        text = payload if isinstance(payload, str) else json.dumps(payload)
        body = envelope.replace('"PAYLOAD"', text)
        path = f"/a2a/{kind}"
        answer = self.hub.post(path, body, self.secret)
        if keep:
            stored = {"path": path, "bearer": self.secret, "body": body, "answer": self.hub.said}
            self.hub.stored.append(stored)
        return answer

    def call(self, path, keep=False, method="POST", **body):
        text = json.dumps({"sender_id": self.id, **body})
        answer = self.hub.call(method, path, text, self.secret)
        if keep:
            self.hub.stored.append({"path": path, "bearer": self.secret, "body": text, "answer": self.hub.said})
        return answer

    def claim(self, token):
        self.hub.post(f"/claim/{self.hello['claim_code']}", {}, token)

    def publish(self, bundle, keep=False):
        return self.message("publish", {"assets": bundle}, keep)

    def report(self, asset, ok, keep=False):
        report = {"report_id": f"report_{self.id}_{asset[7:15]}", "overall_ok": ok, "env_fingerprint_key": "linux_x64",
                  "commands": [{"command": "node retry.test.js", "ok": ok}]}
        return self.message("report", {"target_asset_id": asset, "validation_report": report}, keep)

    def work(self, verb, task, **more):
        return self.hub.post(f"/task/{verb}", {"task_id": task, "node_id": self.id, **more}, self.secret)


def bundle(signal, what, **more):
    """A gene, a capsule and an event that belong together."""
    gene = {"type": "Gene", "schema_version": "1.5.0", "id": f"gene_{signal.lower()}", "category": "repair",
            "signals_match": [signal], "summary": f"Repair {what}, then run the tests again.",
            "strategy": [f"Find where {signal} comes from.", "Repair it."], "validation": ["node tests/retry.test.js"]}
    capsule = {"type": "Capsule", "schema_version": "1.5.0", "trigger": [signal], "gene": stamp(gene),
               "summary": f"Repaired {what} with a bounded change.", "content": f"The cause of {signal} was {what}.",
               "confidence": 0.85, "blast_radius": {"files": 1, "lines": 10}, "success_streak": 3,
               "outcome": {"status": "success", "score": 0.85},
               "env_fingerprint": {"platform": "linux", "arch": "x64"}, **more}
    event = {"type": "EvolutionEvent", "intent": "repair", "capsule_id": stamp(capsule),
             "genes_used": [gene["asset_id"]], "outcome": {"status": "success", "score": 0.85},
             "mutations_tried": 3, "total_cycles": len(what)}
    stamp(event)
    return [gene, capsule, event]
