"""Every method of the client runs once and sends the expected request."""

from __future__ import annotations

import tempfile
import unittest
from typing import Any, Callable, Dict, List, Tuple
from unittest import mock

import capsid_client
from capsid_client import Client
from capsid_client.http import Answer, Transport

from . import support  # noqa: F401  (which forgets what this machine's owner has set)

GENE = {"category": "repair", "summary": "Try again", "signals_match": ["TimeoutError"]}
PROOF = {"v": 1, "grade": "fail_to_pass", "command": "npm test", "runs": []}
CAPSULE = {"summary": "Tried again", "confidence": 0.9, "outcome": {"status": "success", "score": 0.9}}

#: The answer of this hub to every request. It has the fields that the methods read.
EVERYTHING: Dict[str, Any] = {
    "status": "ok",
    "token": "t",
    **{rows: [] for rows in ("assets", "results", "tasks", "bounties")},
}

#: How each method is called, and its last request.
CALLS: Dict[str, Tuple[Callable[[Client], object], str]] = {
    "hello": (lambda c: c.hello(name="x"), "POST /a2a/hello"),
    "heartbeat": (lambda c: c.heartbeat(), "POST /a2a/heartbeat"),
    "node": (lambda c: c.node("node_1"), "GET /a2a/nodes/node_1"),
    "stats": (lambda c: c.stats(), "GET /a2a/stats"),
    "login": (lambda c: c.login("a@example.org", "pw"), "POST /auth/login"),
    "register": (lambda c: c.register("a@example.org", "pw"), "POST /auth/register"),
    "claim": (lambda c: c.claim("AB-12"), "POST /claim/AB-12"),
    "search_assets": (lambda c: c.search_assets("timeout"), "GET /a2a/assets/search?signals=timeout"),
    "get_ranked_assets": (lambda c: c.get_ranked_assets(limit=5), "GET /a2a/assets/ranked?limit=5"),
    "trending": (lambda c: c.trending(limit=5), "GET /a2a/trending?limit=5"),
    "get_asset": (lambda c: c.get_asset("sha256:1"), "GET /a2a/assets/sha256%3A1"),
    "fetch": (lambda c: c.fetch(["sha256:1"]), "POST /a2a/fetch"),
    "bundle": (lambda c: c.bundle(GENE, CAPSULE), ""),
    "publish": (lambda c: c.publish(GENE, CAPSULE), "POST /a2a/publish"),
    "validate": (lambda c: c.validate(GENE, CAPSULE), "POST /a2a/validate"),
    "report": (lambda c: c.report("sha256:1", True), "POST /a2a/report"),
    "decide": (lambda c: c.decide("sha256:1", "accept"), "POST /a2a/decision"),
    "revoke": (lambda c: c.revoke("sha256:1"), "POST /a2a/revoke"),
    "vote": (lambda c: c.vote("sha256:1"), "POST /a2a/assets/sha256%3A1/vote"),
    "list_tasks": (lambda c: c.list_tasks(limit=1), "GET /task/list?limit=1"),
    "my_tasks": (lambda c: c.my_tasks(), "GET /task/my?node_id=node_me"),
    "get_task": (lambda c: c.get_task("t1"), "GET /task/t1"),
    "claim_task": (lambda c: c.claim_task("t1"), "POST /task/claim"),
    "release_task": (lambda c: c.release_task("t1"), "POST /task/release"),
    "complete_task": (lambda c: c.complete_task("t1", "sha256:1"), "POST /task/complete"),
    "propose_decomposition": (
        lambda c: c.propose_decomposition("t1", [{"title": "a", "weight": 0.4}]),
        "POST /task/propose-decomposition",
    ),
    "swarm": (lambda c: c.swarm("t1"), "GET /task/swarm/t1"),
    "create_bounty": (lambda c: c.create_bounty("Mend it", 1), "POST /bounty/create"),
    "list_bounties": (lambda c: c.list_bounties(status="open"), "GET /bounty/list?status=open"),
    "get_bounty": (lambda c: c.get_bounty("b1"), "GET /bounty/b1"),
    "my_bounties": (lambda c: c.my_bounties(), "GET /bounty/my?node_id=node_me"),
    "accept_bounty": (lambda c: c.accept_bounty("b1"), "POST /bounty/b1/accept"),
    "reject_bounty": (lambda c: c.reject_bounty("b1", "no"), "POST /bounty/b1/reject"),
    "cancel_bounty": (lambda c: c.cancel_bounty("b1"), "POST /bounty/b1/cancel"),
    "ask": (lambda c: c.ask("Why?", 1), "POST /a2a/ask"),
    "kg_query": (lambda c: c.kg_query("timeout"), "POST /kg/query"),
    "kg_ingest": (lambda c: c.kg_ingest([{"name": "x"}]), "POST /kg/ingest"),
    "kg_forget": (lambda c: c.kg_forget(everything=True), "POST /kg/forget"),
    "kg_status": (lambda c: c.kg_status(), "GET /kg/status"),
    "canonical": (lambda c: c.canonical({"b": 1, "a": 2}), ""),
    "asset_id": (lambda c: c.asset_id(GENE), ""),
    "verify": (lambda c: c.verify(GENE), ""),
}


class EveryMethod(unittest.TestCase):
    def client(self) -> Client:
        folder = tempfile.TemporaryDirectory(prefix="capsid-sdk-home-")
        self.addCleanup(folder.cleanup)
        return Client("http://127.0.0.1:9", home=folder.name, node_id="node_me", node_secret="0" * 64)

    def test_every_public_method_is_called(self) -> None:
        public = {name for name, it in vars(Client).items() if not name.startswith("_") and not isinstance(it, property)}
        self.assertEqual(set(CALLS), public)

    def test_each_method_sends_its_request(self) -> None:
        for name, (call, expected) in CALLS.items():
            with self.subTest(name):
                requests: List[str] = []

                def answer(_: Transport, method: str, path: str, **__: object) -> Answer:
                    requests.append(f"{method} {path}")
                    return Answer(200, dict(EVERYTHING), None)

                with mock.patch.object(Transport, "call", answer):
                    call(self.client())
                self.assertEqual(requests[-1] if requests else "", expected)

    def test_methods_and_functions_compute_the_same_ids(self) -> None:
        client = self.client()
        gene = capsid_client.stamp_asset(GENE)
        self.assertEqual(client.canonical({"b": 1, "a": [2]}), '{"a":[2],"b":1}')
        self.assertEqual(client.asset_id(GENE), gene["asset_id"])
        self.assertTrue(client.verify(gene))
        self.assertEqual(client.verify({**gene, "summary": "Other"}).state, "mismatch")
        self.assertEqual(Client.verify(GENE).state, "missing")

    def test_a_bundle_keeps_the_problem_the_proof_and_the_words(self) -> None:
        problem: capsid_client.ProblemRecord = {"v": 1, "tool": "tsc", "class": "compile_error", "text": "x"}
        draft = {**CAPSULE, "title": "Try again", "explanation": "It was busy.", "problem": problem, "proof": PROOF}
        _, capsule = self.client().bundle(GENE, draft)
        for name in ("title", "explanation", "problem", "proof"):
            self.assertEqual(capsule[name], draft[name])
        self.assertTrue(capsid_client.verify(capsule))

    def test_the_former_names_still_work(self) -> None:
        self.assertIs(capsid_client.Fetched, capsid_client.FetchResult)
        with self.assertWarns(DeprecationWarning):
            self.assertEqual(capsid_client.stamped(GENE), capsid_client.stamp_asset(GENE))


if __name__ == "__main__":
    unittest.main()
