"""Family 6, continued: what is left when somebody kills the engine or the launcher of the sandbox."""

import os
import signal
import subprocess
import time

import kit
from canaries import Leftover, read_bytes
from kit import AGENT, CONTROL
from processes import sleep


def begin(facts, profile):
    """The agent: daemons of each kind, and then it waits. Nobody ends it."""
    for number, mark in enumerate(facts["world"]["marks"]):
        if os.fork() == 0:
            if number:
                os.setsid()
            if number > 1 and os.fork():
                os._exit(0)
            for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.signal(one, signal.SIG_IGN)
            sleep(mark)
    signal.pause()


def alive(marks):
    lines = [read_bytes(f"/proc/{pid}/cmdline").split(b"\0") for pid in os.listdir("/proc") if pid.isdigit()]
    return [mark for mark in marks if any(mark.encode() in line for line in lines)]


def wait_for(check, limit=20):
    end = time.monotonic() + limit
    while not check() and time.monotonic() < end:
        time.sleep(0.01)
    return check()


def children(pid):
    found = []
    for one in os.listdir("/proc"):
        if one.isdigit():
            text = read_bytes(f"/proc/{one}/stat")
            if text and int(text[text.rindex(b")") :].split()[2]) == pid:
                found.append(int(one))
    return found


def kill_engine(program):
    os.kill(program.pid, signal.SIGKILL)


def kill_launcher(program):
    for child in children(program.pid):
        os.kill(child, signal.SIGKILL)


def ask_engine(program):
    os.kill(program.pid, signal.SIGTERM)


KILLS = [
    ("engine_killed", kill_engine),
    ("launcher_killed", kill_launcher),
    ("engine_asked_to_end", ask_engine),
]


def scenario(world):
    rows = []
    for name, kill in KILLS:
        for profile in ([CONTROL] if world.controls and kill is kill_engine else []) + ([AGENT] if world.settings["binary"] else []):
            rows.append(run(world, name, kill, profile))
    return rows


def run(world, name, kill, profile):
    world.confined = profile == AGENT
    world.fresh_repository()
    marks = [world.mark() for _ in range(3)]
    world.folders["marks"] = marks
    world.write_facts({})
    del world.folders["marks"]
    words = ["python3", "attacks/inside.py", profile, "survival"]
    if world.confined:
        world.write_settings([])
        program = world.evolve(words, wait=False)
    else:
        program = world.run(words, wait=False)
    started = wait_for(lambda: len(alive(marks)) == len(marks))
    kill(program)
    program.wait(timeout=60)
    # Without a sandbox they stay; there is no event to wait for then.
    left = wait_for(lambda: not alive(marks), 5 if world.confined else 0.2) and [] or alive(marks)
    for mark in left:
        subprocess.run(["pkill", "-KILL", "-fx", f"sleep {mark}"])
    world.confined = True
    if profile == CONTROL:
        result = "control" if started and left else "control failed"
    else:
        result = "not run" if not started else "escaped" if left else "held"
    said = f"{len(left)} of {len(marks)} daemons left" if started else world.output(1)[-500:]
    return {"family": "processes", "attack": name, "profile": profile, "user": world.user, "level": world.level,
            "ran": started, "reached": bool(left), "said": said, "result": result, "note": ""}
