"""Against servers that lie, stall, flood and redirect. Nothing they send is used, and no call hangs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import tempfile
import threading
import time
import unittest
from typing import Any, Callable, Dict, List, Optional, Tuple
from unittest import mock

from capsid_client import (
    AssetIdMismatch,
    Client,
    HubAnswerInvalid,
    HubRefused,
    HubUnreachable,
    InputInvalid,
    RateLimited,
    stamp_asset,
)

from . import support  # noqa: F401  (which forgets what this machine's owner has set)

Behaviour = Callable[[socket.socket, bytes], None]


class Server:
    """Accepts connections one after the other, applies a behaviour to each, and records the requests."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self.requests: List[bytes] = []
        self._behaviours = list(behaviours)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                try:
                    request = _read_request(connection)
                    self.requests.append(request)
                    behaviour = self._behaviours[min(len(self.requests), len(self._behaviours)) - 1]
                    behaviour(connection, request)
                except OSError:
                    pass

    def stop(self) -> None:
        # Closing alone would not wake a thread that waits for a connection.
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()
        self._thread.join(10)


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def build_answer(body: Any, status: str = "200 OK", kind: str = "application/json", **headers: str) -> Behaviour:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    whole = "\r\n".join(lines).encode() + b"\r\n\r\n" + data
    return lambda connection, _: connection.sendall(whole)


def send_raw(data: bytes) -> Behaviour:
    return lambda connection, _: connection.sendall(data)


def parse_body(request: bytes) -> Dict[str, Any]:
    body = json.loads(request.partition(b"\r\n\r\n")[2])
    assert isinstance(body, dict)
    return body


class Hostile(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="capsid-sdk-home-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def start_client(self, *behaviours: Behaviour, retries: int = 0, timeout: float = 5) -> Tuple[Client, Server]:
        server = Server(*behaviours)
        self.addCleanup(server.stop)
        client = Client(
            server.url, node_id="node_1", node_secret="ab" * 32, home=self.folder, retries=retries, timeout=timeout
        )
        return client, server

    def get_refusal(self, *behaviours: Behaviour) -> str:
        client, _ = self.start_client(*behaviours)
        with self.assertRaises(HubAnswerInvalid) as raised:
            client.stats()
        self.assertNotIn("ab" * 32, str(raised.exception))
        return raised.exception.message

    def test_an_answer_that_is_not_json_is_refused(self) -> None:
        self.assertIn("text/html", self.get_refusal(build_answer(b"<html>", kind="text/html; charset=utf-8")))
        self.assertIn("cannot be read", self.get_refusal(build_answer(b"{")))
        self.assertIn("cannot be read", self.get_refusal(build_answer(b'{"a": NaN}')))
        self.assertIn("cannot be read", self.get_refusal(build_answer(b'"\xff"')))
        self.assertIn("cannot be read", self.get_refusal(build_answer(b"[" * 200_000)))
        self.assertIn("no object", self.get_refusal(build_answer([1, 2])))
        client, _ = self.start_client(build_answer({"assets": {}}))
        with self.assertRaises(HubAnswerInvalid):
            client.search_assets("timeout")
        self.assertIn("no HTTP", self.get_refusal(send_raw(b"SSH-2.0-x\r\n\r\n")))
        self.assertIn("compressed", self.get_refusal(build_answer(gzip.compress(b"{}"), Content_Encoding="gzip")))
        self.assertIn("nothing that is named", self.get_refusal(send_raw(b"HTTP/1.1 200 OK\r\n\r\n{}")))

    def test_an_answer_that_is_too_large_or_breaks_off_is_refused(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

        def flood(connection: socket.socket, _: bytes) -> None:
            connection.sendall(head + b"\r\n[")
            while True:
                connection.sendall(b"1," * 32768)

        self.assertIn("larger than 8 MiB", self.get_refusal(flood))
        self.assertIn("larger than 8 MiB", self.get_refusal(build_answer(b" " * (8 * 1024 * 1024) + b"{}")))
        self.assertIn("broke off", self.get_refusal(send_raw(head + b"Content-Length: 100\r\n\r\n{}")))
        self.get_refusal(send_raw(head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}"))

    def test_a_redirect_is_not_followed(self) -> None:
        elsewhere = Server(build_answer({}))
        self.addCleanup(elsewhere.stop)
        for status in ("301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"):
            self.assertIn("points to", self.get_refusal(build_answer({}, status, Location=elsewhere.url + "/a2a/stats")))
        self.assertEqual(elsewhere.requests, [])

    def test_a_server_that_stalls_or_drips_times_out(self) -> None:
        def stall(connection: socket.socket, _: bytes) -> None:
            connection.recv(1)

        def drip(connection: socket.socket, _: bytes) -> None:
            for byte in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: " + b"y" * 10_000:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)

        def drip_body(connection: socket.socket, _: bytes) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.05)

        for behaviour in (stall, drip, drip_body):
            client, _ = self.start_client(behaviour, timeout=0.5)
            start = time.monotonic()
            with self.assertRaises(HubUnreachable) as raised:
                client.stats()
            self.assertLess(time.monotonic() - start, 10)
            self.assertIn("within 0.5 s", raised.exception.message)

    def test_an_unreachable_hub_raises(self) -> None:
        free = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        free.close()
        with self.assertRaises(HubUnreachable) as raised:
            Client(url, node_id="node_1", home=self.folder, retries=0).stats()
        self.assertEqual(raised.exception.code, "hub_unreachable")

    def test_an_asset_under_a_wrong_id_is_refused(self) -> None:
        asset = stamp_asset({"type": "Capsule", "summary": "as it was published"})
        tampered = {**asset, "summary": "changed on the way"}
        for lie in (tampered, {**asset, "asset_id": "sha256:" + "0" * 64}, {"summary": "no id"}):
            client, _ = self.start_client(build_answer({"results": [asset, lie]}))
            with self.assertRaises(AssetIdMismatch) as raised:
                client.fetch(signals="timeout")
            self.assertEqual(raised.exception.code, "asset_id_mismatch")
            fetched = client.fetch(signals="timeout", strict=False)
            self.assertEqual((list(fetched), len(fetched.refused)), ([asset], 1))
        client, _ = self.start_client(build_answer({"payload": tampered}))
        with self.assertRaises(AssetIdMismatch):
            client.get_asset(str(asset["asset_id"]), detailed=True)

    def test_an_asset_that_was_not_requested_is_refused(self) -> None:
        asset = stamp_asset({"type": "Capsule"})
        client, _ = self.start_client(build_answer({"results": [asset]}))
        with self.assertRaises(HubAnswerInvalid):
            client.fetch(["sha256:" + "1" * 64])

    def test_members_that_a_hub_adds_to_an_asset_are_removed(self) -> None:
        asset = stamp_asset({"type": "Capsule"})
        client, _ = self.start_client(build_answer({"results": [{**asset, "gdi_score": 3, "reuse_count": 1}]}))
        self.assertEqual(list(client.fetch([str(asset["asset_id"])])), [asset])

    def test_an_answer_of_another_hub_is_refused(self) -> None:
        def enveloped(hub: str) -> Behaviour:
            payload = {"status": "acknowledged", "hub_node_id": hub, "results": []}
            return build_answer({"protocol": "gep-a2a", "sender_id": hub, "payload": payload})

        client, _ = self.start_client(enveloped("hub_first"), enveloped("hub_second"))
        client.hello()
        with self.assertRaises(HubAnswerInvalid) as raised:
            client.fetch(signals="timeout")
        self.assertIn("hub_second", raised.exception.message)

    def test_a_busy_hub_gets_the_same_message_again(self) -> None:
        busy = build_answer({"error": "rate_limited"}, "429 Too Many", Retry_After="0")
        client, server = self.start_client(busy, busy, build_answer({"results": []}), retries=2)
        self.assertEqual(list(client.fetch(signals="timeout")), [])
        self.assertEqual(len({parse_body(request)["message_id"] for request in server.requests}), 1)
        self.assertEqual(len(server.requests), 3)

        away = build_answer({"error": "rate_limited"}, "429 Too Many", Retry_After="3600")
        client, server = self.start_client(away, retries=2)
        with self.assertRaises(RateLimited) as raised:
            client.stats()
        self.assertEqual((raised.exception.retry_after, raised.exception.code), (3600, "hub_busy"))
        self.assertEqual(len(server.requests), 1)

    def test_the_texts_of_a_refusal_are_made_inert(self) -> None:
        said = {"error": "no\x1b[31m", "correction": {"problem": "red\x1b[31m\u202e\nline " + "x" * 5000, "fix": "a\tb"}}
        client, _ = self.start_client(build_answer(said, "400 Bad Request"))
        with self.assertRaises(HubRefused) as raised:
            client.stats()
        problem = raised.exception
        self.assertTrue(str(problem).isprintable(), str(problem))
        self.assertLess(len(str(problem)), 1000)
        self.assertEqual(problem.fix, "a b")
        odd: Any
        for odd in ({"error": 5, "correction": [], "payload": 7}, [], "no", None):
            client, _ = self.start_client(build_answer(odd, "500 Internal Server Error"))
            with self.assertRaises(HubRefused) as raised:
                client.stats()
            self.assertEqual(raised.exception.hub_code, "http_500")

    def test_the_secret_of_one_hub_is_not_shown_to_another(self) -> None:
        hello = build_answer({"node_secret": "cd" * 32, "node_secret_version": 1, "hub_node_id": "hub_1"})
        first, second = Server(hello, build_answer({})), Server(build_answer({}))
        self.addCleanup(first.stop)
        self.addCleanup(second.stop)
        client = Client(first.url, home=self.folder)
        self.assertNotIn("node_secret", client.hello())
        client.stats()
        Client(second.url, home=self.folder).stats()
        self.assertIn(b"cd" * 32, first.requests[1])
        self.assertNotIn(b"Authorization", second.requests[0])

    def test_ids_cannot_leave_their_path_segment(self) -> None:
        client, server = self.start_client(build_answer({}))
        client.get_task("../../admin?x=1#y\r\nX: 1")
        self.assertTrue(server.requests[0].startswith(b"GET /task/..%2F..%2Fadmin%3Fx%3D1%23y%0D%0AX%3A%201 HTTP/1.1"))
        for bad in ("", ".", ".."):
            with self.assertRaises(InputInvalid):
                client.get_task(bad)

    def test_values_that_json_cannot_hold_are_not_sent(self) -> None:
        client, server = self.start_client(build_answer({}))
        for bad in (float("nan"), float("inf"), b"x", object()):
            with self.assertRaises(InputInvalid):
                client.publish({"category": "repair", "x": bad}, {})
        self.assertEqual(server.requests, [])

    def test_a_proxy_is_used_for_other_machines_only(self) -> None:
        proxy = Server(build_answer({"through": "proxy"}))
        self.addCleanup(proxy.stop)
        words = {"http_proxy": proxy.url.replace("//", "//user:pass@"), "https_proxy": proxy.url, "no_proxy": ""}
        with mock.patch.dict(os.environ, words):
            client, server = self.start_client(build_answer({"through": "nothing"}))
            self.assertEqual(client.stats(), {"through": "nothing"})
            away = Client("http://hub.test:4000", node_id="node_1", home=self.folder, retries=0, allow_insecure=True)
            self.assertEqual(away.stats(), {"through": "proxy"})
            self.assertTrue(proxy.requests[0].startswith(b"GET http://hub.test:4000/a2a/stats HTTP/1.1"))
            self.assertIn(b"Proxy-Authorization: Basic dXNlcjpwYXNz", proxy.requests[0])
            with self.assertRaises(HubUnreachable):
                Client("https://hub.test", node_id="node_1", home=self.folder, retries=0).stats()
            self.assertTrue(proxy.requests[1].startswith(b"CONNECT hub.test:443"), proxy.requests[1])
            self.assertNotIn(b"Authorization: Bearer", proxy.requests[1])
        self.assertEqual(len(server.requests), 1)


class Addresses(unittest.TestCase):
    def test_an_invalid_hub_address_is_refused(self) -> None:
        bad: List[Optional[str]] = [
            None,
            "hub.example",
            "ftp://x",
            "https://",
            "https://a:geheim@x",
            "https://x/a2a",
            "https://x?y",
            "http://hub.example",
            "http://127.0.0.1:port",
            "http://[::1",
            "http://127.0.0.1\r\nX: 1",
        ]
        with mock.patch.dict(os.environ, {"A2A_HUB_URL": "", "EVOMAP_HUB_URL": ""}):
            for address in bad:
                with self.subTest(address), self.assertRaises(InputInvalid) as raised:
                    Client(address, node_id="node_1")
                self.assertNotIn("geheim", str(raised.exception))
        for good in ("http://127.0.0.1:4000/", "http://localhost", "http://[::1]:4000", "https://hub.example"):
            self.assertEqual(Client(good, node_id="node_1").hub_url, good.rstrip("/"))
        with mock.patch.dict(os.environ, {"A2A_HUB_URL": "https://hub.example"}):
            self.assertEqual(Client(node_id="node_1").hub_url, "https://hub.example")


if __name__ == "__main__":
    unittest.main()
