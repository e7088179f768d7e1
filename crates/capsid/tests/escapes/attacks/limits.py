"""Family 11: what a program may use up."""

import mmap
import os
import resource
import signal
import tempfile
import threading
import time

from canaries import Call, Canary, Leftover
from kit import AGENT, ALLOWED, CONTROL, ROOT, VALIDATION, attack

MIB = 1 << 20
SMALL_DISK = {"agent": ["disk_mb = 64"], "validation": ["disk_mb = 64"]}
SHORT_TIME = {"cycle": ["agent_timeout_seconds = 1"], "validation": ["timeout_seconds = 1"]}


def most_processes(profile):
    return 4096 if profile == AGENT else 1024 + 64 * os.cpu_count()


class Count(Canary):
    """How many processes or threads there were at once."""

    def is_reached(self, world, key, facts, said):
        most = most_processes(key.split(":")[0])
        return said.isdigit() and int(said) > most


@attack(Count())
def threads(t):
    threading.stack_size(32768)
    end, count = threading.Event(), 0
    try:
        for _ in range(most_processes(t.profile) + 100):
            threading.Thread(target=end.wait, daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    end.set()
    return count


@attack(Count(), profiles=(VALIDATION,))
def forks(t):
    children = []
    try:
        for _ in range(most_processes(t.profile) + 100):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    return len(children)


@attack(Call(), profiles=(VALIDATION,))
def memory(t):
    mmap.mmap(-1, 9 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    return ALLOWED


@attack(Call(), profiles=(VALIDATION,))
def huge_file(t):
    with open("huge", "wb") as file:
        try:
            os.ftruncate(file.fileno(), 3 << 30)
            return ALLOWED
        finally:
            os.remove("huge")


@attack(Call(), users=(ROOT,))
def raise_the_limits(t):
    # For root this is a right; everybody else may only lower them.
    resource.setrlimit(resource.RLIMIT_CORE, (7, 7))
    return ALLOWED


def fill(folder):
    """Writes for two seconds at most, and far more than is allowed."""
    paths = [os.path.join(folder, f"filling{number}") for number in range(80)]
    try:
        for path in paths:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.posix_fallocate(handle, 0, 8 * MIB)
            os.close(handle)
            time.sleep(0.025)
    finally:
        for path in filter(os.path.exists, paths):
            os.remove(path)
    return ALLOWED


@attack(Call(), settings=SMALL_DISK)
def bytes_in_the_repository(t):
    return fill(".")


@attack(Call(), profiles=(AGENT,), settings=SMALL_DISK)
def bytes_in_the_temporary_folder(t):
    return fill(tempfile.gettempdir())


@attack(Call(), profiles=(VALIDATION,), long=True)
def inodes(t):
    # In memory, as the temporary folder of a command is where there are namespaces.
    folder = tempfile.mkdtemp(dir="/dev/shm" if t.profile == CONTROL else None)
    try:
        for number in range(200_100):
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
    finally:
        os.system(f"rm -rf {folder}")
    return ALLOWED


class Printed(Canary):
    """How much of the output is kept."""

    def is_reached(self, world, key, facts, said):
        return os.path.getsize(world.outputs[0]) > 4 * MIB


@attack(Printed(), profiles=(VALIDATION,), settings={"agent": []})
def output_without_end(t):
    for _ in range(40):
        os.write(2 if t.profile == AGENT else 1, (b"x" * 1023 + b"\n") * 1024)
    return "printed"


@attack(Call(), settings=SHORT_TIME)
def time_limit(t):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(8 if t.profile != CONTROL else 2)
    return ALLOWED


@attack(Leftover(), settings=SHORT_TIME, no_control="unconfined, nobody would ever end it")
def stop_itself(t):
    """A stopped process does not see a request to end."""
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0), os.dup2(null, 1), os.dup2(null, 2)
        os.execvp("sleep", ["sleep", t.mark])
    os.kill(os.getppid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    return "continued"
