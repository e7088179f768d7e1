"""The user's repository: work of every kind is under way in it."""

import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def make_template(root, genes):
    os.makedirs(root)
    git = lambda *args: subprocess.run(["git", "-C", root, *args], check=True, capture_output=True)
    git("init", "-q", "-b", "main")
    for name, value in {"user.name": "Test", "user.email": "test@example.invalid", "commit.gpgsign": "false", "gc.auto": "0"}.items():
        git("config", name, value)
    write(root, ".gitignore", "*.log\nnode_modules/\nbuild/\nsecret.txt\n__pycache__/\n")
    for name in ("state.txt", "app.js", "edited.txt", "staged.txt", "both.txt", "canaries/keep"):
        write(root, name, "committed\n")
    write(root, "check.js", "process.exit(require('fs').readFileSync('state.txt', 'utf8').includes('bad') ? 1 : 0)\n")
    write(root, ".githooks/pre-commit", "#!/bin/sh\n", 0o755)
    git("add", "-A")
    git("commit", "-qm", "Begin")
    git("config", "core.hooksPath", ".githooks")
    git("tag", "v1")
    git("branch", "feature")
    os.makedirs(f"{root}/attacks")
    for name in os.listdir(HERE):
        if name.endswith(".py"):
            shutil.copy(f"{HERE}/{name}", f"{root}/attacks/{name}")
    git("add", "-A")
    git("commit", "-qm", "More")
    git("checkout", "-q", "feature")
    write(root, "feature.txt", "feature\n")
    git("add", "-A")
    git("commit", "-qm", "Feature")
    git("checkout", "-q", "main")
    write(root, "edited.txt", "stashed\n")
    git("stash", "-q")
    # A commit that only the reflog knows.
    git("commit", "-q", "--allow-empty", "-m", "Lost")
    git("reset", "-q", "--soft", "HEAD~1")
    write(root, "staged.txt", "staged\n")
    write(root, "both.txt", "staged\n")
    git("add", "staged.txt", "both.txt")
    write(root, "both.txt", "staged and edited\n")
    write(root, "edited.txt", "edited\n")
    write(root, "untracked/notes.txt", "untracked\n")
    write(root, "node_modules/lib/index.js", "module.exports = 1\n")
    write(root, "node_modules/lib/extra.js", "module.exports = 2\n")
    write(root, "build/out.bin", "built\n")
    write(root, "secret.txt", "secret\n", 0o600)
    write(root, "app.log", "error: TypeError: x is not a function\n")
    write(root, "assets/gep/genes.json", genes)
    write(root, "assets/gep/events.jsonl", "")


def write(root, name, text, mode=0o644):
    path = f"{root}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
