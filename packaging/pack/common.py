"""What every package needs: the version, the time, the address, and the contents of an archive."""

import contextlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
DESCRIPTION = "Agents record what they did, learn from it, prove it and share it."
_WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = _WORKSPACE["version"]
# Empty until the release workflow fills it in.
ADDRESS = _WORKSPACE["repository"]


def stop(text):
    sys.exit(f"pack: {text}")


def source_time():
    """When the sources were made: every package of the same sources has the same bytes."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    # An archive of the sources has the same time in its files.
    return int(answer.stdout) if answer.returncode == 0 else int((ROOT / "Cargo.toml").stat().st_mtime)


def run(command, **options):
    """A program, with the time of the sources for what it writes."""
    variables = dict(os.environ, SOURCE_DATE_EPOCH=str(source_time())) | options.pop("variables", {})
    try:
        return subprocess.run([str(word) for word in command], check=True, env=variables, **options)
    except FileNotFoundError:
        stop(f"`{command[0]}` is missing: run `scripts/setup packages`")
    except subprocess.CalledProcessError as error:
        stop(f"`{command[0]}` ended with status {error.returncode}")


def tool(name):
    """A tool of .github/requirements.txt, where `scripts/setup packages` puts it, or from the PATH."""
    own = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "tools/python/bin" / name
    return own if own.is_file() else name


@dataclass(frozen=True)
class System:
    """What the packagers call one of Rust's targets."""

    wheel: str
    npm_os: str
    cpu: str
    debian: str = ""

    @property
    def npm(self):
        return f"capsid-cli-{self.npm_os}-{self.cpu}"


SYSTEMS = {
    "x86_64-unknown-linux-musl": System("manylinux_2_17_x86_64.musllinux_1_1_x86_64", "linux", "x64", "amd64"),
    "aarch64-unknown-linux-musl": System("manylinux_2_17_aarch64.musllinux_1_1_aarch64", "linux", "arm64", "arm64"),
    "x86_64-apple-darwin": System("macosx_10_12_x86_64", "darwin", "x64"),
    "aarch64-apple-darwin": System("macosx_11_0_arm64", "darwin", "arm64"),
}


@dataclass(frozen=True)
class Unpacked:
    """An archive of a program, unpacked into `tree`; `work` is for what is made from it."""

    target: str
    tree: Path
    work: Path

    @property
    def system(self):
        return SYSTEMS[self.target]

    @property
    def program(self):
        return self.tree / "capsid"


@contextlib.contextmanager
def unpacked(archive):
    match = re.fullmatch(rf"capsid-{re.escape(VERSION)}-(.+)\.tar\.gz", archive.name)
    if not match or match[1] not in SYSTEMS:
        stop(f"`{archive}` is not an archive of version {VERSION} for a known target")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        subprocess.run(["tar", "-C", folder, "-xzf", str(archive)], check=True)
        yield Unpacked(match[1], work / archive.name.removesuffix(".tar.gz"), work)


def archives(folder, is_wanted=lambda system: True):
    """The archives of programs in a folder, for the systems that are wanted."""
    found = [folder / f"capsid-{VERSION}-{target}.tar.gz" for target, system in SYSTEMS.items() if is_wanted(system)]
    found = [path for path in found if path.is_file()]
    if not found:
        stop(f"there is no archive of version {VERSION} in `{folder}`: run `scripts/pack archive` first")
    return found


def tar_entry(name, mode=0o644, kind=tarfile.REGTYPE, size=0, owner=0):
    entry = tarfile.TarInfo(name)
    entry.mode, entry.type, entry.size, entry.mtime = mode, kind, size, source_time()
    entry.uid = entry.gid = owner
    return entry
