"""Family 12: validation commands that start another program than they seem to."""

import os
import shlex
import shutil
import subprocess

from kit import CONTROL, VALIDATION

NPM = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("npm") or "/usr/bin/npm")))
CLI = f"{NPM}/bin/npm-cli.js"
FAKE = "console.log(require('child_process').execSync('id').toString())\n"


def script(name, text=FAKE):
    def prepare(world):
        path = name.format(**world.folders)
        path = path if path.startswith("/") else f"{world.folders['root']}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    return prepare


def link(world):
    os.symlink(CLI, f"{world.folders['root']}/cli.js")


def fifo(world):
    os.mkfifo(f"{world.folders['root']}/fifo.js")


def linked_folder(world):
    os.symlink(os.path.dirname(CLI), f"{world.folders['root']}/tools")


# name, the command, what it needs, and whether it can be tried unconfined
COMMANDS = [
    ("npm_by_its_absolute_path", f"node {CLI} exec -c id", None),
    ("npm_by_a_relative_path", f"node {{up}}{CLI} exec -c id", None),
    ("npm_by_a_link", "node cli.js exec -c id", link),
    ("npm_by_a_linked_folder", "node tools/npm-cli.js exec -c id", linked_folder),
    ("npm_in_node_modules", "node node_modules/npm/bin/npm-cli.js exec -c id", script("node_modules/npm/bin/npm-cli.js")),
    ("npx_in_node_modules", "node node_modules/npm/bin/npx-cli.js -c id", script("node_modules/npm/bin/npx-cli.js")),
    ("corepack_in_node_modules", "node node_modules/corepack/dist/corepack.js id", script("node_modules/corepack/dist/corepack.js")),
    ("launcher_by_npx", "npx --offline -c id", None),
    ("npm_exec", "npm exec --offline -c id", None),
    ("script_elsewhere", "node {outside}/elsewhere.js", script("{outside}/elsewhere.js")),
    ("script_above", "node ../above.js", script("{base}/above.js")),
    ("code_in_the_command", 'node -e "console.log(1, process.argv0, \'uid=\')"', None),
    ("code_by_requiring", "node -r {outside}/required.js check.js", script("{outside}/required.js")),
    ("script_that_is_a_fifo", "node fifo.js", fifo),
]
NO_CONTROL = {"script_that_is_a_fifo": "unconfined, it waits for ever"}


def scenario(world):
    rows = []
    only = world.settings.get("only")
    for name, command, prepare in (one for one in COMMANDS if not only or one[0] in only):
        words = {**world.folders, "up": "../" * (world.folders["root"].count("/") - 0) + ".."}
        command = command.format(**words).replace("..//", "../")
        row = {"family": "gate", "attack": name, "user": world.user, "level": world.level}
        if world.controls and name not in NO_CONTROL:
            world.fresh_repository()
            if prepare:
                prepare(world)
            ended = subprocess.run(shlex.split(command), cwd=world.folders["root"], capture_output=True, text=True)
            reached = "uid=" in ended.stdout
            said = (ended.stdout + ended.stderr)[:120]
            rows.append({**row, "profile": CONTROL, "ran": True, "reached": reached, "said": said,
                         "result": "control" if reached else "control failed"})
        if world.settings["binary"]:
            world.fresh_repository()
            if prepare:
                prepare(world)
            world.write_settings([command], {"validation": ["timeout_seconds = 10"]})
            world.evolve(["python3", "attacks/inside.py", "change"])
            answer = world.answer()
            commands = (answer.get("report") or {}).get("commands") or []
            tried = [one for one in commands if one.get("command") == command]
            said = str(tried)[:300]
            reached = any("uid=" in one.get("stdout", "") for one in commands) or any(one.get("ok") for one in tried)
            ran = bool(tried) or "gate" in str(answer)
            result = "escaped" if reached else "held" if ran else "not run"
            if not ran:
                said = (world.output(0) + world.output(1))[-1500:]
            rows.append({**row, "profile": VALIDATION, "ran": ran, "reached": reached, "said": said, "result": result})
    return rows
