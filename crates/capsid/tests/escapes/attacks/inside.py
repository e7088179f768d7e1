"""Runs the attacks of families inside a sandbox: `inside.py agent|validation|control FAMILY...`.

`inside.py fail` is a validation command that fails, `inside.py change` an agent that does no harm.
"""

import sys

sys.dont_write_bytecode = True

import importlib

import kit


def change():
    with open("state.txt", "w") as file:
        file.write("changed by the agent\n")


profile, *families = sys.argv[1:]
if profile == "fail":
    sys.exit("this change is never proven")
if profile == "change":
    change()
    sys.exit()
facts = kit.load_facts()
modules = [importlib.import_module(family) for family in families]
chosen = [one for one in kit.ATTACKS if one.key(profile) in facts["canaries"]]
# A family may wait for the user, and put back what an attack destroyed for the next one.
for module in modules:
    getattr(module, "begin", lambda facts, profile: None)(facts, profile)
for one in chosen:
    kit.run_attacks([one], profile, facts)
    restore = getattr(sys.modules[one.family], "restore", None)
    if restore and profile != kit.CONTROL:
        restore()
if profile == kit.AGENT:
    change()
