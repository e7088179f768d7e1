"""Family 5: files outside of the repository."""

import errno
import hashlib
import os
import stat
import subprocess

from canaries import Absent, Canary, Readable, Secret, Victim, Written, file_changed, not_harmed
from kit import AGENT, ORDINARY, ROOT, VALIDATION, attack, processes

NO_RIGHT = {f"landlock {profile} {ORDINARY}": "Landlock has no right for it" for profile in (AGENT, VALIDATION)}


@attack(Written("{home}/.bashrc"))
def bashrc(t):
    return t.overwrite()


@attack(Written("{home}/.config/git/config"))
def git_settings_of_the_user(t):
    return t.overwrite()


@attack(Written("{home}/.ssh/authorized_keys"))
def authorized_keys(t):
    return t.overwrite()


@attack(Absent("{home}/.local/bin/git{n}"))
def program_in_the_path(t):
    os.makedirs(os.path.dirname(t.path), exist_ok=True)
    with open(t.path, "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod(t.path, 0o755)
    return "created"


@attack(Secret("{home}/.ssh/id_{n}"))
def ssh_key(t):
    return t.read()


@attack(Secret("{home}/.aws/credentials{n}"))
def cloud_credentials(t):
    return t.read()


@attack(Secret("{home}/.netrc"))
def netrc(t):
    return t.read()


@attack(Secret("{home}/notes{n}"), profiles=(VALIDATION,))
def notes_in_the_home(t):
    return t.read()


@attack(Written("{tmp}/shared{n}"))
def temporary_file_of_somebody(t):
    return t.overwrite()


@attack(Written("{outside}/file{n}"))
def file_elsewhere(t):
    return t.overwrite()


@attack(Written("{outside}/removed{n}"))
def removes_a_file_elsewhere(t):
    os.remove(t.path)
    return "removed"


@attack(Written("{outside}/replaced{n}"))
def renames_over_a_file_elsewhere(t):
    with open("replacement", "w") as file:
        file.write("reached")
    try:
        os.rename("replacement", t.path)
    finally:
        if os.path.exists("replacement"):
            os.remove("replacement")
    return "renamed"


@attack(Written("{outside}/linked{n}"))
def hard_link_from_elsewhere(t):
    os.link(t.path, "hard-link")
    try:
        return t.overwrite("hard-link")
    finally:
        os.remove("hard-link")


@attack(Written("{outside}/by-link{n}"))
def symbolic_link_to_elsewhere(t):
    os.symlink(t.path, "soft-link")
    try:
        return t.overwrite("soft-link")
    finally:
        os.remove("soft-link")


@attack(Written("{outside}/mode{n}"), open_at=NO_RIGHT)
def mode_of_a_file_elsewhere(t):
    os.chmod(t.path, 0o777)
    return "changed"


@attack(Written("{outside}/times{n}"), open_at=NO_RIGHT)
def times_of_a_file_elsewhere(t):
    os.utime(t.path, (1, 1))
    return "changed"


@attack(Written("{outside}/attribute{n}"))
def attribute_of_a_file_elsewhere(t):
    os.setxattr(t.path, "user.reached", b"yes")
    return "set"


@attack(Readable("/etc/shadow"), users=(ROOT,))
def password_hashes(t):
    with open(t.path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


@attack(Absent("/etc/capsid-canary-{n}"), users=(ROOT,))
def file_in_etc(t):
    with open(t.path, "w") as file:
        file.write("reached")
    return "created"


@attack(Victim(not_harmed))
def root_of_another_process(t):
    return through_processes("root", lambda path: open(path + t.hidden).read())


@attack(Victim(file_changed))
def working_folder_of_another_process(t):
    return through_processes("cwd", lambda path: overwrite_victim(t, path + "/open"))


@attack(Victim(file_changed))
def open_file_of_another_process(t):
    return through_processes(f"fd/{t.handle}", lambda path: overwrite_victim(t, path))


def overwrite_victim(t, path):
    """Nothing but the victim's file: the other processes of the machine have files of its owner open."""
    there = os.stat(path)
    if [there.st_dev, there.st_ino] != t.file:
        raise FileNotFoundError(errno.ENOENT, "another file", path)
    return t.overwrite(path)


def through_processes(name, use):
    said = []
    for pid in sorted(processes(), reverse=True):
        try:
            said.append(use(f"/proc/{pid}/{name}"))
        except OSError as error:
            said.append(f"{error.errno}")
    # The last ones are the oldest, among them the first process.
    return next((text for text in said if not text.isdigit()), " ".join(sorted(set(said))) or "nobody")


class SetuidSecret(Canary):
    """A file that only a setuid program can read."""

    def plant(self, world, key):
        world.words[key] = world.setuid["word"]
        return {"program": world.setuid["program"], "path": world.setuid["path"]}

    def is_reached(self, world, key, facts, said):
        return world.words[key] in said


@attack(SetuidSecret(), users=(ORDINARY,), needs_root=True)
def setuid_program(t):
    assert os.stat(t.program).st_mode & stat.S_ISUID
    ended = subprocess.run([t.program, t.path], capture_output=True, text=True)
    return ended.stdout + ended.stderr
