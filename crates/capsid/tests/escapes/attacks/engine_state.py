"""Family 3: the engine's own state and secrets."""

import glob
import hashlib
import os
import shutil
import subprocess

from canaries import Canary, Written, read_bytes, state
from git import in_each, write
from kit import AGENT, ALLOWED, VALIDATION, attack

DATA = "{home}/.local/share/capsid"


class Kept(Written):
    """A file of the engine's state."""

    def __init__(self, name):
        super().__init__(f"{DATA}/{name}")


@attack(Kept("cycles/0123456789abcdef/runs/run_{n}/run.json"))
def delete_the_data_directory(t):
    shutil.rmtree(f"{t.home}/.local/share/capsid")
    return "deleted"


@attack(Kept("cycles/0123456789abcdef/runs/run_{n}/base.manifest"))
def edit_a_run(t):
    return t.overwrite()


@attack(Kept("cycles/0123456789abcdef/lock{n}"))
def delete_a_lock(t):
    os.remove(t.path)
    return "removed"


class Journals(Canary):
    """No run may get a journal that the engine did not write."""

    def plant(self, world, key):
        folder = f"{world.folders['home']}/.local/share/capsid/cycles/0123456789abcdef/runs/run_{world.number()}"
        os.makedirs(folder)
        return {"folder": folder}

    def is_reached(self, world, key, facts, said):
        return bool(os.listdir(facts["folder"]))


@attack(Journals())
def plant_a_journal(t):
    with open(f"{t.folder}/apply.json", "w") as file:
        file.write("{}")
    return "planted"


class Secrets(Canary):
    """The files in which the program keeps keys and secrets: a hash of any of them must not be seen."""

    FOLDERS = (".local/share/capsid", ".evomap", ".agent-capsule", ".quantumpipes")

    def __init__(self, name):
        self.name = name

    def plant(self, world, key):
        path = f"{world.folders['home']}/{self.name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(world.word())
            os.chmod(path, 0o600)
        return {"name": self.name}

    def is_reached(self, world, key, facts, said):
        return hash_file(f"{world.folders['home']}/{self.name}") in said


def hash_file(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def read_secret(t):
    return hash_file(f"{t.home}/{t.name}")


@attack(Secrets(".evomap/node_secret"))
def secret_of_the_node(t):
    return read_secret(t)


@attack(Secrets(".quantumpipes/key"))
def key_of_the_trail(t):
    return read_secret(t)


@attack(Secrets(".agent-capsule/key"))
def key_of_the_agent_capsule(t):
    return read_secret(t)


@attack(Secrets(".local/share/capsid/key"))
def key_in_the_data_directory(t):
    return read_secret(t)


class Log(Canary):
    """The event log: what is in it stays as it is."""

    def plant(self, world, key):
        self.before = read_bytes(f"{world.folders['root']}/assets/gep/events.jsonl")
        return {"name": "assets/gep/events.jsonl"}

    def is_reached(self, world, key, facts, said):
        path = f"{world.folders['root']}/assets/gep/events.jsonl"
        return not read_bytes(path).startswith(self.before) or b"forged" in read_bytes(path) or not os.path.exists(path)


@attack(Log(), alone="violation")
def forge_an_event(t):
    return write(t, t.name, '{"type":"EvolutionEvent","id":"forged"}\n')


@attack(Log(), alone="violation")
def delete_the_event_log(t):
    return in_each(t, lambda folder: os.remove(f"{folder}/{t.name}"))


class Genes(Canary):
    """The genes: nobody adds one from inside."""

    def plant(self, world, key):
        self.before = state(f"{world.folders['root']}/assets/gep/genes.json")
        return {"name": "assets/gep/genes.json"}

    def is_reached(self, world, key, facts, said):
        return b"forged" in (state(f"{world.folders['root']}/assets/gep/genes.json") or ("", "", b""))[2]


@attack(Genes(), alone="violation")
def forge_a_gene(t):
    return write(t, t.name, '"forged"')


class Commands(Canary):
    """A command of the program that writes: from inside of a run it must change nothing outside."""

    def plant(self, world, key):
        return {}

    def is_reached(self, world, key, facts, said):
        return said.startswith(ALLOWED)


def call(t, *words):
    """The program answers `inside_sandbox`, or it cannot even be seen."""
    ended = subprocess.run([t.binary, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=15)
    if "inside_sandbox" in ended.stderr:
        return "inside_sandbox"
    return f"{ALLOWED}: {ended.returncode} {ended.stderr[-200:]}"


@attack(Commands(), profiles=(AGENT,))
def solidify_inside(t):
    return call(t, "solidify")


@attack(Commands(), profiles=(AGENT,))
def evolve_inside(t):
    return call(t, "evolve", "--no-sessions", "--log", "app.log")


@attack(Commands(), profiles=(AGENT,))
def approve_inside(t):
    return call(t, "review", "--approve")


@attack(Commands(), profiles=(AGENT,))
def apply_inside(t):
    return call(t, "apply", "run_0")


@attack(Commands(), profiles=(AGENT,))
def undo_inside(t):
    return call(t, "undo", "run_0")


class Forgotten(Log):
    """The log again, for a program that was made to forget where it is."""

    def is_reached(self, world, key, facts, said):
        after = read_bytes(f"{world.folders['root']}/assets/gep/events.jsonl")
        runs = after.count(b'"type":"EvolutionEvent"') - self.before.count(b'"type":"EvolutionEvent"')
        return runs > (1 if world.confined else 0)


@attack(Forgotten(), profiles=(AGENT,), alone="violation")
def solidify_without_the_mark(t):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAPSID")}
    said = []
    for words in (["evolve", "--force", "--no-sessions", "--log", "app.log"], ["solidify"]):
        with open("state.txt", "a") as file:
            file.write("good\n")
        ended = subprocess.run([t.binary, *words], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=18)
        said.append(f"{ended.returncode}")
    return " ".join(said)
