"""Against the built hub."""

from __future__ import annotations

import copy
import json
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any, Dict, Tuple

from capsid_client import Client, HubRefused, NodeSecretRefused, verify

from . import support


def build_drafts(about: str) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    gene = {"category": "repair", "summary": f"Mend {about} by trying again", "signals_match": [about]}
    capsule = {
        "summary": f"Tried again after {about}, waiting longer each time",
        "confidence": 0.9,
        "blast_radius": {"files": 1, "lines": 5},
        "outcome": {"status": "success", "score": 0.9},
    }
    return gene, capsule


class FirstExample(support.WithHub):
    """On a hub of its own, because it expects that nothing is promoted yet."""

    def test_the_first_example_of_the_readme_works(self) -> None:
        client = self.client()

        results = client.search_assets(signals="timeout")
        gene = {"category": "repair", "summary": "Fix timeout with retry", "signals_match": ["TimeoutError"]}
        capsule = {"summary": "Implemented exponential backoff retry", "confidence": 0.95, "blast_radius": {"files": 1, "lines": 5}, "outcome": {"status": "success", "score": 0.9}}
        before = copy.deepcopy((gene, capsule))
        client.publish(gene, capsule)
        ranked = client.get_ranked_assets(limit=5)

        self.assertEqual((gene, capsule), before)
        self.assertEqual((results, ranked), ([], []))
        rows = client.search_assets(signals="timeout", status="candidate")
        self.assertEqual([row["summary"] for row in rows], [capsule["summary"], gene["summary"]])
        self.assertEqual(client.search_assets(["timeout"], status="candidate"), rows)


class Publishing(support.WithHub):
    def test_a_published_bundle_is_found_ranked_and_fetched_by_another_node(self) -> None:
        author, reader = self.client(), self.client()
        gene, capsule = build_drafts("BrokenPipeError")
        published = author.publish(gene, capsule, {"total_cycles": 3})
        gene_id, capsule_id, event_id = published["asset_ids"]
        self.assertEqual(author.publish(gene, capsule, {"total_cycles": 3})["asset_ids"], published["asset_ids"])

        self.hub.admin("promote", capsule_id, "--reason", "read")
        ranked = reader.get_ranked_assets(limit=5)
        self.assertIn(capsule_id, [row["asset_id"] for row in ranked])
        (row, *_) = reader.search_assets(["BrokenPipeError, and a comma"])
        self.assertEqual(row["matched_signals"], ["BrokenPipeError, and a comma"])
        self.assertTrue(reader.search_assets("BrokenPipeError", asset_type="Capsule", limit=1))

        fetched = reader.fetch([capsule_id, gene_id])
        self.assertEqual({asset["asset_id"] for asset in fetched}, {capsule_id, gene_id})
        self.assertTrue(all(verify(asset) for asset in fetched))
        whole = next(asset for asset in fetched if asset["type"] == "Capsule")
        self.assertEqual((whole["trigger"], whole["gene"]), (["BrokenPipeError"], gene_id))
        self.assertEqual(whole["schema_version"], "1.5.0")
        self.assertEqual(reader.get_asset(capsule_id, detailed=True)["payload"]["summary"], capsule["summary"])
        self.assertEqual(reader.get_asset(event_id)["asset_type"], "EvolutionEvent")
        # The hub counts uses a little later than it answers.
        end = time.monotonic() + 30
        while not reader.trending(limit=5) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertIn(capsule_id, [row["asset_id"] for row in reader.trending(limit=5)])

        report = reader.report(capsule_id, True, report={"commands": []})
        self.assertEqual(report["target_asset_id"], capsule_id)
        self.assertEqual(reader.decide(capsule_id, "accept", "It works here.")["decision"], "accept")

    def test_a_bundle_that_is_stored_and_rejected_is_an_exception(self) -> None:
        gene, capsule = build_drafts("AssertionError")
        capsule["outcome"] = {"status": "success", "score": 0.1}
        with self.assertRaises(HubRefused) as caught:
            self.client().publish(gene, capsule)
        self.assertEqual((caught.exception.status, caught.exception.hub_code), (422, "quality_gate_failed"))
        self.assertIs(caught.exception.answer["stored"], True)

    def test_a_candidate_is_taken_on_trial_and_the_report_counts(self) -> None:
        author, reader = self.client(), self.client()
        _, capsule_id = author.publish(*build_drafts("ChildProcessError"))["asset_ids"][:2]
        self.assertEqual(reader.fetch([capsule_id], strict=False), [])
        taken = reader.fetch([capsule_id], trial=True)
        self.assertEqual([asset["asset_id"] for asset in taken], [capsule_id])
        self.assertEqual(json.loads(taken.texts[capsule_id]), taken[0])
        self.assertEqual(len(taken.read_proof(capsule_id) or ""), 64)
        proof = {
            "v": 1,
            "grade": "fail_to_pass",
            "command": "npm test",
            "runs": [
                {"run": "before", "ok": False, "exit_code": 1, "duration_ms": 5},
                {"run": "after", "ok": True, "exit_code": 0, "duration_ms": 5},
            ],
        }
        report = reader.report(capsule_id, True, report={"proof": proof})
        self.assertEqual((report["grade"], report["weight"]), ("applied", 1))

    def test_the_program_accepts_every_asset_that_is_sent(self) -> None:
        gene, capsule = build_drafts("KeyError")
        gene.update(strategy=["Look"], constraints={"max_files": 2, "forbidden_paths": [".git"]}, validation=[])
        assets = self.client().bundle(gene, capsule, {})
        for command in ("verify", "check"):
            done = subprocess.run(
                [support.find_program(), "asset", command, "-"],
                input="".join(json.dumps(asset) + "\n" for asset in assets),
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_complete_asset_keeps_its_id(self) -> None:
        client = self.client()
        gene, capsule = build_drafts("ValueError")
        first = client.bundle(gene, capsule, {})
        self.assertEqual(client.bundle(*first), first)
        changed = client.bundle({**first[0], "summary": "Mend it in another way"}, capsule)
        self.assertNotEqual(changed[0]["asset_id"], first[0]["asset_id"])
        self.assertTrue(verify(changed[0]))

    def test_validate_stores_nothing_and_a_bad_bundle_raises(self) -> None:
        client = self.client()
        gene, capsule = build_drafts("ImportError")
        self.assertTrue(client.validate(gene, capsule)["valid"])
        self.assertEqual(client.search_assets("ImportError", status="candidate"), [])
        poor = {**capsule, "outcome": {"status": "success", "score": 0.2}}
        with self.assertRaises(HubRefused) as raised:
            client.publish(gene, poor)
        self.assertEqual(raised.exception.hub_code, "quality_gate_failed")
        with self.assertRaises(HubRefused) as raised:
            client.publish(gene, {"summary": "short"})
        self.assertEqual((raised.exception.status, raised.exception.hub_code), (400, "validation_error"))
        self.assertIn("summary", raised.exception.message)
        self.assertTrue(raised.exception.fix)

    def test_secrets_are_redacted_unless_that_is_turned_off(self) -> None:
        token = "ghp_" + "a1B2" * 9
        gene, capsule = build_drafts("PermissionError")
        capsule["content"] = f"git push https://ada:hunter22@git.example/ with {token}"
        client = self.client()
        sent = json.dumps(client.bundle(gene, capsule))
        self.assertNotIn(token, sent)
        self.assertNotIn("hunter22", sent)
        self.assertIn(token, capsule["content"])
        unredacted = Client(self.hub.url, home=self.home(), redact=False)
        self.assertIn(token, json.dumps(unredacted.bundle(gene, capsule)))

    def test_only_the_publisher_can_revoke(self) -> None:
        author, other = self.client(), self.client()
        ids = author.publish(*build_drafts("OSError"))["asset_ids"]
        with self.assertRaises(HubRefused) as raised:
            other.revoke(ids[1])
        self.assertEqual(raised.exception.hub_code, "not_asset_owner")
        author.revoke(ids[1], "Something better replaced it.")
        self.assertEqual(author.get_asset(ids[1])["status"], "revoked")


class Nodes(support.WithHub):
    def test_hello_is_sent_automatically_and_the_secret_is_not_shown(self) -> None:
        home = self.home()
        client = Client(self.hub.url, home=home)
        self.assertEqual(client.heartbeat()["status"], "ok")
        self.assertEqual(client.node()["node_id"], client.node_id)
        secret = (Path(home) / ".evomap" / "node_secret").read_text()
        self.assertEqual(len(secret), 64)
        output = repr(client) + repr(vars(client)) + repr(client._node.known_hub()) + json.dumps(client.hello())
        self.assertNotIn(secret, output)

    def test_another_process_is_the_same_node_and_a_wrong_secret_is_refused(self) -> None:
        home = self.home()
        first = Client(self.hub.url, home=home)
        first.publish(*build_drafts("EOFError"))
        again = Client(self.hub.url, home=home)
        self.assertEqual(again.node_id, first.node_id)
        self.assertEqual(again.heartbeat()["status"], "ok")
        wrong = Client(self.hub.url, home=home, node_secret="0" * 64)
        with self.assertRaises(NodeSecretRefused) as raised:
            wrong.publish(*build_drafts("EOFError"))
        self.assertEqual(raised.exception.hub_code, "node_secret_invalid")
        self.assertNotIn("0" * 64, str(raised.exception))

    def test_a_named_node_leaves_the_stored_one_alone(self) -> None:
        home = self.home()
        stored = Client(self.hub.url, home=home)
        stored.publish(*build_drafts("IndexError"))
        named = Client(self.hub.url, home=home, node_id="node_named_1")
        named.publish(*build_drafts("AttributeError"))
        self.assertEqual(stored.heartbeat()["status"], "ok")
        self.assertEqual(Client(self.hub.url, home=home, node_id="node_named_1").heartbeat()["status"], "ok")
        stored.report(named.publish(*build_drafts("AttributeError"))["asset_ids"][1], True)

    def test_the_hub_returns_its_stats(self) -> None:
        self.assertEqual(self.client().stats()["status"], "ok")


class Economy(support.WithHub):
    def person(self, name: str) -> Client:
        client = self.client()
        client.register(f"{name}@example.org", "correct horse battery")
        return client

    def test_a_bounty_is_offered_solved_and_paid(self) -> None:
        asker, solver = self.person("ann"), self.client()
        bounty = asker.create_bounty("Requests time out under load", 12.5, signals="TimeoutError", reference="one")
        again = asker.create_bounty("Requests time out under load", 12.5, signals="TimeoutError", reference="one")
        self.assertEqual(again["bounty_id"], bounty["bounty_id"])
        self.assertEqual([row["bounty_id"] for row in asker.my_bounties()], [bounty["bounty_id"]])
        self.assertIn(bounty["bounty_id"], [row["bounty_id"] for row in solver.list_bounties(status="open")])
        task = next(task for task in solver.list_tasks(min_bounty=10) if task["task_id"] == bounty["task_id"])

        solver.claim_task(task["task_id"])
        solver.release_task(task["task_id"])
        solver.claim_task(task["task_id"])
        self.assertEqual([mine["task_id"] for mine in solver.my_tasks()], [task["task_id"]])
        asset_id = solver.publish(*build_drafts("TimeoutError"))["asset_ids"][1]
        self.assertEqual(solver.complete_task(task["task_id"], asset_id)["status"], "completed")
        self.assertEqual(solver.get_task(task["task_id"])["status"], "completed")

        asker.reject_bounty(bounty["bounty_id"], "Try once more, please.")
        solver.claim_task(task["task_id"])
        solver.complete_task(task["task_id"], asset_id)
        asker.accept_bounty(bounty["bounty_id"])
        self.assertEqual(solver.get_bounty(bounty["bounty_id"])["status"], "accepted")
        self.assertEqual(solver.heartbeat()["credit_balance"], 512.5)

    def test_a_bounty_needs_an_account_and_can_be_cancelled(self) -> None:
        with self.assertRaises(HubRefused) as raised:
            self.client().create_bounty("Nobody offers this", 1)
        self.assertEqual((raised.exception.status, raised.exception.hub_code), (401, "unauthorized"))
        asker = self.person("bob")
        bounty = asker.create_bounty("Mend the build, please", 5)
        asker.cancel_bounty(bounty["bounty_id"], "Done already.")
        self.assertEqual(asker.get_bounty(bounty["bounty_id"])["status"], "cancelled")

    def test_a_node_asks_and_another_splits_the_task(self) -> None:
        asker, leader = self.client(), self.client()
        question = asker.ask("Why does the build time out?", 2.5, signals=["build_error"])
        self.assertEqual(question["remaining_balance"], 497.5)
        self.assertEqual(len(asker.my_bounties()), 1)
        leader.claim_task(question["task_id"])
        parts = [{"title": "Find the cause of it", "weight": 0.4}, {"title": "Mend what is slow", "weight": 0.4}]
        self.assertEqual(leader.propose_decomposition(question["task_id"], parts)["status"], "decomposed")
        self.assertEqual(len(leader.swarm(question["task_id"])["subtasks"]), 2)

    def test_people_vote_and_claim_nodes(self) -> None:
        author = self.client()
        person = self.person("eve")
        asset_id = author.publish(*build_drafts("MemoryError"))["asset_ids"][1]
        self.assertEqual(person.vote(asset_id)["upvotes"], 1)
        self.assertEqual(person.vote(asset_id, "none")["upvotes"], 0)
        with self.assertRaises(HubRefused):
            author.vote(asset_id)
        self.assertEqual(person.claim(author.hello()["claim_code"])["node_id"], author.node_id)
        with self.assertRaises(HubRefused) as raised:
            person.vote(asset_id)
        self.assertEqual(raised.exception.hub_code, "self_vote_forbidden")

    def test_the_knowledge_graph_returns_its_status(self) -> None:
        person = self.person("kim")
        self.assertIn("entitled", person.kg_status())
        if person.kg_status().get("available"):
            return
        with self.assertRaises(HubRefused):
            person.kg_query("timeout")
        with self.assertRaises(HubRefused):
            person.kg_ingest([{"name": "TimeoutError"}])


if __name__ == "__main__":
    unittest.main()
