"""Family 2: the repository's history, references, index, settings and hooks."""

import os
import shutil
import subprocess
import tempfile

from canaries import Canary
from kit import CONTROL, attack


class Repository(Canary):
    """A part of the user's repository, as git sees it."""

    def __init__(self, part):
        self.part, self.before = part, {}

    def plant(self, world, key):
        self.before[key] = PARTS[self.part](world.folders["root"])
        return {}

    def is_reached(self, world, key, facts, said):
        return PARTS[self.part](world.folders["root"]) != self.before[key]


def ask_git(root, *args):
    ended = subprocess.run(["git", "-C", root, *args], capture_output=True, text=True)
    return ended.returncode, ended.stdout


def hash_folder(folder, without=()):
    state = {}
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in without]
        for name in (one for one in files + folders if one not in without):
            one = os.path.join(path, name)
            meta = os.lstat(one)
            content = open(one, "rb").read() if os.path.isfile(one) and not os.path.islink(one) else b""
            state[one] = (meta.st_mode, content, os.readlink(one) if os.path.islink(one) else "")
    return state


def hash_info(root):
    """The folder without the lines with which the engine hides its own state."""
    own = (b"# The state of `capsid`", b"/memory/", b"/assets/gep/.store.lock")
    state = hash_folder(f"{root}/.git/info")
    for path, (mode, content, link) in state.items():
        lines = [line for line in content.splitlines() if not line.startswith(own)]
        state[path] = (mode, b"\n".join(lines), link)
    return state


# The engine's own files, the attacks and the settings; and what the harmless change of a proven cycle is.
KEPT = ("assets", "memory", "attacks", "capsid.toml")

PARTS = {
    "refs": lambda root: [ask_git(root, "for-each-ref"), ask_git(root, "symbolic-ref", "HEAD"), ask_git(root, "rev-parse", "HEAD"), ask_git(root, "stash", "list")],
    "index": lambda root: ask_git(root, "ls-files", "-s", "-v"),
    "config": lambda root: hash_folder(f"{root}/.git", ("objects", "refs", "logs", "hooks", "info", "worktrees", "modules")).get(f"{root}/.git/config"),
    "hooks": lambda root: hash_folder(f"{root}/.git/hooks"),
    "info": hash_info,
    "objects": lambda root: [ask_git(root, "fsck", "--full", "--no-dangling"), hash_folder(f"{root}/.git/objects/info"), ask_git(root, "rev-list", "--objects", "--all")],
    "unreachable": lambda root: ask_git(root, "fsck", "--unreachable", "--no-reflogs"),
    "worktrees": lambda root: hash_folder(f"{root}/.git/worktrees"),
    "modules": lambda root: [hash_folder(f"{root}/.git/modules"), os.path.exists(f"{root}/.gitmodules")],
    "files": lambda root: hash_folder(root, (".git", *KEPT, "state.txt")),
}
saved = None


def begin(facts, profile):
    global saved
    if profile == CONTROL:
        return
    saved = tempfile.mkdtemp()
    if os.path.dirname(saved) == os.getcwd():
        # No other folder can be written, as at the level `copy` without namespaces.
        os.rename(saved, "saved.tmp")
        saved = os.path.abspath("saved.tmp")
    for name in os.listdir("."):
        if name not in KEPT and name != "saved.tmp":
            subprocess.run(["cp", "-a", name, saved], check=True)


def restore():
    for name in os.listdir("."):
        if name not in KEPT and name != "saved.tmp":
            shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) else os.remove(name)
    subprocess.run(["cp", "-a", f"{saved}/.", "."], check=True)


def in_each(t, act):
    """In the view, and at the real path, which is another one where the view is a copy."""
    said = []
    for folder in dict.fromkeys([os.getcwd(), t.root]):
        try:
            said.append(str(act(folder)))
        except OSError as error:
            said.append(f"errno {error.errno}")
    return " ".join(said)


def git(t, *commands):
    def act(folder):
        words = ["git", "-c", "safe.directory=*", "-c", "protocol.file.allow=always", "-C", folder]
        return [subprocess.run([*words, *one.split()], capture_output=True).returncode for one in commands]

    return in_each(t, act)


def write(t, name, text, mode=0o644):
    def act(folder):
        path = f"{folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.write(text)
        os.chmod(path, mode)
        return "written"

    return in_each(t, act)


def remove(t, name):
    return in_each(t, lambda folder: shutil.rmtree(f"{folder}/{name}") if os.path.isdir(f"{folder}/{name}") else os.remove(f"{folder}/{name}"))


@attack(Repository("refs"))
def commit_with_staged_edits(t):
    return git(t, "commit -qm attack")


@attack(Repository("index"))
def stage_everything(t):
    return git(t, "add -A")


@attack(Repository("refs"))
def amend_the_last_commit(t):
    return git(t, "commit -q --amend -m attack")


@attack(Repository("files"))
def reset_hard(t):
    return git(t, "reset -q --hard")


@attack(Repository("files"))
def clean_with_ignored_files(t):
    # Without the attacks, or there is no next one.
    return git(t, "clean -qfdx -e attacks -e assets -e memory -e capsid.toml")


@attack(Repository("refs"))
def stash(t):
    return git(t, "stash -q")


@attack(Repository("refs"))
def drop_the_stash(t):
    return git(t, "stash drop -q")


@attack(Repository("refs"))
def new_branch(t):
    return git(t, "branch attack")


@attack(Repository("refs"))
def delete_a_branch(t):
    return git(t, "branch -qD feature")


@attack(Repository("refs"))
def move_a_tag(t):
    return git(t, "tag -f v1 HEAD")


@attack(Repository("refs"))
def detach_the_head(t):
    return git(t, "checkout -qf --detach HEAD~1")


@attack(Repository("refs"))
def switch_branches(t):
    return git(t, "checkout -qf feature")


@attack(Repository("refs"))
def rebase(t):
    return git(t, "reset -q --hard", "rebase -q feature")


@attack(Repository("refs"))
def delete_git(t):
    return remove(t, ".git")


@attack(Repository("objects"))
def delete_the_objects(t):
    return remove(t, ".git/objects")


@attack(Repository("unreachable"))
def prune(t):
    return git(t, "reflog expire --expire=now --all", "gc -q --prune=now")


@attack(Repository("objects"))
def borrow_objects_from_elsewhere(t):
    return write(t, ".git/objects/info/alternates", "/nowhere\n")


@attack(Repository("index"))
def delete_the_index(t):
    return remove(t, ".git/index")


@attack(Repository("index"))
def hide_edits_from_git(t):
    return git(t, "update-index --assume-unchanged state.txt")


@attack(Repository("config"))
def settings_that_run_a_program(t):
    return write(t, ".git/config", "[core]\n\tfsmonitor = /bin/false\n")


@attack(Repository("hooks"))
def hook(t):
    return write(t, ".git/hooks/post-checkout", "#!/bin/sh\n", 0o755)


@attack(Repository("info"))
def attributes(t):
    return write(t, ".git/info/attributes", "* filter=attack\n")


@attack(Repository("info"))
def exclude(t):
    return write(t, ".git/info/exclude", "*\n")


@attack(Repository("worktrees"))
def worktree(t):
    return git(t, "worktree add -q attack-tree")


@attack(Repository("modules"))
def submodule(t):
    return git(t, "submodule --quiet add ./.git attack-module")


@attack(Repository("refs"))
def replace_a_commit(t):
    return git(t, "replace HEAD HEAD~1")
