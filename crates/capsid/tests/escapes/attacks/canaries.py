"""Canaries: what an attack must not reach. Planted and checked outside of the sandbox, by the user's own process."""

import array
import ctypes
import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import termios
import threading
import time

from kit import ALLOWED, syscall


def state(path):
    """Everything about a file that an attack may change."""
    try:
        meta = os.lstat(path)
    except FileNotFoundError:
        return None
    if os.path.islink(path):
        return ("link", os.readlink(path))
    if not os.path.isfile(path):
        return ("other", meta.st_mode)
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path) if name.startswith("user.")}
    with open(path, "rb") as file:
        return (meta.st_mode, meta.st_uid, file.read(), meta.st_mtime_ns, meta.st_nlink, str(attributes))


class Canary:
    """`plant` says what the attack is to know, `is_reached` whether it got there."""

    may_be_closed = ""

    def plant(self, world, key):
        return {}

    def is_reached(self, world, key, facts, said):
        raise NotImplementedError

    def clear(self, world, key, facts):
        pass


class Written(Canary):
    """A file that must stay as it is. The place is a format with the folders of the world."""

    def __init__(self, place):
        self.place = place
        self.before = {}

    def plant(self, world, key):
        path = self.place.format(n=world.number(), **world.folders)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # A path without a number is the canary of both profiles.
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write("safe\n")
        self.before[key] = state(path)
        return {"path": path}

    def is_reached(self, world, key, facts, said):
        return state(facts["path"]) != self.before[key]

    def clear(self, world, key, facts):
        world.remove_later.append(facts["path"])


class Absent(Canary):
    """A path at which nothing may appear."""

    def __init__(self, place):
        self.place = place

    def plant(self, world, key):
        return {"path": self.place.format(n=world.number(), **world.folders)}

    def is_reached(self, world, key, facts, said):
        return os.path.lexists(facts["path"])

    def clear(self, world, key, facts):
        remove(facts["path"])


class Secret(Canary):
    """A file whose text must not be seen."""

    def __init__(self, place):
        self.place = place

    def plant(self, world, key):
        path = self.place.format(n=world.number(), **world.folders)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(world.word())
            os.chmod(path, 0o600)
        with open(path) as file:
            world.words[key] = file.read()
        return {"path": path}

    def is_reached(self, world, key, facts, said):
        return world.words[key] in said

    def clear(self, world, key, facts):
        world.remove_later.append(facts["path"])


class Readable(Canary):
    """A file of the system whose hash must not be seen."""

    def __init__(self, path):
        self.path = path

    def plant(self, world, key):
        return {"path": self.path}

    def is_reached(self, world, key, facts, said):
        with open(self.path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[:12] in said


class Call(Canary):
    """A right: the kernel must refuse the call. Used where using the right would harm the machine.

    may_be_closed   why the machine may refuse it outside as well, so that there is nothing to prove
    """

    def __init__(self, may_be_closed=""):
        self.may_be_closed = may_be_closed

    def is_reached(self, world, key, facts, said):
        return said.startswith(ALLOWED)


class Victim(Canary):
    """A process of the user, with a word in its environment, an open file and a working folder."""

    def __init__(self, is_harmed=None):
        self.is_harmed = is_harmed or (lambda victim, facts: victim.poll() is not None)
        self.victims = {}

    def plant(self, world, key):
        number, word = world.number(), world.word()
        place = f"{world.folders['outside']}/victim{number}"
        os.makedirs(place)
        path = f"{place}/open"
        with open(path, "w") as file:
            file.write("safe\n")
        world.words[key] = word
        handle = os.open(path, os.O_RDWR)
        victim = subprocess.Popen(
            ["sleep", world.mark()], cwd=place, env={"PATH": os.environ["PATH"], "CANARY": word},
            pass_fds=[handle], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(handle)
        self.victims[key] = victim
        hidden = f"{world.folders['home']}/.gnupg/victim{number}"
        os.makedirs(os.path.dirname(hidden), exist_ok=True)
        with open(hidden, "w") as file:
            file.write(word)
        # The sleep has its environment only once it is started.
        limit = time.monotonic() + 10
        while word.encode() not in read_bytes(f"/proc/{victim.pid}/environ") and time.monotonic() < limit:
            time.sleep(0.002)
        there = os.stat(path)
        return {"pid": victim.pid, "handle": handle, "path": path, "file": [there.st_dev, there.st_ino], "hidden": hidden}

    def is_reached(self, world, key, facts, said):
        return self.is_harmed(self.victims[key], facts) or world.words[key] in said

    def clear(self, world, key, facts):
        self.victims[key].kill()
        self.victims[key].wait()
        remove(facts["hidden"])


def file_changed(victim, facts):
    return read_bytes(facts["path"]) != b"safe\n"


def not_harmed(victim, facts):
    return False


class Leftover(Canary):
    """No process of the attack may be left."""

    def plant(self, world, key):
        return {"mark": world.mark()}

    def is_reached(self, world, key, facts, said):
        # The end of a sandbox and the end of its processes are two events.
        limit = time.monotonic() + 3
        while self.alive(facts) and time.monotonic() < limit and world.confined:
            time.sleep(0.02)
        return bool(self.alive(facts))

    def alive(self, facts):
        mark = facts["mark"].encode()
        return [p for p in os.listdir("/proc") if p.isdigit() and mark in read_bytes(f"/proc/{p}/cmdline").split(b"\0")]

    def clear(self, world, key, facts):
        for pid in self.alive(facts):
            os.kill(int(pid), 9)


class Listener(Canary):
    """A socket of the user that must receive nothing. `address` makes the address from the world."""

    def __init__(self, family, kind, address, protocol=0):
        self.family, self.kind, self.address, self.protocol = family, kind, address, protocol
        self.heard, self.sockets = {}, {}

    def plant(self, world, key):
        listener = socket.socket(self.family, self.kind, self.protocol)
        address = self.address(world)
        if isinstance(address, str) and not address.startswith("\0"):
            os.makedirs(os.path.dirname(address), exist_ok=True)
        listener.bind(address)
        if self.family == socket.AF_UNIX and not address.startswith("\0"):
            os.chmod(address, 0o666)
        self.heard[key] = []
        self.sockets[key] = listener
        if self.kind == socket.SOCK_STREAM:
            listener.listen(8)
        threading.Thread(target=self.listen, args=(listener, key), daemon=True).start()
        return {"address": listener.getsockname() if self.family != socket.AF_UNIX else address.replace("\0", "@")}

    def listen(self, listener, key):
        try:
            while True:
                if self.kind == socket.SOCK_STREAM:
                    peer, _ = listener.accept()
                    self.heard[key].append("connected")
                    peer.close()
                else:
                    self.heard[key].append(listener.recv(100))
        except OSError:
            pass

    def is_reached(self, world, key, facts, said):
        limit = time.monotonic() + (0 if world.confined else 2)
        while not self.heard[key] and time.monotonic() < limit:
            time.sleep(0.01)
        return bool(self.heard[key])

    def clear(self, world, key, facts):
        self.sockets[key].close()


class Port(Listener):
    """A listening port that must not even be seen."""

    def is_reached(self, world, key, facts, said):
        return str(facts["address"][1]) in said.split()


class Key(Canary):
    """A key in a keyring of the user (-3: session, -4: user)."""

    def __init__(self, keyring, seen):
        self.keyring, self.seen = keyring, seen

    def plant(self, world, key):
        name, word = f"capsid-canary-{world.word()}", world.word()
        world.words[key] = name if self.seen == "name" else word
        added = syscall("add_key", b"user", name.encode(), word.encode(), len(word), -3)
        # Every process of the user may use it, whatever keyrings it has.
        syscall("keyctl", 5, added, 0x3F3F0000)
        syscall("keyctl", 8, added, self.keyring)
        return {"name": "" if self.seen == "name" else name, "keyring": self.keyring}

    def is_reached(self, world, key, facts, said):
        return world.words[key] in said

    def clear(self, world, key, facts):
        # Keys of the user's keyring outlive the user's processes.
        if self.keyring != -3:
            found = syscall("keyctl", 10, self.keyring, b"user", facts["name"].encode(), 0)
            syscall("keyctl", 9, found, self.keyring)


class SharedMemory(Canary):
    """A System V segment."""

    def plant(self, world, key):
        number = 0x0CA00000 + world.number()
        self.id = syscall("shmget", number, 4096, 0o1666)
        return {"ipc": number}

    def is_reached(self, world, key, facts, said):
        return attach(syscall("shmget", facts["ipc"], 4096, 0)) == b"reached"

    def clear(self, world, key, facts):
        syscall("shmctl", syscall("shmget", facts["ipc"], 4096, 0), 0, None)


def attach(segment, write=None):
    from kit import NUMBERS, MACHINE, libc

    libc.syscall.restype = ctypes.c_void_p
    address = libc.syscall(ctypes.c_long(NUMBERS[MACHINE]["shmat"]), ctypes.c_long(segment), None, ctypes.c_long(0))
    libc.syscall.restype = ctypes.c_long
    if address is None or address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "shmat")
    if write:
        ctypes.memmove(address, write, len(write))
    return ctypes.string_at(address, 7)


class Semaphore(Canary):
    """A System V semaphore, 1 at first."""

    def plant(self, world, key):
        number = 0x0CA00000 + world.number()
        syscall("semctl", syscall("semget", number, 1, 0o1666), 0, 16, 1)
        return {"ipc": number}

    def is_reached(self, world, key, facts, said):
        return syscall("semctl", syscall("semget", facts["ipc"], 1, 0), 0, 12) != 1

    def clear(self, world, key, facts):
        syscall("semctl", syscall("semget", facts["ipc"], 1, 0), 0, 0)


class MessageQueue(Canary):
    """A System V message queue."""

    def plant(self, world, key):
        number = 0x0CA00000 + world.number()
        syscall("msgget", number, 0o1666)
        return {"ipc": number}

    def is_reached(self, world, key, facts, said):
        try:
            syscall("msgrcv", syscall("msgget", facts["ipc"], 0), ctypes.create_string_buffer(64), 32, 0, 0o4000)
            return True
        except OSError:
            return False

    def clear(self, world, key, facts):
        syscall("msgctl", syscall("msgget", facts["ipc"], 0), 0, None)


class PosixQueue(Canary):
    """A POSIX message queue."""

    def plant(self, world, key):
        name = f"capsid-canary-{os.getpid()}-{world.number()}"
        os.close(syscall("mq_open", name.encode(), os.O_CREAT | os.O_RDWR, 0o666, None))
        return {"queue": name}

    def is_reached(self, world, key, facts, said):
        queue = syscall("mq_open", facts["queue"].encode(), os.O_RDWR | os.O_NONBLOCK, 0, None)
        try:
            syscall("mq_timedreceive", queue, ctypes.create_string_buffer(8192), 8192, None, None)
            return True
        except OSError:
            return False
        finally:
            os.close(queue)

    def clear(self, world, key, facts):
        syscall("mq_unlink", facts["queue"].encode())


class Inherited(Canary):
    """A descriptor that the user's shell left open in the program: a folder, a file or a socket."""

    def __init__(self, kind):
        self.kind, self.before, self.ends = kind, {}, {}

    def plant(self, world, key):
        path = f"{world.folders['outside']}/inherited{world.number()}"
        os.makedirs(path)
        path += "/open"
        with open(path, "w") as file:
            file.write("safe\n")
        self.before[key] = state(path)
        if self.kind == "socket":
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            self.ends[key] = ours
            handle = theirs.detach()
        else:
            handle = os.open(path if self.kind == "file" else os.path.dirname(path), os.O_RDWR if self.kind == "file" else os.O_RDONLY)
        world.inherited.append(handle)
        return {"path": path, "handle": handle}

    def is_reached(self, world, key, facts, said):
        if self.kind == "socket":
            try:
                return bool(self.ends[key].recv(10))
            except BlockingIOError:
                return False
        return state(facts["path"]) != self.before[key]


class Terminal(Canary):
    """The terminal that the program was started in: nobody may type into it but the user."""

    def plant(self, world, key):
        return {"terminal": os.ttyname(world.terminal)}

    def is_reached(self, world, key, facts, said):
        waiting = array.array("i", [0])
        fcntl.ioctl(world.terminal, termios.FIONREAD, waiting)
        termios.tcflush(world.terminal, termios.TCIFLUSH)
        return waiting[0] > 0


class Output(Canary):
    """The file that the program's output goes to: what is in it already must stay."""

    def is_reached(self, world, key, facts, said):
        return world.output_was_cut()


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def remove_all(paths):
    for path in paths:
        remove(path)
    paths.clear()


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.remove(path)
