"""The examples do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

from . import support

PACKAGE = Path(__file__).resolve().parents[1]


class Examples(support.WithHub):
    def run_example(self, name: str, typed: str = "") -> str:
        done = subprocess.run(
            [sys.executable, str(PACKAGE / "examples" / f"{name}.py")],
            env={**os.environ, "HOME": self.home(), "A2A_HUB_URL": self.hub.url, "PYTHONPATH": str(PACKAGE)},
            input=typed,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_published_solution_is_found_and_reported_on(self) -> None:
        output = self.run_example("first_steps")
        self.assertIn("published bundle_", output)
        capsule = next(line.split()[1] for line in output.splitlines() if line.startswith("Capsule "))
        self.assertIn("nobody has promoted", self.run_example("reuse"))
        self.hub.admin("promote", capsule, "--reason", "read")
        self.assertIn(capsule, self.run_example("reuse", "y\n"))
        self.assertEqual(self.client().get_asset(capsule)["validation"]["passes"], 1)

    def test_an_agent_earns_a_bounty(self) -> None:
        self.assertIn("512.5 credits", self.run_example("bounty"))


if __name__ == "__main__":
    unittest.main()
