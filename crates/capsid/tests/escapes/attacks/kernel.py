"""Family 8: the kernel. What would harm the machine is only asked for, with arguments that the kernel then rejects."""

import ctypes
import glob
import mmap
import os
import struct

from canaries import Call, Key, MessageQueue, PosixQueue, Semaphore, SharedMemory, Written, attach
from kit import AGENT, ALLOWED, MACHINE, ORDINARY, ROOT, VALIDATION, attack, syscall, try_call


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))
    return ALLOWED


@attack(Call(), users=(ROOT,))
def proc_sys(t):
    with open("/proc/sys/vm/swappiness") as file:
        value = file.read()
    with open("/proc/sys/vm/swappiness", "w") as file:
        file.write(value)
    return ALLOWED


@attack(Call(), users=(ROOT,))
def core_pattern(t):
    return open_for_writing("/proc/sys/kernel/core_pattern")


@attack(Call(), users=(ROOT,))
def mounted_again_proc_sys(t):
    # Where /proc is masked, another instance of it may not be.
    os.makedirs("again", exist_ok=True)
    try:
        syscall("mount", b"proc", b"again", b"proc", 0, None)
        with open("again/sys/kernel/core_pattern", "r+"):
            return ALLOWED
    finally:
        try:
            syscall("umount2", b"again", 2)
        except OSError:
            pass
        os.rmdir("again")


@attack(Call(), users=(ROOT,))
def sysrq(t):
    return open_for_writing("/proc/sysrq-trigger")


@attack(Call(), users=(ROOT,))
def release_agent_of_a_cgroup(t):
    agents = glob.glob("/sys/fs/cgroup/*/release_agent") + glob.glob("/sys/fs/cgroup/cgroup.procs")
    return open_for_writing(agents[0])


@attack(Call(), users=(ROOT,))
def kernel_messages(t):
    return open_for_writing("/dev/kmsg")


@attack(Call("a cgroup keeps devices from root"), users=(ROOT,))
def block_device(t):
    with open("/proc/partitions") as file:
        names = [line.split()[3] for line in file.read().splitlines()[2:]]
    refused = "no device"
    for name in names:
        try:
            with open(f"/dev/{name}", "rb") as device:
                device.read(512)
            return ALLOWED
        except FileNotFoundError:
            continue
        except OSError as error:
            refused = f"errno {error.errno}"
    return refused


@attack(Call("a cgroup keeps devices from root"), users=(ROOT,))
def block_device_of_its_own(t):
    with open("/proc/partitions") as file:
        major, minor = map(int, file.read().splitlines()[2].split()[:2])
    os.mknod("device", 0o60600, os.makedev(major, minor))
    try:
        with open("device", "rb") as device:
            device.read(512)
        return ALLOWED
    finally:
        os.remove("device")


def find_key(t):
    key = syscall("keyctl", 10, t.keyring, b"user", t.name.encode(), 0)
    text = ctypes.create_string_buffer(100)
    length = syscall("keyctl", 11, key, text, 100)
    return text.raw[:length].decode()


@attack(Key(-3, "text"))
def session_keyring(t):
    return find_key(t)


@attack(Key(-4, "text"))
def user_keyring(t):
    return find_key(t)


@attack(Key(-3, "name"), open_at={
    "overlay agent ordinary": "names of keys can be read, their content cannot; a masked /proc would keep nested sandboxes out",
    "copy agent ordinary": "names of keys can be read, their content cannot; a masked /proc would keep nested sandboxes out",
})
def names_of_keys(t):
    with open("/proc/keys") as file:
        return " ".join(line.split()[8].rstrip(":") for line in file if "capsid-canary" in line)


@attack(Call())
def new_key(t):
    return try_call("add_key", b"user", b"capsid-attack", b"x", 1, -2)


@attack(SharedMemory())
def shared_memory(t):
    return attach(syscall("shmget", t.ipc, 4096, 0), b"reached")


@attack(Semaphore())
def semaphore(t):
    return syscall("semctl", syscall("semget", t.ipc, 1, 0), 0, 16, 5)


@attack(MessageQueue())
def message_queue(t):
    return syscall("msgsnd", syscall("msgget", t.ipc, 0), struct.pack("=q", 1) + b"reached", 7, 0o4000)


@attack(PosixQueue())
def posix_queue(t):
    queue = syscall("mq_open", t.queue.encode(), os.O_RDWR, 0, None)
    return syscall("mq_timedsend", queue, b"reached", 7, 0, None)


@attack(Written("/dev/shm/capsid-canary-{n}"))
def shared_memory_file(t):
    return t.overwrite()


@attack(Call(), users=(ROOT,))
def bpf(t):
    # A map of one number.
    return try_call("bpf", 0, struct.pack("=5I", 2, 4, 8, 1, 0) + bytes(100), 120)


@attack(Call())
def perf_event_open(t):
    # A clock of this process that leaves the kernel out.
    settings = struct.pack("=IIQQQQQ", 1, 112, 1, 0, 0, 0, 0x60) + bytes(64)
    return try_call("perf_event_open", settings, 0, -1, -1, 0)


@attack(Call())
def userfaultfd(t):
    return try_call("userfaultfd", 1)


@attack(Call())
def fanotify(t):
    return try_call("fanotify_init", 0x200, 0)


@attack(Call())
def move_pages(t):
    return try_call("move_pages", 0, 0, None, None, None, 0)


@attack(Call(), users=(ROOT,))
def load_a_module(t):
    return try_call("init_module", b"no module", 9, b"")


@attack(Call(), users=(ROOT,))
def remove_a_module(t):
    return try_call("delete_module", b"capsid_no_such_module", 0o4000)


@attack(Call(), users=(ROOT,))
def kexec(t):
    return try_call("kexec_load", 0, 99, None, 0xFFFF)


@attack(Call(), users=(ROOT,))
def reboot(t):
    # Without its magic numbers the call does nothing, but only after it asked for the right.
    return try_call("reboot", 0, 0, 0, None)


@attack(Call(), users=(ROOT,))
def clock(t):
    # The status is written back as it was read.
    settings = ctypes.create_string_buffer(256)
    syscall("adjtimex", settings)
    struct.pack_into("=I", settings, 0, 0x10)
    return try_call("adjtimex", settings)


@attack(Call(), users=(ROOT,))
def swap(t):
    return try_call("swapon", b"/capsid-no-such-file", 0)


@attack(Call(), users=(ROOT,))
def accounting(t):
    return try_call("acct", b"/capsid-no-such-file")


@attack(Call(), users=(ROOT,))
def host_name(t):
    name = os.uname().nodename.encode()
    return try_call("sethostname", name, len(name))


@attack(Call(), users=(ROOT,))
def kernel_log(t):
    return try_call("syslog", 10, None, 0)


@attack(Call(), users=(ROOT,))
def ports_of_the_hardware(t):
    return try_call("ioperm", 0x80, 1, 1)


@attack(Call())
def local_descriptor_table(t):
    return try_call("modify_ldt", 0, ctypes.create_string_buffer(16), 16)


@attack(Call())
def calls_of_i386(t):
    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    number = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    return ALLOWED if number == os.getpid() else f"answered {number}"


@attack(Call())
def calls_of_x32(t):
    return try_call(0x40000000 + 39)
