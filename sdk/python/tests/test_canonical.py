"""Content ids are the protocol's, to the byte."""

from __future__ import annotations

import json
import random
import subprocess
import unittest
from pathlib import Path
from typing import Any, Dict

from capsid_client import InputInvalid, asset_id, canonical, stamp_asset, verify
from capsid_client.http import parse

from . import support


class Canonical(unittest.TestCase):
    def test_the_vectors_are_reproduced(self) -> None:
        vectors = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
        self.assertGreater(len(vectors), 10)
        for vector in vectors:
            with self.subTest(vector["name"]):
                document = parse(vector["input"])
                self.assertEqual(canonical(document), vector["canonical"])
                if "asset_id" in vector:
                    self.assertEqual(asset_id(document), vector["asset_id"])

    def test_values_that_json_cannot_hold_are_refused(self) -> None:
        deep: Any = 1
        for _ in range(5000):
            deep = [deep]
        for bad in (float("nan"), {1: 2}, {"a": b"bytes"}, {"a": {1, 2}}, object(), deep):
            with self.assertRaises(InputInvalid):
                canonical(bad)
        with self.assertRaises(InputInvalid):
            asset_id([1])  # type: ignore[arg-type]

    def test_a_surrogate_pair_is_one_character(self) -> None:
        self.assertEqual(canonical("\ud83d" + "\ude00"), '"😀"')
        self.assertEqual(canonical("\ude00\ud83d"), '"\\ude00\\ud83d"')

    def test_a_stamped_asset_verifies_and_a_changed_one_does_not(self) -> None:
        draft = {"type": "Gene", "asset_id": "old", "n": 1.0}
        asset = stamp_asset(draft)
        self.assertEqual(draft["asset_id"], "old")
        self.assertTrue(verify(asset))
        verdict = verify({**asset, "n": 2})
        self.assertFalse(verdict)
        self.assertEqual(verdict.state, "mismatch")
        self.assertEqual(verify({"n": 1}).state, "missing")

    def test_a_region_that_another_engine_hashed_but_did_not_write_is_restored(self) -> None:
        hashed = stamp_asset({"type": "Capsule", "env_fingerprint": {"evolver_version": "1.29.8", "region": None}})
        del hashed["env_fingerprint"]["region"]
        self.assertEqual(verify(hashed).state, "verified_legacy")
        self.assertNotIn("region", hashed["env_fingerprint"])

    def test_random_documents_have_the_ids_that_the_program_gives_them(self) -> None:
        dice = random.Random(support.get_seed())
        documents: list[Dict[str, Any]] = [
            {support.create_text(dice) + str(n): support.create_document(dice) for n in range(dice.randrange(1, 6))}
            for _ in range(500)
        ]
        # Two halves of a character that meet by chance are that character in JSON, and may make two keys one.
        documents = [json.loads(json.dumps(document)) for document in documents]
        lines = "".join(json.dumps(document) + "\n" for document in documents)
        for command, ours in (("id", asset_id), ("canonical", canonical)):
            done = subprocess.run(
                [support.find_program(), "asset", command, "-"],
                input=lines.encode("ascii"),
                capture_output=True,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            theirs = done.stdout.decode("utf-8").rstrip("\n").split("\n")
            self.assertEqual(len(theirs), len(documents))
            for document, expected in zip(documents, theirs):
                self.assertEqual(ours(document), expected, json.dumps(document))


if __name__ == "__main__":
    unittest.main()
