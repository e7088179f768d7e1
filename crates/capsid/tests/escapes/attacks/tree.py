"""Family 1: what the user does in the tree while the agent works. The agent then overwrites it, and the cycle fails."""

import os
import shutil
import socket
import subprocess

from canaries import Canary
from git import ask_git, git, hash_folder, in_each, write
from kit import AGENT, CONTROL, attack


class Edited(Canary):
    """A file of the tree that the user changes during the run."""

    def __init__(self, name, act, exists=True):
        self.name, self.act, self.exists = name, act, exists

    def plant(self, world, key):
        path = f"{world.folders['root']}/{self.name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if self.exists:
            with open(path, "w") as file:
                file.write("before\n")
        self.act_later = lambda: self.change(path)
        world.edits.append(self.act_later)
        return {"name": self.name}

    def change(self, path):
        self.act(path)
        self.after = look_at(path)

    def is_reached(self, world, key, facts, said):
        return look_at(f"{world.folders['root']}/{self.name}") != self.after


def look_at(path):
    if not os.path.lexists(path):
        return None
    with open(path) as file:
        return (os.lstat(path).st_mode, file.read())


def save(path):
    with open(path, "w") as file:
        file.write("an edit of the user\n")


def save_by_rename(path):
    save(path + ".new")
    os.rename(path + ".new", path)


def save_with_a_mode(path):
    save(path)
    os.chmod(path, 0o700)


class Did(Canary):
    """Something that the user does with git during the run."""

    def __init__(self, command, *question):
        self.command, self.question = command, question

    def plant(self, world, key):
        root = world.folders["root"]
        world.edits.append(lambda: self.do(root))
        return {}

    def do(self, root):
        subprocess.run(["git", "-C", root, *self.command.split()], check=True, capture_output=True)
        self.after = ask_git(root, *self.question)

    def is_reached(self, world, key, facts, said):
        return ask_git(world.folders["root"], *self.question) != self.after


def begin(facts, profile):
    """Says that the agent is at work, and waits until the user has done it all."""
    with socket.create_connection(("127.0.0.1", facts["world"]["talk"]), timeout=60) as talk:
        talk.sendall(b"ready")
        talk.recv(1)


@attack(Edited("edits/saved.txt", save), profiles=(AGENT,))
def file_saved_in_place(t):
    return write(t, t.name, "agent\n")


@attack(Edited("edits/renamed.txt", save_by_rename), profiles=(AGENT,))
def file_saved_by_rename(t):
    return write(t, t.name, "agent\n")


@attack(Edited("edits/created.txt", save, exists=False), profiles=(AGENT,))
def file_created(t):
    return write(t, t.name, "agent\n")


@attack(Edited("edits/deleted.txt", os.remove), profiles=(AGENT,))
def file_deleted(t):
    return write(t, t.name, "agent\n")


@attack(Edited("edits/mode.txt", save_with_a_mode), profiles=(AGENT,))
def file_with_another_mode(t):
    return write(t, t.name, "", 0o644)


@attack(Edited("edits/removed.txt", save), profiles=(AGENT,))
def saved_file_removed_by_the_agent(t):
    return in_each(t, lambda folder: os.remove(f"{folder}/{t.name}"))


@attack(Edited("edits/folder/file.txt", save), profiles=(AGENT,))
def saved_folder_removed_by_the_agent(t):
    return in_each(t, lambda folder: shutil.rmtree(f"{folder}/edits/folder"))


@attack(Edited("build/made.log", save, exists=False), profiles=(AGENT,))
def ignored_file_made_by_the_user(t):
    return write(t, t.name, "agent\n")


@attack(Did("switch -q -c elsewhere", "symbolic-ref", "HEAD"), profiles=(AGENT,))
def branch_switched_by_the_user(t):
    return git(t, "switch -q --discard-changes main")


@attack(Did("tag mine", "rev-parse", "mine"), profiles=(AGENT,))
def tag_made_by_the_user(t):
    return git(t, "tag -f mine HEAD~1", "tag -d mine")


@attack(Did("gc -q", "fsck", "--full", "--no-dangling"), profiles=(AGENT,))
def repository_packed_by_the_user(t):
    return in_each(t, lambda folder: shutil.rmtree(f"{folder}/.git/objects"))


def run_and_edit(world, attacks, profile, start):
    world.edits = []
    world.fresh_repository()
    canaries = {}
    for one in attacks:
        canaries[one.key(profile)] = one.canary.plant(world, one.key(profile))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        world.folders["talk"] = listener.getsockname()[1]
        world.write_facts(canaries)
        program = start()
        try:
            talk, _ = listener.accept()
        except TimeoutError:
            program.kill()
            talk = None
        if talk:
            talk.recv(5)
            for edit in world.edits:
                edit()
            talk.sendall(b"g")
            talk.close()
        program.wait(timeout=120)
    del world.folders["talk"]
    return canaries


def scenario(world):
    import drive
    import kit

    attacks = [one for one in kit.ATTACKS if one.family == "tree"]
    rows = []
    world.confined = False
    for one in attacks if world.controls else []:
        canaries = run_and_edit(world, [one], CONTROL, lambda: world.run(["python3", "attacks/inside.py", CONTROL, "tree"], wait=False))
        rows.append(drive.check(world, one, CONTROL, canaries, drive.said_in(world.output(0))))
    world.confined = True
    if world.settings["binary"]:
        world.fresh_repository()

        def start():
            world.write_settings(["python3 attacks/inside.py fail"])
            return world.evolve(["python3", "attacks/inside.py", AGENT, "tree"], wait=False)

        canaries = run_and_edit(world, attacks, AGENT, start)
        said = world.said_by_agent()
        got = [drive.check(world, one, AGENT, canaries, said) for one in attacks]
        drive.report(world, got)
        rows += got
    return drive.judge(world, rows, attacks)
