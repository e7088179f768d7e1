"""Runs every test in this folder. A test that raises ends the run."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
EXCLUDED = (HERE / "exclude.txt").read_text().split()

for path in sorted(HERE.glob("test_*.py")):
    if path.name in EXCLUDED:
        continue
    module = importlib.import_module(path.stem)
    for name in [name for name in vars(module) if name.startswith("test_")]:
        getattr(module, name)()
        print(f"ok {path.stem}.{name}", flush=True)
