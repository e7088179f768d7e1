"""The node's identity is shared with the program, and kept from everybody else."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from capsid_client import IdentityInvalid
from capsid_client.identity import Identity, KnownHub

from . import support  # noqa: F401  (which forgets what this machine's owner has set)

HUB = "http://127.0.0.1:1"


def _remember(home: str, number: int) -> str:
    identity = Identity(Path(home))
    identity.remember(f"{HUB}{number}", KnownHub(secret=f"{number:064x}"))
    return identity.node_id


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="capsid-sdk-home-"))
        self.addCleanup(shutil.rmtree, str(self.home), True)
        self.folder = self.home / ".evomap"

    def test_an_identity_is_made_once_and_a_secret_stays_with_its_hub(self) -> None:
        node = Identity(self.home)
        self.assertRegex(node.node_id, r"^node_[0-9a-f]{16}$")
        self.assertEqual(Identity(self.home).node_id, node.node_id)
        known = KnownHub(secret="ab" * 32, secret_version=1, hub_node_id="hub_1")
        node.remember(HUB, known)
        self.assertEqual(Identity(self.home).hub(HUB), known)
        self.assertEqual(node.hub("http://127.0.0.1:2"), KnownHub())
        self.assertEqual((self.folder / "node_secret").read_text(), "ab" * 32)
        self.assertNotIn("abab", repr(node) + repr(known))
        stored = json.loads((self.folder / "hubs.json").read_text())
        own = {"node_secret": "ab" * 32, "node_secret_version": 1}
        self.assertEqual(stored, {HUB: {"hub_node_id": "hub_1", "nodes": {node.node_id: own}}})

    def test_members_of_other_tools_are_preserved(self) -> None:
        node = Identity(self.home)
        node.remember(HUB, KnownHub(secret="ab" * 32, secret_version=1, hub_node_id="hub_1"))
        path = self.folder / "hubs.json"
        hubs = json.loads(path.read_text())
        hubs[HUB]["nodes"][node.node_id]["claim_code"] = "REEF-4X7K"
        hubs[HUB]["nodes"]["node_other"] = {"node_secret": "ef" * 32}
        path.write_text(json.dumps(hubs))
        node.remember(HUB, KnownHub(secret="cd" * 32, secret_version=2))
        hubs[HUB]["nodes"][node.node_id].update(node_secret="cd" * 32, node_secret_version=2)
        self.assertEqual(json.loads(path.read_text()), hubs)
        self.assertEqual(Identity(self.home, node_id="node_other").hub(HUB).secret, "ef" * 32)

    def test_the_secret_of_another_tool_goes_to_its_hub_alone(self) -> None:
        node = Identity(self.home)
        (self.folder / "node_secret").write_text("dd" * 32)
        node.remember(HUB, KnownHub(secret="ab" * 32))
        self.assertEqual((self.folder / "node_secret").read_text(), "dd" * 32)
        with mock.patch.dict(os.environ, {"A2A_HUB_URL": "https://hub.example/"}):
            again = Identity(self.home)
            self.assertEqual(again.hub("https://hub.example").secret, "dd" * 32)
            self.assertIsNone(again.hub("https://other.example").secret)
            self.assertEqual(again.hub(HUB).secret, "ab" * 32)
        self.assertIsNone(Identity(self.home).hub("https://hub.example").secret)

    @unittest.skipIf(os.name == "nt", "permissions differ there")
    def test_only_the_owner_reads_it(self) -> None:
        Identity(self.home).remember(HUB, KnownHub(secret="ab" * 32))
        self.assertEqual(stat.S_IMODE(self.folder.stat().st_mode), 0o700)
        for name in ("node_id", "node_secret", "hubs.json"):
            self.assertEqual(stat.S_IMODE((self.folder / name).stat().st_mode), 0o600, name)

    def test_arguments_and_variables_win_and_are_not_written(self) -> None:
        stored = Identity(self.home)
        stored.remember(HUB, KnownHub(secret="ab" * 32))
        with mock.patch.dict(os.environ, {"A2A_NODE_ID": "node_env", "A2A_NODE_SECRET": "ee" * 32}):
            self.assertEqual(Identity(self.home).node_id, "node_env")
            given = Identity(self.home, node_id="node_given", node_secret="cd" * 32)
            self.assertEqual((given.node_id, given.hub(HUB).secret), ("node_given", "cd" * 32))
            given.remember(HUB, KnownHub(hub_node_id="hub_1"))
        self.assertEqual((self.folder / "node_secret").read_text(), "ab" * 32)
        self.assertEqual(stored.hub(HUB).secret, "ab" * 32)

    def test_unreadable_files_raise_and_stay_unchanged(self) -> None:
        self.folder.mkdir()
        (self.folder / "node_id").write_text("hub_me\n")
        with self.assertRaises(IdentityInvalid):
            Identity(self.home)
        (self.folder / "node_id").write_text("node_1\n")
        (self.folder / "hubs.json").write_text("{ not json")
        with self.assertRaises(IdentityInvalid) as raised:
            Identity(self.home).remember(HUB, KnownHub())
        self.assertTrue(raised.exception.fix)
        self.assertEqual((self.folder / "hubs.json").read_text(), "{ not json")

    def test_processes_that_begin_together_are_one_node_and_lose_nothing(self) -> None:
        with multiprocessing.Pool(6) as pool:
            ids = pool.starmap(_remember, [(str(self.home), number) for number in range(24)])
        self.assertEqual(len(set(ids)), 1)
        node = Identity(self.home)
        for number in range(24):
            self.assertEqual(node.hub(f"{HUB}{number}").secret, f"{number:064x}")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), [".lock", "hubs.json", "node_id", "node_secret"])


if __name__ == "__main__":
    unittest.main()
