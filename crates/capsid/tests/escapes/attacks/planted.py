"""Family 4: files that an agent or a command leaves in the tree, to be run or followed later."""

import os
import socket
import subprocess

from canaries import Absent, Canary, state
from git import write
from kit import AGENT, CONTROL, ROOT, VALIDATION, attack


class Planted(Canary):
    """A path of the tree that must stay as it is, or not there."""

    def __init__(self, name):
        self.name, self.before = name, {}

    def plant(self, world, key):
        path = f"{world.folders['root']}/{self.name}"
        self.before[key] = state(path)
        return {"path": path, "name": self.name}

    def is_reached(self, world, key, facts, said):
        return state(facts["path"]) != self.before[key]


@attack(Planted("node_modules/.bin/tool"), alone="dropped")
def program_in_an_ignored_folder(t):
    return write(t, t.name, "#!/bin/sh\n", 0o755)


@attack(Planted("node_modules/lib/index.js"), alone="dropped")
def ignored_file_changed(t):
    return write(t, t.name, "attack()\n")


@attack(Planted("node_modules/lib/extra.js"), alone="dropped")
def ignored_file_removed(t):
    return str([os.remove(f"{folder}/{t.name}") for folder in {os.getcwd(), t.root} if os.path.exists(f"{folder}/{t.name}")])


@attack(Planted(".vscode/tasks.json"), alone="review")
def task_of_an_editor(t):
    return write(t, t.name, "{}\n")


@attack(Planted(".envrc"), alone="review")
def settings_of_a_shell(t):
    return write(t, t.name, "attack\n")


@attack(Planted(".claude/settings.json"), alone="review")
def settings_of_an_agent(t):
    return write(t, t.name, "{}\n")


@attack(Planted("vendor/.git/config"), alone="violation")
def nested_repository(t):
    return write(t, t.name, "[core]\n\tfsmonitor = /bin/false\n")


@attack(Planted(".GIT/hooks/post-checkout"), alone="violation")
def git_in_capitals(t):
    return write(t, t.name, "#!/bin/sh\n", 0o755)


@attack(Planted(".git /config"), alone="violation")
def git_with_a_space(t):
    return write(t, t.name, "x\n")


@attack(Planted("git~1/config"), alone="violation")
def short_name_of_git(t):
    return write(t, t.name, "x\n")


@attack(Planted(".g\u200cit/config"), alone="violation")
def git_with_a_sign_that_is_not_seen(t):
    return write(t, t.name, "x\n")


@attack(Planted("link-out"), alone="violation")
def link_out_of_the_tree(t):
    os.symlink(t.home, t.name)
    return "linked"


@attack(Planted("link-up"), alone="violation")
def link_up_and_out(t):
    os.symlink("../home/.ssh", t.name)
    return "linked"


@attack(Planted("setuid-program"), alone="violation")
def setuid_file(t):
    return write(t, t.name, "#!/bin/sh\n", 0o4755)


@attack(Planted("a-fifo"), alone="violation")
def fifo(t):
    os.mkfifo(t.name)
    return "made"


@attack(Planted("a-socket"), alone="violation")
def socket_in_the_tree(t):
    socket.socket(socket.AF_UNIX).bind(t.name)
    return "bound"


@attack(Planted("a-device"), users=(ROOT,), alone="violation")
def device(t):
    os.mknod(t.name, 0o20666, os.makedev(1, 3))
    return "made"


@attack(Planted("app.js"), profiles=(VALIDATION,))
def tracked_file_changed_by_a_command(t):
    return write(t, t.name, "attack()\n")


@attack(Planted("new-file.js"), profiles=(VALIDATION,))
def new_file_of_a_command(t):
    return write(t, t.name, "attack()\n")


class Run(Absent):
    """A file that the planted program would create, once the engine or the user's git runs it."""

    def __init__(self):
        super().__init__("{outside}/ran{n}")


def finish(t, folder="."):
    """What the engine would do; in the control, where nobody confines anything."""
    if t.profile == CONTROL:
        subprocess.run(["git", "-C", folder, "status"], capture_output=True)
        subprocess.run(["git", "-C", folder, "add", "-A"], capture_output=True)
        subprocess.run(["git", "-C", folder, "commit", "-qm", "x"], capture_output=True)
    return "planted"


@attack(Run(), alone="violation")
def nested_repository_with_a_monitor(t):
    subprocess.run(["git", "init", "-q", "monitored"], check=True)
    write(t, "monitored/file", "x\n")
    write(t, "monitored/.git/config", f'[core]\n\tfsmonitor = "touch {t.path}; false"\n')
    return finish(t, "monitored")


@attack(Run(), alone="violation")
def nested_repository_with_a_filter(t):
    subprocess.run(["git", "init", "-q", "filtered"], check=True)
    write(t, "filtered/.gitattributes", "* filter=attack\n")
    write(t, "filtered/file", "x\n")
    write(t, "filtered/.git/config", f'[filter "attack"]\n\tclean = "touch {t.path}; cat"\n')
    # An engine directory of its own, as older versions of the program had one.
    write(t, "filtered/.git/capsid/shadow/config", f'[filter "attack"]\n\tclean = "touch {t.path}; cat"\n')
    return finish(t, "filtered")


@attack(Run(), alone="dropped")
def settings_of_the_repository_with_a_monitor(t):
    write(t, ".git/config", f'[core]\n\tfsmonitor = "touch {t.path}; false"\n')
    return finish(t)


@attack(Run(), alone="review")
def attributes_with_a_filter(t):
    write(t, ".git/config", f'[filter "attack"]\n\tclean = "touch {t.path}; cat"\n')
    write(t, ".gitattributes", "* filter=attack\n")
    write(t, "app.js", "x\n")
    return finish(t)


@attack(Run(), alone="review")
def tracked_hook(t):
    # The template's `core.hooksPath` names this folder.
    write(t, ".githooks/pre-commit", f"#!/bin/sh\ntouch {t.path}\n", 0o755)
    return finish(t)
