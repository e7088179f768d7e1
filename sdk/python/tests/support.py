"""What the tests have in common: the built program, a hub of their own, and documents made by chance."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, List, Optional

from capsid_client import Client

# What this machine's owner has set is not for the tests.
for _name in ("A2A_HUB_URL", "EVOMAP_HUB_URL", "A2A_NODE_ID", "A2A_NODE_SECRET", "CAPSID_CA_FILE"):
    os.environ.pop(_name, None)


def find_program() -> str:
    """The built program: ``CAPSID_BIN``, or that of this repository. Without one these tests fail."""
    named = os.environ.get("CAPSID_BIN")
    if named:
        return named
    folder = Path(__file__).resolve().parents[3]
    target = Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
    for path in (target / "debug" / "capsid", target / "release" / "capsid"):
        if path.exists():
            return str(path)
    installed = shutil.which("capsid")
    if installed is None:
        raise AssertionError("no `capsid` program: build it with `cargo build`, or name one in CAPSID_BIN")
    return installed


def get_seed() -> int:
    """The seed of this run, printed so that it can be repeated with ``CAPSID_SEED``."""
    chosen = int(os.environ.get("CAPSID_SEED") or random.SystemRandom().randrange(2**32))
    print(f"CAPSID_SEED={chosen}", flush=True)
    return chosen


class Hub:
    """A hub that runs as a program of its own, with its data in a scratch folder."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="capsid-sdk-")
        self.process = subprocess.Popen(
            [find_program(), "hub", "serve", "--listen", "127.0.0.1:0", "--data", self.folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "CAPSID_HOME": self.folder, "CAPSID_LOG": "warn"},
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line.startswith("listening on "), line
        self.url = line[len("listening on ") :]

    def admin(self, *words: str) -> str:
        """Runs a command of the operator."""
        done = subprocess.run(
            [find_program(), "hub", "admin", *words, "--data", self.folder],
            env={**os.environ, "CAPSID_HOME": self.folder},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class WithHub(unittest.TestCase):
    """Tests that share one hub."""

    hub: Hub

    @classmethod
    def setUpClass(cls) -> None:
        cls.hub = Hub()
        cls.addClassCleanup(cls.hub.stop)

    def home(self) -> str:
        """A home folder of its own, and with it a node of its own."""
        folder = tempfile.mkdtemp(prefix="capsid-sdk-home-")
        self.addCleanup(shutil.rmtree, folder, True)
        return folder

    def client(self, token: Optional[str] = None) -> Client:
        return Client(self.hub.url, home=self.home(), token=token)


def create_document(rng: random.Random, depth: int = 0) -> Any:
    """A JSON value made by chance, rich in what is easily got wrong."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([rng.randrange(-100, 100), rng.randrange(-(2**70), 2**70), 2**53 + rng.randrange(-3, 4)])
    if kind == 2:
        return rng.uniform(-1, 1) * 10 ** rng.randrange(-320, 308)
    if kind == 3:
        return float(f"{rng.randrange(1, 10000)}e{rng.randrange(-12, 26)}")
    if kind in (4, 5):
        return create_text(rng)
    if kind == 6:
        return [create_document(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {create_text(rng): create_document(rng, depth + 1) for _ in range(rng.randrange(6))}


def create_text(rng: random.Random) -> str:
    pools: List[str] = [
        "abzAZ019_-. ",
        '"\\/\b\t\n\x0b\f\r\x00\x1f\x7f',
        "é€ß\u2028\u2029\ufeff\ufb33\uffff",
        "😀🧬\U00010000\U0010ffff",
        "\ud83d\udc00\udbff\udfff",
    ]
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(7)))
