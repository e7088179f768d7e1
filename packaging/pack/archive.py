"""The archive of a program, from which every other package is made."""

import gzip
import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from .common import ROOT, VERSION, stop, tar_entry

SHELLS = ("bash", "zsh", "fish")


def pack(program, target, out):
    program = Path(program).resolve()
    name = f"capsid-{VERSION}-{target}"
    notices = ROOT / "crates/capsid-web/notices/LICENSES.txt"
    if not notices.is_file():
        stop("the notices are missing: run `scripts/third-party notices` first")
    files = {
        program.name: (program.read_bytes(), 0o755),
        "LICENSE": ((ROOT / "LICENSE").read_bytes(), 0o644),
        "NOTICE": ((ROOT / "NOTICE").read_bytes(), 0o644),
        "CHANGELOG.md": ((ROOT / "CHANGELOG.md").read_bytes(), 0o644),
        "THIRD-PARTY.txt": (notices.read_bytes(), 0o644),
    }
    for shell in SHELLS:
        command = [str(program), "completions", shell]
        files[f"completions/{shell}"] = (subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout, 0o644)
    files |= {f"man/{page.name}": (page.data, 0o644) for page in manual(program)}
    data = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=data, mode="wb", compresslevel=9, mtime=0) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path, (content, mode) in sorted(files.items()):
                tar.addfile(tar_entry(f"{name}/{path}", mode, size=len(content)), io.BytesIO(content))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.tar.gz"
    path.write_bytes(data.getvalue())
    return path


class Page:
    def __init__(self, path):
        self.name, self.data = path.name, path.read_bytes()


def manual(program):
    """The man pages, as `capsid man DIR` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run([str(program), "man", folder], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if answer.returncode == 2:
            print("pack: this program has no command `man`, so the packages have no man pages")
            return []
        if answer.returncode:
            stop(f"`capsid man` failed: {answer.stderr.strip()}")
        return [Page(path) for path in sorted(Path(folder).rglob("*.1"))]
