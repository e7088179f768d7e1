"""Runs attacks against the built program and checks every canary: `drive.py SETTINGS`, a JSON object.

Everything is done as one user, `root` or an ordinary one, and at one level. The rows of the result are printed as JSON,
one on each line.
"""

import sys

sys.dont_write_bytecode = True

import ctypes
import importlib
import json
import os
import random
import shutil
import struct
import subprocess
import termios
import tty

import kit
from canaries import remove_all
from template import make_template
from kit import AGENT, CONTROL, ORDINARY, ROOT, VALIDATION, libc, syscall

HEAD = b"what was printed before\n"
PATH = "/usr/local/bin:/usr/bin:/bin"
# What one cycle tries one after the other.
SERIES = ["files", "processes", "network", "kernel", "namespaces", "descriptors"]


class World:
    """The user's machine: folders, canaries, and how the program is started."""

    def __init__(self, settings):
        self.settings = settings
        self.level, self.user = settings["level"], settings["user"]
        base, outside = settings["base"], settings["outside"]
        self.folders = {
            "home": f"{base}/home", "root": f"{base}/repo", "tmp": f"{base}/tmp", "outside": outside, "base": base,
        }
        self.words, self.inherited, self.numbers = {}, [], 0
        self.confined = True
        self.remove_later = []
        self.controls = settings["controls"]
        self.setuid = None
        self.random = random.Random(settings["seed"])

    def number(self):
        self.numbers += 1
        return self.numbers

    def word(self):
        letters = "bcdfghklmnprst"
        return "".join(self.random.choice(letters) + self.random.choice("aeiou") for _ in range(6))

    def mark(self):
        """An argument of `sleep` that no other process has."""
        return f"1000.{os.getpid()}{self.number():04}"

    def prepare(self):
        """As the one who started the tests: makes the folders, and gives them to the user."""
        for name in ("home", "tmp"):
            os.makedirs(self.folders[name], exist_ok=True)
        make_template(self.folders["base"] + "/template", self.settings["genes"])
        uid = self.settings["uid"]
        if os.getuid() == 0 and uid != 0:
            self.setuid = self.make_setuid_program()
            subprocess.run(["chown", "-R", f"{uid}:{uid}", self.folders["base"]], check=True)
            os.chown(self.folders["outside"], uid, uid)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            # A process that changed its ids is closed to its own user, and the victims would be too.
            libc.prctl(4, 1, 0, 0, 0)
        os.environ.update(PATH=PATH, HOME=self.folders["home"])
        # The keys of the attacks are in a keyring that the program inherits.
        syscall("keyctl", 1, b"capsid-escapes")
        _, self.terminal = os.openpty()
        tty.setraw(self.terminal)

    def make_setuid_program(self):
        folder = self.folders["outside"] + "/setuid"
        os.makedirs(folder)
        os.chmod(folder, 0o755)
        os.chmod(self.folders["outside"], 0o755)
        program, path, word = f"{folder}/cat", f"{folder}/secret", self.word()
        shutil.copy("/bin/cat", program)
        os.chmod(program, 0o4755)
        with open(path, "w") as file:
            file.write(word)
        os.chmod(path, 0o600)
        return {"program": program, "path": path, "word": word}

    def fresh_repository(self):
        """The repository as the template has it, with the attacks in it."""
        root = self.folders["root"]
        # Another repository at the same path would not match what was sealed of the last one.
        for folder in (root, self.folders["home"] + "/.local/share/capsid"):
            shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["cp", "-a", self.folders["base"] + "/template", root], check=True)
        return root

    def write_settings(self, validation, more=None):
        """Writes `capsid.toml`, with further lines for its sections."""
        sections = {
            "validation": ['programs = ["python3"]', f"commands = {json.dumps(validation)}"],
            "cycle": [] if self.level == "overlay" else ['view = "copy"'],
            "agent": [],
        }
        for name, lines in (more or {}).items():
            sections[name] += lines
        with open(self.folders["root"] + "/capsid.toml", "w") as file:
            for name, lines in sections.items():
                file.write("\n".join([f"[{name}]", *lines, ""]))

    def write_facts(self, canaries):
        world = {**self.folders, "user": self.user, "level": self.level, "binary": self.settings["binary"], "driver": os.getpid()}
        with open(self.folders["root"] + "/attacks/facts.json", "w") as file:
            json.dump({"world": world, "canaries": canaries}, file)

    def run(self, argv, extra=None, wait=True):
        """Starts a program in the repository as the user's shell does: with a terminal and descriptors left open."""
        self.outputs = [self.folders["base"] + "/" + name for name in ("stdout", "stderr")]
        handles = []
        for path in self.outputs:
            with open(path, "wb") as file:
                file.write(HEAD)
            handles.append(os.open(path, os.O_WRONLY | os.O_APPEND))
        program = subprocess.Popen(
            argv, cwd=self.folders["root"], env={"PATH": PATH, "HOME": self.folders["home"], **(extra or {})}, stdin=self.terminal,
            stdout=handles[0], stderr=handles[1], pass_fds=self.inherited, start_new_session=True, preexec_fn=self.enter,
        )
        for handle in handles:
            os.close(handle)
        if wait:
            program.wait(timeout=300)
        return program

    def enter(self):
        # The terminal may have been left to another session.
        libc.ioctl(self.terminal, termios.TIOCSCTTY, 1)
        if self.confined and self.level == "landlock":
            deny_namespaces()

    def output(self, index):
        with open(self.outputs[index], "rb") as file:
            return file.read()[len(HEAD) :].decode(errors="replace")

    def output_was_cut(self):
        for path in self.outputs:
            with open(path, "rb") as file:
                if file.read(len(HEAD)) != HEAD:
                    return True
        return False

    def evolve(self, agent, options=(), wait=True):
        words = ["evolve", "--force", "--no-sessions", "--log", "app.log", "--json", *options, "--agent", *agent]
        return self.run([self.settings["binary"], *words], wait=wait)

    def answer(self):
        """What the program printed as JSON; empty where it printed none."""
        try:
            return json.loads(self.output(0))
        except ValueError:
            return {}

    def said_by_agent(self):
        return said_in(self.output(1))

    def said_by_validation(self):
        commands = (self.answer().get("report") or {}).get("commands") or []
        return {name: text for command in commands for name, text in said_in(command.get("stdout", "")).items()}


def said_in(text):
    said = {}
    for line in text.splitlines():
        if (at := line.find('{"a":')) >= 0:
            try:
                one = json.loads(line[at:])
            except ValueError:
                continue
            said[one["a"]] = one["s"]
    return said


def deny_namespaces():
    """A filter as hardened systems have one: no process may make a namespace."""
    allow, deny, missing = 0x7FFF0000, 0x00050001, 0x00050026
    numbers = kit.NUMBERS[kit.MACHINE]
    code = [
        (0x20, 0, 0, 0),  # the number of the call
        (0x15, 4, 0, numbers["unshare"]),
        (0x15, 4, 0, numbers["clone3"]),
        (0x15, 0, 3, numbers["clone"]),
        (0x20, 0, 0, 16),  # its flags
        (0x45, 0, 1, kit.CLONE_NEWUSER),
        (0x06, 0, 0, deny),
        (0x06, 0, 0, allow),
    ]
    # Jumps are counted from the next instruction; `clone3` gets an answer of its own, at the end.
    code[2] = (0x15, 5, 0, numbers["clone3"])
    code.append((0x06, 0, 0, missing))
    program = b"".join(struct.pack("=HBBI", *one) for one in code)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("=HxxxxxxQ", len(code), ctypes.addressof(buffer))
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, header, 0, 0) != 0:
        os._exit(97)


def plant(world, attacks, profiles):
    canaries = {}
    for one in attacks:
        for profile in profiles:
            if profile in one.profiles or profile == CONTROL:
                canaries[one.key(profile)] = one.canary.plant(world, one.key(profile))
    world.write_facts(canaries)
    return canaries


def check(world, one, profile, canaries, said):
    """The row of one attack, whose canary is then cleared."""
    key = one.key(profile)
    ran = one.name in said
    text = said.get(one.name, "")
    reached = one.canary.is_reached(world, key, canaries[key], text)
    one.canary.clear(world, key, canaries[key])
    return {
        "family": one.family, "attack": one.name, "profile": profile, "user": world.user, "level": world.level,
        "ran": ran, "reached": reached, "said": text[:120],
    }


def judge(world, rows, attacks):
    """Puts the rows of an attack and its control together."""
    by_name = {one.name: one for one in attacks}
    controls = {row["attack"]: row for row in rows if row["profile"] == CONTROL}
    for row in rows:
        one = by_name[row["attack"]]
        if row["profile"] == CONTROL:
            row["result"] = "control" if row["ran"] and row["reached"] else "control failed"
            if not row["reached"] and is_missing(row["said"]):
                row["result"], row["note"] = "n/a", f"this system does not have it: {row['said']}"
            elif not row["reached"] and one.canary.may_be_closed and row["said"].startswith("errno 1"):
                row["result"], row["note"] = "n/a", f"{one.canary.may_be_closed}: {row['said']}"
            continue
        words = [world.level, row["profile"], world.user]
        reason = next((one.open_at[key] for n in (3, 2, 1) if (key := " ".join(words[:n])) in one.open_at), None)
        if not row["ran"]:
            row["result"] = "not run"
        elif row["reached"]:
            row["result"], row["note"] = ("open", reason) if reason else ("escaped", row["said"])
        else:
            row["result"] = "held"
        if controls.get(row["attack"], {}).get("result") == "n/a":
            row["result"], row["note"] = "n/a", controls[row["attack"]]["note"]
    return rows


def is_missing(said):
    """Whether the kernel of this machine lacks the thing altogether, so that there is nothing to attack."""
    words = ("errno 38", "errno 93", "errno 92", "errno 97", "errno 2 ", "no device", "Function not implemented")
    return said.startswith(words) or said == "answered -38" or said.endswith("signal 11")


def applicable(world, attacks):
    """Those that this user could carry out, and rows for the others."""
    chosen, rows = [], []
    for one in attacks:
        note = None
        if world.user not in one.users:
            other = "an ordinary user has no right to do it" if world.user == ORDINARY else "root needs no such thing"
            note = other
        elif one.needs_root and not world.setuid:
            note = "the tests were not started by root, who would have to prepare it"
        if note is None:
            chosen.append(one)
        else:
            rows += [
                {"family": one.family, "attack": one.name, "profile": profile, "user": world.user, "level": world.level,
                 "result": "n/a", "note": note, "said": ""}
                for profile in one.profiles
            ]
    return chosen, rows


def run_controls(world, attacks, singly):
    """The same code, unconfined."""
    world.confined = False
    rows = []
    attacks = [one for one in attacks if not one.no_control]
    for group in [[one] for one in attacks] if singly else [attacks]:
        world.fresh_repository()
        canaries = plant(world, group, [CONTROL])
        families = sorted({one.family for one in group})
        world.run(["python3", "attacks/inside.py", CONTROL, *families])
        said = said_in(world.output(0))
        rows += [check(world, one, CONTROL, canaries, said) for one in group]
        finish(world)
    world.confined = True
    return rows


def run_cycle(world, attacks, profiles, proven=False):
    """One cycle in which the agent and then the validation commands try one attack after the other."""
    world.fresh_repository()
    attacks = [one for one in attacks if set(one.profiles) & set(profiles)]
    canaries = plant(world, attacks, profiles)
    families = sorted({one.family for one in attacks}, key=[one.family for one in attacks].index)
    commands = [f"python3 attacks/inside.py {VALIDATION} {family}" for family in families if VALIDATION in profiles]
    world.write_settings(commands + ([] if proven else ["python3 attacks/inside.py fail"]), attacks[0].settings)
    world.evolve(["python3", "attacks/inside.py", *([AGENT, *families] if AGENT in profiles else ["change"])])
    said = {AGENT: world.said_by_agent(), VALIDATION: world.said_by_validation()}
    rows = [
        check(world, one, profile, canaries, said[profile])
        for profile in profiles for one in attacks if profile in one.profiles
    ]
    finish(world)
    report(world, rows)
    return rows


def finish(world):
    remove_all(world.remove_later)
    for handle in world.inherited:
        os.close(handle)
    world.inherited.clear()


def report(world, rows):
    """What the program printed, if an attack did not run."""
    missing = [row["attack"] for row in rows if not row["ran"]]
    if missing:
        print(f"not run: {missing}\n{world.output(0)[-3000:]}\n{world.output(1)[-6000:]}", file=sys.stderr)


def run_split(world, attacks):
    """The agent's attacks and those of the validation in cycles of their own, for what one does the other would see."""
    plain = [one for one in attacks if not one.settings]
    by_agent = [one for one in plain if AGENT in one.profiles]
    together = [one for one in by_agent if not one.alone]
    rows = run_cycle(world, together, [AGENT]) if together else []
    alone = [one for one in by_agent if one.alone]
    groups = {one.name if world.settings["soak"] else one.alone: [] for one in alone}
    for one in alone:
        groups[one.name if world.settings["soak"] else one.alone].append(one)
    for group in groups.values():
        rows += run_cycle(world, group, [AGENT], proven=True)
    for one in attacks:
        for profile in one.profiles if one.settings else ():
            rows += run_cycle(world, [one], [profile], proven=True)
    together = [one for one in plain if VALIDATION in one.profiles]
    return rows + (run_cycle(world, together, [VALIDATION], proven=True) if together else [])


FAMILIES = ["tree", "git", "engine_state", "planted", *SERIES, "limits", "gate"]


def count():
    """How many attacks each family has."""
    modules = {name: importlib.import_module(name) for name in [*FAMILIES, "survival"]}
    counts = {name: sum(one.family == name for one in kit.ATTACKS) for name in FAMILIES}
    counts["gate"] = len(modules["gate"].COMMANDS)
    counts["processes"] += len(modules["survival"].KILLS)
    print(json.dumps(counts))


def main():
    if sys.argv[1] == "count":
        return count()
    settings = json.loads(sys.argv[1])
    world = World(settings)
    world.prepare()
    rows = []
    series = [name for name in settings["families"] if name in SERIES]
    scenarios = [series] if series else []
    scenarios += [[name] for name in settings["families"] if name not in SERIES]
    for names in scenarios:
        modules = [importlib.import_module(name) for name in names]
        if hasattr(modules[0], "scenario"):
            rows += modules[0].scenario(world)
            continue
        only = settings.get("only")
        attacks = [one for one in kit.ATTACKS if one.family in names and (not only or one.name in only)]
        attacks = [one for one in attacks if settings["soak"] or not one.long]
        attacks, not_applicable = applicable(world, attacks)
        # A control does not depend on the level.
        got = run_controls(world, attacks, singly=names[0] not in SERIES) if world.controls else []
        if settings["binary"]:
            got += run_cycle(world, attacks, [AGENT, VALIDATION]) if names[0] in SERIES else run_split(world, attacks)
        rows += judge(world, got, attacks) + not_applicable
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
