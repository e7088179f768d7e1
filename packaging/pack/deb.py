"""The Debian package: the program, its completions and man pages, a unit for a hub, and a profile for AppArmor."""

import datetime
import gzip

from .common import ADDRESS, DESCRIPTION, PACKAGING, VERSION, run, source_time, tool

# Debian wants an address of somebody; there is none before the project has one.
MAINTAINER = "The Capsid contributors <capsid@localhost>"


def pack(unpacked, out):
    tree, work = unpacked.tree, unpacked.work
    for source, compressed in [("CHANGELOG.md", "changelog.gz"), ("THIRD-PARTY.txt", "THIRD-PARTY.txt.gz")]:
        (work / compressed).write_bytes(gzip.compress((tree / source).read_bytes(), 9, mtime=0))
    time = datetime.datetime.fromtimestamp(source_time(), datetime.UTC)
    changes = f"capsid ({VERSION}-1) unstable; urgency=medium\n\n  * Version {VERSION}; changelog.gz says what changed.\n\n"
    changes += f" -- {MAINTAINER}  {time:%a, %d %b %Y %H:%M:%S} +0000\n"
    (work / "changelog.Debian.gz").write_bytes(gzip.compress(changes.encode(), 9, mtime=0))
    manuals = ""
    for page in sorted(tree.glob("man/*.1")):
        (work / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
        manuals += f"  - src: {work}/{page.name}.gz\n    dst: /usr/share/man/man1/{page.name}.gz\n"
        manuals += "    file_info: { mode: 0644 }\n"
    text = (PACKAGING / "linux/nfpm.yaml").read_text()
    for word, value in {
        "arch": unpacked.system.debian,
        "version": VERSION,
        "description": DESCRIPTION,
        "homepage": ADDRESS or '""',
        "maintainer": MAINTAINER,
        "time": time.isoformat(),
        "tree": str(tree),
        "work": str(work),
        "linux": str(PACKAGING / "linux"),
        "manuals": manuals,
    }.items():
        text = text.replace("{" + word + "}", value)
    config = work / "nfpm.yaml"
    config.write_text(text)
    path = out / f"capsid_{VERSION}_{unpacked.system.debian}.deb"
    run([tool("nfpm"), "package", "--config", config, "--packager", "deb", "--target", path], capture_output=True)
    return path
