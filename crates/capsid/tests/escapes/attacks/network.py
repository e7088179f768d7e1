"""Family 7: the network and sockets. The agent has the network, so that only what belongs to the session is closed to it."""

import os
import socket
import struct

from canaries import Call, Listener, Port
from kit import AGENT, ALLOWED, ROOT, VALIDATION, attack, try_call, syscall

LOOPBACK = lambda world: ("127.0.0.1", 0)


def send(family, kind, address, protocol=0):
    with socket.socket(family, kind, protocol) as sender:
        sender.settimeout(5)
        sender.connect(address)
        sender.send(b"reached")
    return "sent"


@attack(Listener(socket.AF_INET, socket.SOCK_STREAM, LOOPBACK), profiles=(VALIDATION,))
def tcp(t):
    return send(socket.AF_INET, socket.SOCK_STREAM, tuple(t.address))


@attack(Listener(socket.AF_INET6, socket.SOCK_STREAM, lambda world: ("::1", 0)), profiles=(VALIDATION,))
def tcp_of_version_6(t):
    return send(socket.AF_INET6, socket.SOCK_STREAM, tuple(t.address))


@attack(Listener(socket.AF_INET, socket.SOCK_STREAM, LOOPBACK), profiles=(VALIDATION,))
def tcp_fast_open(t):
    # The connection is opened by the first bytes, not by `connect`.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sender:
        sender.settimeout(5)
        return sender.sendto(b"reached", socket.MSG_FASTOPEN, tuple(t.address))


@attack(Listener(socket.AF_INET, socket.SOCK_STREAM, LOOPBACK), profiles=(VALIDATION,))
def multipath_tcp(t):
    return send(socket.AF_INET, socket.SOCK_STREAM, tuple(t.address), 262)


@attack(Listener(socket.AF_INET, socket.SOCK_DGRAM, LOOPBACK), profiles=(VALIDATION,))
def udp(t):
    return send(socket.AF_INET, socket.SOCK_DGRAM, tuple(t.address))


@attack(Listener(socket.AF_INET, socket.SOCK_DGRAM, LOOPBACK), profiles=(VALIDATION,))
def name_service(t):
    # A question for `reached.example` to a name server.
    question = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + b"\7reached\7example\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return sender.sendto(question, tuple(t.address))


@attack(Listener(socket.AF_UNIX, socket.SOCK_STREAM, lambda world: f"{world.folders['home']}/s{world.number()}"))
def unix_socket_in_the_home(t):
    return send(socket.AF_UNIX, socket.SOCK_STREAM, t.address)


@attack(Listener(socket.AF_UNIX, socket.SOCK_STREAM, lambda world: f"{world.folders['tmp']}/s{world.number()}"))
def unix_socket_in_the_temporary_folder(t):
    return send(socket.AF_UNIX, socket.SOCK_STREAM, t.address)


@attack(Listener(socket.AF_UNIX, socket.SOCK_DGRAM, lambda world: f"{world.folders['root']}/s{world.number()}"))
def unix_datagrams_in_the_repository(t):
    return send(socket.AF_UNIX, socket.SOCK_DGRAM, t.address)


@attack(
    Listener(socket.AF_UNIX, socket.SOCK_STREAM, lambda world: f"{world.folders['outside']}/s{world.number()}"),
    profiles=(VALIDATION,),
)
def unix_socket_elsewhere(t):
    return send(socket.AF_UNIX, socket.SOCK_STREAM, t.address)


@attack(Listener(socket.AF_UNIX, socket.SOCK_STREAM, lambda world: f"\0capsid-canary-{os.getpid()}-{world.number()}"))
def abstract_unix_socket(t):
    return send(socket.AF_UNIX, socket.SOCK_STREAM, t.address.replace("@", "\0"))


@attack(Listener(socket.AF_UNIX, socket.SOCK_DGRAM, lambda world: f"\0capsid-canary-{os.getpid()}-{world.number()}"))
def abstract_unix_datagrams(t):
    return send(socket.AF_UNIX, socket.SOCK_DGRAM, t.address.replace("@", "\0"))


@attack(Call())
def socket_of_a_virtual_machine(t):
    return open_socket(40, socket.SOCK_STREAM)


@attack(Call(), users=(ROOT,))
def packet_socket(t):
    return open_socket(socket.AF_PACKET, socket.SOCK_RAW)


@attack(Call(), users=(ROOT,))
def raw_socket(t):
    return open_socket(socket.AF_INET, socket.SOCK_RAW, 1)


@attack(Call())
def socket_of_the_key_manager(t):
    # AF_ALG: the crypto interface of the kernel, which had its holes.
    return open_socket(38, socket.SOCK_SEQPACKET)


def open_socket(family, kind, protocol=0):
    with socket.socket(family, kind, protocol):
        return ALLOWED


@attack(Port(socket.AF_INET, socket.SOCK_STREAM, LOOPBACK), profiles=(VALIDATION,))
def listening_ports_by_netlink(t):
    # sock_diag: every TCP socket that listens.
    request = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 0, 1 << 10) + bytes(48)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as diagnosis:
        diagnosis.settimeout(5)
        diagnosis.send(struct.pack("=IHHII", 16 + len(request), 20, 0x301, 1, 0) + request)
        answer = diagnosis.recv(1 << 20)
    ports, at = [], 0
    while at + 16 <= len(answer):
        length, kind = struct.unpack_from("=IH", answer, at)
        if kind != 20:
            break
        ports.append(struct.unpack_from(">H", answer, at + 20)[0])
        at += (length + 3) & ~3
    wanted = [port for port in ports if port == t.address[1]]
    return " ".join(map(str, wanted)) or f"{len(ports)} ports"


@attack(Call())
def io_uring(t):
    import ctypes

    return try_call("io_uring_setup", 4, ctypes.create_string_buffer(120))
