"""Sets up every coding agent for a user who has settings of their own: agents.py BINARY FOLDER

`before` keeps what the user had, so that a test can compare it with what a removal leaves.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CLAUDE = '{"model":"opus",\n  "hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}\n'
CODEX = 'model = "o3" # mine\n'
CURSOR = '{ "version": 1, "hooks": { "stop": [ { "command": "say done" } ] } }\n'


def main():
    binary, folder = sys.argv[1], Path(sys.argv[2])
    before, home, repo = folder / "before", folder / "home", folder / "shop"
    for name, text in [(".claude/settings.json", CLAUDE), (".codex/config.toml", CODEX), (".cursor/hooks.json", CURSOR)]:
        (before / name).parent.mkdir(parents=True)
        (before / name).write_text(text)
    shutil.copytree(before, home)
    repo.mkdir()
    env = {"PATH": f"{Path(binary).parent}:{os.environ['PATH']}", "HOME": str(home)}
    subprocess.run(["git", "init", "-q", "-b", "main", "--template="], cwd=repo, env=env, check=True)
    agents = [word for tool in ["claude-code", "codex", "cursor", "cline"] for word in ["--agent", tool]]
    subprocess.run([binary, "init", *agents], cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
