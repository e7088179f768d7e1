"""Family 10: descriptors that were left open, and the terminal."""

import fcntl
import os
import termios

from canaries import Call, Canary, Inherited, Output, Terminal
from kit import ALLOWED, attack, processes

TIOCLINUX = 0x541C


@attack(Inherited("folder"))
def inherited_folder(t):
    return through_handles(lambda handle: os.open("open", os.O_WRONLY | os.O_TRUNC, dir_fd=handle))


@attack(Inherited("file"))
def inherited_file(t):
    return through_handles(lambda handle: handle == t.handle and os.write(handle, b"reached"))


@attack(Inherited("socket"))
def inherited_socket(t):
    return through_handles(lambda handle: handle == t.handle and os.write(handle, b"reached"))


def through_handles(use):
    used = []
    for handle in range(3, 512):
        try:
            if use(handle):
                used.append(str(handle))
        except OSError:
            pass
    return " ".join(used) or "nothing is open"


@attack(Inherited("folder"))
def descriptors_of_other_processes(t):
    """Among them the first process of the sandbox, which had the real tree open."""
    reached = []
    for pid in processes():
        try:
            handles = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for handle in handles:
            try:
                path = f"/proc/{pid}/fd/{handle}"
                if os.path.samestat(os.stat(path), os.stat(os.path.dirname(t.path))):
                    os.close(os.open(f"{path}/open", os.O_WRONLY | os.O_TRUNC))
                    reached.append(f"{pid}/{handle}")
            except OSError:
                pass
    return " ".join(reached) or f"nothing in {len(processes())} processes"


class RealTree(Canary):
    """A file of the tree that only the real one has with this inode's content; the view has a copy of it."""

    def plant(self, world, key):
        path = f"{world.folders['root']}/canaries/handle{world.number()}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("safe\n")
        return {"path": path, "name": os.path.relpath(path, world.folders["root"])}

    def is_reached(self, world, key, facts, said):
        with open(facts["path"]) as file:
            return file.read() != "safe\n"

    def clear(self, world, key, facts):
        os.remove(facts["path"])


@attack(RealTree())
def real_tree_by_descriptors_of_the_first_process(t):
    said = []
    for pid in (1, os.getppid(), "self"):
        try:
            handles = [f"/proc/{pid}/fd/{handle}" for handle in os.listdir(f"/proc/{pid}/fd")]
        except OSError as error:
            said.append(f"errno {error.errno}")
            handles = []
        # In the control the working folder is the real tree.
        for path in [*handles, f"/proc/{pid}/cwd"]:
            try:
                t.overwrite(f"{path}/{t.name}")
                said.append(path)
            except OSError:
                pass
    return " ".join(said) or "nothing"


@attack(Terminal())
def type_into_the_terminal(t):
    said = []
    for path in ("/dev/tty", t.terminal, "/dev/stdin", "/dev/stderr"):
        try:
            handle = os.open(path, os.O_RDWR | os.O_NOCTTY)
            fcntl.ioctl(handle, termios.TIOCSTI, b"x")
            said.append(path)
        except OSError as error:
            said.append(f"errno {error.errno}")
    return " ".join(said)


@attack(Call())
def type_into_a_terminal_of_its_own(t):
    _, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    return ALLOWED


@attack(Call())
def paste_into_the_console(t):
    _, slave = os.openpty()
    try:
        fcntl.ioctl(slave, TIOCLINUX, b"\3")
    except OSError as error:
        # A terminal that is no console does not know the request; a refusal is something else.
        return ALLOWED if error.errno == 25 else f"errno {error.errno}"
    return ALLOWED


@attack(Output())
def open_the_output_again(t):
    said = []
    for handle in (1, 2):
        try:
            os.pwrite(os.open(f"/proc/self/fd/{handle}", os.O_WRONLY), b"reached", 0)
            said.append("written")
        except OSError as error:
            said.append(f"errno {error.errno}")
    return " ".join(said)
