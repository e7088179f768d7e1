"""What an attack is, and how a list of them runs inside a sandbox.

An attack is a function with a canary. Its code runs where the sandbox is, once as the agent and once as a validation
command; the canary is outside, and is planted and checked there. The control runs the same code unconfined.
"""

import ctypes
import json
import os
import signal
import sys
import time

AGENT, VALIDATION = "agent", "validation"
ROOT, ORDINARY = "root", "ordinary"
CONTROL = "control"

ATTACKS = []

# What the code of an attack says when the kernel let it do what it wanted; see the canary `Call`.
ALLOWED = "allowed"


class Attack:
    def __init__(self, code, canary, profiles, users, no_control, open_at, needs_root, alone, settings, long):
        self.name = code.__name__
        self.family = code.__module__
        self.code = code
        self.canary = canary
        self.profiles = profiles
        self.users = users
        self.no_control = no_control
        self.open_at = open_at
        self.needs_root = needs_root
        self.alone = alone
        self.settings = settings
        self.long = long

    def key(self, profile):
        return f"{profile}:{self.family}.{self.name}"


def attack(
    canary, profiles=(AGENT, VALIDATION), users=(ROOT, ORDINARY), no_control="", open_at=None, needs_root=False, alone=False,
    settings=None, long=False,
):
    """Registers an attack.

    no_control  why there is no control
    open_at     what a level does not stop, by "level" or "level profile" or "level profile user", with the reason
    needs_root  the canary can only be planted by root, for an ordinary user
    alone       the agent's attack gets a cycle of its own; outside of a soak, one cycle for all with the same word
    settings    lines for sections of `capsid.toml`, in a cycle of its own
    long        takes long, and is tried in a soak alone
    """

    def register(code):
        ATTACKS.append(Attack(code, canary, profiles, users, no_control, open_at or {}, needs_root, alone, settings or {}, long))
        return code

    return register


class Target:
    """What an attack knows of the machine: where its canary is, and where the user's things are."""

    def __init__(self, facts, key):
        self.profile = key.split(":")[0]
        self.__dict__.update(facts["world"])
        self.__dict__.update(facts["canaries"].get(key, {}))

    def overwrite(self, path=None):
        with open(path or self.path, "r+") as file:
            file.write("reached")
        return "written"

    def read(self, path=None):
        with open(path or self.path) as file:
            return file.read()


def load_facts():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts.json")) as file:
        return json.load(file)


def run_attacks(attacks, profile, facts, limit=20):
    """Runs each attack in a process of its own, and prints a line for each: that it ran, and what it saw."""
    for one in attacks:
        # Twice, for the attack may end this process too.
        print(json.dumps({"a": one.name, "s": "started"}), flush=True)
        print(json.dumps({"a": one.name, "s": run_one(one, Target(facts, one.key(profile)), limit)}), flush=True)


def run_one(one, target, limit):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            said = str(one.code(target))
        except OSError as error:
            said = f"errno {error.errno} {os.strerror(error.errno or 0)}"
        except BaseException as error:  # An attack may fail in any way; it must say so and not end the series.
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said[:300].encode())
        os._exit(0)
    os.close(writer)
    end = time.monotonic() + limit
    status = None
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.002)
        status = None
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "no end"
    os.set_blocking(reader, False)
    try:
        said = os.read(reader, 4096).decode(errors="replace")
    except BlockingIOError:
        said = ""
    os.close(reader)
    return f"killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said


# System calls by number, for what Python has no function for.

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
MACHINE = os.uname().machine
NUMBERS = {
    "x86_64": dict(
        mount=165, umount2=166, pivot_root=155, chroot=161, unshare=272, setns=308, clone=56, clone3=435, ptrace=101,
        init_module=175, delete_module=176, kexec_load=246, reboot=169, adjtimex=159, swapon=167, acct=163, syslog=103,
        iopl=172, ioperm=173, modify_ldt=154, quotactl=179, add_key=248, keyctl=250, bpf=321, perf_event_open=298,
        userfaultfd=323, fanotify_init=300, open_by_handle_at=304, name_to_handle_at=303, shmget=29, shmat=30, shmctl=31,
        semget=64, semctl=66, msgget=68, msgsnd=69, msgrcv=70, msgctl=71, mq_open=240, mq_unlink=241, mq_timedsend=242,
        mq_timedreceive=243, fsopen=430, open_tree=428, pidfd_open=434, pidfd_getfd=438, prlimit64=302, sethostname=170,
        io_uring_setup=425, setxattr=188, getpid=39, mknod=133, move_pages=279,
    ),
    "aarch64": dict(
        mount=40, umount2=39, pivot_root=41, chroot=51, unshare=97, setns=268, clone=220, clone3=435, ptrace=117,
        init_module=105, delete_module=106, kexec_load=104, reboot=142, adjtimex=171, swapon=224, acct=89, syslog=116,
        quotactl=60, add_key=217, keyctl=219, bpf=280, perf_event_open=241, userfaultfd=282, fanotify_init=262,
        open_by_handle_at=265, name_to_handle_at=264, shmget=194, shmat=196, shmctl=195, semget=190, semctl=191,
        msgget=186, msgsnd=189, msgrcv=188, msgctl=187, mq_open=180, mq_unlink=181, mq_timedsend=182,
        mq_timedreceive=183, fsopen=430, open_tree=428, pidfd_open=434, pidfd_getfd=438, prlimit64=261,
        sethostname=161, io_uring_setup=425, setxattr=5, getpid=172, move_pages=239,
    ),
}


def syscall(name, *args):
    """Calls the kernel; raises OSError where it refuses."""
    number = name if isinstance(name, int) else NUMBERS[MACHINE][name]
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in args]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *words)
    if result == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


# What a call answers that the caller has no right to make.
REFUSED = {1, 13, 38}


def try_call(name, *args):
    """Whether the kernel would do this: any error but a refusal says that the right to ask is there."""
    try:
        return f"{ALLOWED}: {syscall(name, *args)}"
    except OSError as error:
        return f"errno {error.errno}" if error.errno in REFUSED else f"{ALLOWED}: errno {error.errno}"


CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 8192, 16384, 1 << 18
MNT_DETACH = 2


def become_namespace_root():
    """Takes a user namespace and a mount namespace of its own, as far as that is allowed."""
    uid, gid = os.getuid(), os.getgid()
    syscall("unshare", CLONE_NEWUSER | CLONE_NEWNS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        try:
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
        except OSError:
            pass


def mount(source, target, kind, flags, data=None):
    encode = lambda text: None if text is None else os.fsencode(text)
    return syscall("mount", encode(source), encode(target), encode(kind), flags, encode(data))


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
