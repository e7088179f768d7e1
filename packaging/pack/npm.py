"""The npm packages: one with the program for each system, and `capsid-cli`, which starts the one that fits."""

import json
import shutil
import tempfile
from pathlib import Path

from .common import ADDRESS, DESCRIPTION, PACKAGING, SYSTEMS, VERSION, run
from .wheel import readme


def pack(unpacked, out):
    """The package of one system."""
    folder = unpacked.work / "npm"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(unpacked.program, folder / "bin" / unpacked.program.name)
    for name in ("LICENSE", "NOTICE", "THIRD-PARTY.txt"):
        shutil.copy(unpacked.tree / name, folder / name)
    system = unpacked.system
    (folder / "README.md").write_text(f"# {system.npm}\n\nThe program of `capsid-cli` for {system.npm_os} on {system.cpu}.\n")
    return write(folder, {"name": system.npm, "os": [system.npm_os], "cpu": [system.cpu], "preferUnplugged": True}, out)


def pack_launcher(out):
    """The package that people install. It names the others, and runs nothing while it is installed."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "npm"
        (folder / "bin").mkdir(parents=True)
        shutil.copy(PACKAGING / "npm/capsid.js", folder / "bin/capsid.js")
        (folder / "bin/capsid.js").chmod(0o755)
        for name in ("LICENSE", "NOTICE"):
            shutil.copy(PACKAGING.parent / name, folder / name)
        (folder / "README.md").write_text(readme("npm install --global capsid-cli"))
        others = {system.npm: VERSION for system in SYSTEMS.values()}
        manifest = {"name": "capsid-cli", "bin": {"capsid": "bin/capsid.js"}, "optionalDependencies": others}
        return write(folder, manifest | {"engines": {"node": ">=18"}}, out)


def write(folder, manifest, out):
    manifest |= {"version": VERSION, "description": DESCRIPTION, "license": "Apache-2.0"}
    if ADDRESS:
        manifest["repository"] = {"type": "git", "url": f"git+{ADDRESS}.git"}
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out], cwd=folder, capture_output=True)
    return out / f"{manifest['name']}-{VERSION}.tgz"
