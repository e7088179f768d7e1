"""Family 6: other processes, and processes that stay."""

import ctypes
import os
import resource
import signal
import time

from canaries import Leftover, Victim, not_harmed, read_bytes
from kit import attack, processes, syscall


@attack(Victim())
def kill(t):
    os.kill(t.pid, signal.SIGKILL)
    return "killed"


@attack(Victim())
def kill_the_group(t):
    os.killpg(t.pid, signal.SIGKILL)
    return "killed"


@attack(Victim(lambda victim, facts: b"T (stopped)" in read_bytes(f"/proc/{victim.pid}/status")))
def stop_by_pidfd(t):
    signal.pidfd_send_signal(os.pidfd_open(t.pid), signal.SIGSTOP)
    return "stopped"


@attack(Victim())
def ptrace(t):
    # The kernel kills a process whose tracer ends, if the tracer asked for that.
    syscall("ptrace", 0x4206, t.pid, None, ctypes.c_void_p(0x100000))
    return "attached"


@attack(Victim(not_harmed))
def environment_of_a_process(t):
    return scan("environ", b"CANARY=")


@attack(Victim(not_harmed))
def memory_of_a_process(t):
    # The environment is at the top of the stack.
    with open(f"/proc/{t.pid}/maps") as maps:
        line = next(line for line in maps if "[stack]" in line)
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    with open(f"/proc/{t.pid}/mem", "rb") as memory:
        memory.seek(start)
        text = memory.read(end - start)
    return text[text.rindex(b"CANARY=") :][:40].split(b"\0")[0].decode()


@attack(Victim(lambda victim, facts: read_bytes(facts["path"]) != b"safe\n"))
def descriptor_of_a_process(t):
    handle = syscall("pidfd_getfd", os.pidfd_open(t.pid), t.handle, 0)
    return os.write(handle, b"reached")


@attack(Victim(lambda victim, facts: resource.prlimit(victim.pid, resource.RLIMIT_NOFILE)[0] == 7))
def limits_of_a_process(t):
    resource.prlimit(t.pid, resource.RLIMIT_NOFILE, (7, 7))
    return "set"


@attack(Victim(lambda victim, facts: os.getpriority(os.PRIO_PROCESS, victim.pid) == 7))
def priority_of_a_process(t):
    os.setpriority(os.PRIO_PROCESS, t.pid, 7)
    return "set"


@attack(Leftover())
def daemon_in_a_session_of_its_own(t):
    if os.fork() == 0:
        os.setsid()
        sleep(t.mark)
    return "started"


@attack(Leftover())
def daemon_by_double_fork(t):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            sleep(t.mark)
        os._exit(0)
    return "started"


@attack(Leftover())
def stopped_daemon(t):
    child = os.fork()
    if child == 0:
        os.setsid()
        sleep(t.mark)
    limit = time.monotonic() + 1
    while t.mark.encode() not in read_bytes(f"/proc/{child}/cmdline") and time.monotonic() < limit:
        time.sleep(0.01)
    os.kill(child, signal.SIGSTOP)
    return "started"


def sleep(mark):
    # Without the outputs, or whoever reads them waits for this process.
    null = os.open("/dev/null", os.O_RDWR)
    for handle in range(3):
        os.dup2(null, handle)
    os.closerange(3, 256)
    os.execvp("sleep", ["sleep", mark])


def scan(name, word):
    """The lines of all processes that have a word, as far as they can be read."""
    seen = []
    for pid in processes():
        seen += [part.decode() for part in read_bytes(f"/proc/{pid}/{name}").split(b"\0") if word in part]
    return " ".join(seen)[-280:] or f"none in {len(processes())} processes"
