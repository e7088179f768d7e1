"""Copies a folder into the fixtures: tree.py SOURCE TARGET

Git keeps neither empty folders nor permissions, and it obeys `.git` and `.gitignore` wherever they are. So a leading dot
of a name becomes `dot-`, and `MODES` lists every folder and file with its permissions.
"""

import shutil
import sys
from pathlib import Path


def stored(path):
    return Path(*("dot-" + part[1:] if part.startswith(".") else part for part in path.parts))


def copy(source, target):
    target.mkdir(parents=True)
    lines = []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        kind = "folder" if path.is_dir() else "file"
        lines.append(f"{path.stat().st_mode & 0o777:o} {kind} {name.as_posix()}\n")
        place = target / stored(name)
        place.mkdir(parents=True, exist_ok=True) if path.is_dir() else shutil.copyfile(path, place)
    (target / "MODES").write_text("".join(lines))


if __name__ == "__main__":
    copy(Path(sys.argv[1]), Path(sys.argv[2]))
