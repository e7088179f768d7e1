#!/usr/bin/env python3
"""Checks and exports the bug families of `capsid-bench learning`. README.md describes the format.

  make.py check [FAMILY...]              run every case: base, broken, fixed, wrong fix, cheats, recurrences
  make.py logs [FAMILY...]               capture the logs anew and write labels.json
  make.py export DIR FAMILY VARIANT      write one case as a repository with patches and its log
  make.py list                           print the families, their side and their cases

Options: --jobs N runs N families at once (default 2); --no-logs does not compare the logs.
"""

import copy
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMITS = {"rust": 8.0}
VARIANTS = ["renamed", "moved", "values", "other"]
NEAR_MISSES = ["near1", "near2"]
TREES = {"base": "base", "broken": "broken", "fixed": "fixed", "wrong": "wronged"}
CHEATS = ["delete", "skip", "empty", "script", "loosen", "exclude"]


class DataError(Exception):
    """A file of the corpus does not fit the format."""


# Reading


def read_files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def load_family(name):
    with open(HERE / "families" / f"{name}.toml", "rb") as file:
        family = tomllib.load(file)
    if family["name"] != name:
        raise DataError(f"{name}: the name in the file is {family['name']}")
    with open(HERE / "templates" / f"{family['template']}.toml", "rb") as file:
        family["settings"] = tomllib.load(file)
    family["base"] = read_files(HERE / "templates" / family["template"]) | family["files"]
    return family


def family_names():
    return sorted(path.stem for path in (HERE / "families").glob("*.toml"))


def is_held_out(name):
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


def substitute(value, pairs):
    """Replaces plain text in every string of a value, pair after pair."""
    if isinstance(value, str):
        for old, new in pairs:
            value = value.replace(old, new)
        return value
    if isinstance(value, list):
        return [substitute(item, pairs) for item in value]
    if isinstance(value, dict):
        return {substitute(key, pairs): substitute(item, pairs) for key, item in value.items()}
    return value


def apply_edits(files, edits, where):
    """Returns the tree after the edits. A text to find occurs exactly once unless `all` is set."""
    files = dict(files)
    for edit in edits:
        path = edit["path"]
        if edit.get("remove"):
            if files.pop(path, None) is None:
                raise DataError(f"{where}: no file {path}")
        elif "content" in edit:
            files[path] = edit["content"]
        elif "prepend" in edit:
            files[path] = edit["prepend"] + files[path]
        elif "rename" in edit:
            files[edit["rename"]] = files.pop(path)
        else:
            if path not in files:
                raise DataError(f"{where}: no file {path}")
            count = files[path].count(edit["find"])
            if count == 0 or (count > 1 and not edit.get("all")):
                raise DataError(f"{where}: {path}: {edit['find']!r} occurs {count} times")
            files[path] = files[path].replace(edit["find"], edit["replace"])
    return files


def build_case(family, name):
    """Expands one case: its base tree, the broken tree, the fixed tree and the tree of the wrong fix."""
    where = f"{family['name']}-{name}"
    own = {}
    kind = "origin"
    for group in ("variants", "near", "recur"):
        for entry in family.get(group, []):
            if entry["name"] == name:
                own, kind = entry, group
    if name != "origin" and not own:
        entries = [entry for entry in family["settings"].get("recur", []) if entry["name"] == name]
        if not entries:
            raise DataError(f"{where}: no such case")
        own, kind = entries[0], "recur"
    pairs = own.get("replace", [])
    case = {"name": name, "kind": kind, "family": family["name"], "flaky": own.get("flaky", family.get("flaky", False))}
    base = substitute(family["base"], pairs)
    for key in ("check", "test_file", "test_name", "bug", "fix", "wrong", "loosen", "cheats"):
        if key in own:
            case[key] = copy.deepcopy(own[key])
        elif key in family:
            case[key] = substitute(family[key], pairs)
    if "bug" in own and "fix" not in own:
        case.pop("fix", None)
    if "bug" in own and "loosen" not in own:
        case.pop("loosen", None)
    case["unscored_pairs"] = own.get("unscored_pairs", False)
    case["label"] = substitute(family["label"], pairs) | own.get("label", {})
    if kind == "recur":
        marks = [("{shift_file}", family.get("shift_file", case["bug"][0]["path"]))]
        base = apply_edits(base, substitute(own["edits"], marks), where)
    else:
        base |= own.get("files", {})
    case["base"] = base
    case["broken"] = apply_edits(base, case["bug"], f"{where} bug")
    if "fix" in case:
        case["fixed"] = apply_edits(case["broken"], case["fix"], f"{where} fix")
    else:
        case["fixed"] = dict(base)
    case["wronged"] = apply_edits(case["broken"], case["wrong"], f"{where} wrong")
    if case["broken"] == case["wronged"]:
        raise DataError(f"{where}: the wrong fix changes nothing")
    case["cheated"] = {}
    if kind == "recur":
        return case
    for cheat in family["settings"]["cheat"]:
        if cheat["kind"] not in case.get("cheats", CHEATS):
            continue
        marks = [("{test_file}", case["test_file"]), ("{test_base}", Path(case["test_file"]).name)]
        marks += [("{test_stem}", Path(case["test_file"]).stem), ("{test_name}", case.get("test_name", ""))]
        edits = substitute(cheat["edits"], marks)
        command = cheat.get("check", case["check"])
        case["cheated"][cheat["kind"]] = (command, apply_edits(case["broken"], edits, f"{where} {cheat['kind']}"))
    if "loosen" in case and "loosen" in case.get("cheats", CHEATS):
        case["cheated"]["loosen"] = (case["check"], apply_edits(case["broken"], case["loosen"], f"{where} loosen"))
    return case


def case_names(family):
    names = ["origin"] + [entry["name"] for entry in family["variants"] + family["near"]]
    if names[1:] != VARIANTS + NEAR_MISSES:
        raise DataError(f"{family['name']}: the cases are {names}")
    return names


def recur_names(family):
    names = [entry["name"] for entry in family["settings"].get("recur", []) + family.get("recur", [])]
    if names != ["recur1", "recur2", "recur3"]:
        raise DataError(f"{family['name']}: the recurrences are {names}")
    return names


# Running


def write_tree(folder, files):
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)


def sync_tree(folder, old, new):
    """Changes a written tree into another one. What tools made in between stays."""
    for path in old.keys() - new.keys():
        (folder / path).unlink()
    write_tree(folder, {path: text for path, text in new.items() if old.get(path) != text})


def tool_environment(home):
    paths = [str(Path(sys.executable).resolve().parent)]
    rustc = shutil.which("rustc")
    if rustc:
        sysroot = subprocess.run([rustc, "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
        paths.append(f"{sysroot}/bin")
    node = shutil.which("node")
    if node:
        paths.append(str(Path(node).parent))
    paths += ["/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(paths), "HOME": str(home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1", "RUST_BACKTRACE": "0", "CARGO_NET_OFFLINE": "true", "CARGO_INCREMENTAL": "0", "CARGO_BUILD_JOBS": "1",
        "CARGO_TERM_COLOR": "never", "npm_config_update_notifier": "false",
    }


ENVIRONMENT = {}


def run_check(folder, command):
    """Runs a check command as a list of words, without a shell. Returns its exit code, output and seconds."""
    start = time.monotonic()
    done = subprocess.run(
        command.split(), cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=120,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace"), time.monotonic() - start


MASKS = [
    (re.compile(r"^ +Blocking waiting for file lock .*\n", re.M), ""),
    (re.compile(r"duration_ms(:?) [\d.]+"), r"duration_ms\1 1.5"),
    (re.compile(r"\(\d+(\.\d+)?ms\)"), "(1.5ms)"),
    (re.compile(r"(Ran \d+ tests?) in [\d.]+s"), r"\1 in 0.002s"),
    (re.compile(r"finished in [\d.]+s"), "finished in 0.00s"),
    (re.compile(r"target\(s\) in [\d.]+s"), "target(s) in 0.31s"),
    (re.compile(r"(/deps/\w+)-[0-9a-f]{16}"), r"\1-0f3a6c1d2b4e5f70"),
    (re.compile(r"(thread '[^']+') \(\d+\) panicked"), r"\1 (4242) panicked"),
]
TEST_LINE = re.compile(r"^test \S+ \.\.\. \w+$")


def neutralize(text, folder):
    """Removes what differs from run to run and from machine to machine."""
    text = text.replace(str(Path(folder).resolve()), "/home/dev/app").replace(str(folder), "/home/dev/app")
    text = text.replace(str(Path(os.__file__).parent), "/usr/lib/python3.11")
    for pattern, by in MASKS:
        text = pattern.sub(by, text)
    lines, block = [], []
    for line in text.split("\n"):
        if TEST_LINE.match(line):
            block.append(line)
            continue
        lines += sorted(block) + [line]
        block = []
    return "\n".join(lines + sorted(block))


def git(folder, *words, check=True, text=None):
    env = ENVIRONMENT | {
        "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.com", "GIT_COMMITTER_NAME": "Dev",
        "GIT_COMMITTER_EMAIL": "dev@example.com", "GIT_AUTHOR_DATE": "2026-01-05T09:00:00Z",
        "GIT_COMMITTER_DATE": "2026-01-05T09:00:00Z", "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True, input=text)
    if check and done.returncode:
        raise DataError(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout if check else done.returncode


def make_patches(folder, trees):
    """Writes the first tree as a repository and returns the patch from each tree to the next."""
    git(folder, "init", "-q", "-b", "main")
    patches, old = [], {}
    for tree in trees:
        sync_tree(folder, old, tree)
        git(folder, "add", "-A")
        if old:
            patches.append(git(folder, "diff", "--cached", "--no-color"))
        git(folder, "commit", "-q", "--allow-empty", "-m", "state")
        old = tree
    return patches


class Report:
    def __init__(self):
        self.problems, self.runs, self.slowest, self.counts = [], 0, ("", 0.0), {}
        self.fits = {}

    def expect(self, is_right, what):
        if not is_right:
            self.problems.append(what)

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1


def expect_run(report, family, case, folder, command, should_pass, what):
    """Runs a check and reports a wrong outcome. A flaky case is repeated."""
    repeats = 1
    if case["flaky"]:
        repeats = 3 if should_pass else 40
    output = ""
    for _ in range(repeats):
        code, output, seconds = run_check(folder, command)
        report.runs += 1
        if seconds > report.slowest[1]:
            report.slowest = (what, seconds)
        report.expect(seconds < LIMITS.get(family["language"], 2.0), f"{what}: took {seconds:.1f} s")
        if should_pass and code:
            report.problems.append(f"{what}: should pass, but:\n{output}")
            break
        if not should_pass and code:
            return output
    if not should_pass:
        report.problems.append(f"{what}: should fail, but:\n{output}")
    else:
        report.count(what.split(": ")[1])
    return output


def log_path(family, case_name):
    return HERE / "logs" / f"{family['name']}-{case_name}.log"


def handle_log(report, family, case, folder, output, mode):
    log = neutralize(output, folder)
    path = log_path(family, case["name"])
    if mode == "logs":
        path.write_text(log)
    elif mode == "check":
        report.expect(path.exists() and path.read_text() == log, f"{path.name}: differs from what the tool prints now:\n{log}")
    report.expect(case["label"]["message"] in log, f"{path.name}: does not contain {case['label']['message']!r}:\n{log}")
    for word in (tempfile.gettempdir(), str(Path.home()), f"/{HERE.parts[1]}/", os.uname().nodename):
        report.expect(word not in log, f"{path.name}: contains {word}")


def check_case(report, family, name, mode):
    case = build_case(family, name)
    where = f"{family['name']}-{name}"
    report.expect(5 <= len(case["base"]) <= 30, f"{where}: {len(case['base'])} files")
    with tempfile.TemporaryDirectory(prefix="learning-") as folder:
        # The folder has the depth of /home/dev/app, so that no message depends on the length of its name.
        folder = Path(folder)
        write_tree(folder, case["base"])
        if mode != "logs" or name == "origin":
            output = expect_run(report, family, case, folder, case["check"], True, f"{where}: base")
            if name == "origin":
                handle_clean_log(report, family, folder, output, mode)
        sync_tree(folder, case["base"], case["broken"])
        output = expect_run(report, family, case, folder, case["check"], False, f"{where}: broken")
        handle_log(report, family, case, folder, output, mode)
        if name != "origin":
            report.fits[f"{where}.log"] = try_origin_fix(report, family, case, folder)
        if mode == "logs":
            return
        report.count("broken")
        sync_tree(folder, case["broken"], case["fixed"])
        expect_run(report, family, case, folder, case["check"], True, f"{where}: fixed")
        if case["kind"] == "recur":
            return
        sync_tree(folder, case["fixed"], case["wronged"])
        expect_run(report, family, case, folder, case["check"], False, f"{where}: wrong")
        report.count("wrong")
        old = case["wronged"]
        for kind, (command, tree) in case["cheated"].items():
            sync_tree(folder, old, tree)
            expect_run(report, family, case, folder, command, True, f"{where}: cheat {kind}")
            old = tree


def handle_clean_log(report, family, folder, output, mode):
    log = neutralize(output, folder)
    path = log_path(family, "clean")
    if mode == "logs":
        path.write_text(log)
    elif mode == "check":
        report.expect(path.exists() and path.read_text() == log, f"{path.name}: differs from what the tool prints now:\n{log}")


def try_origin_fix(report, family, case, folder):
    """Applies the patch that fixed the origin to another broken tree: does it solve the case, only apply, or neither?"""
    where = f"{family['name']}-{case['name']}"
    if "patch" not in family:
        origin = build_case(family, "origin")
        with tempfile.TemporaryDirectory(prefix="learning-") as scratch:
            family["patch"] = make_patches(Path(scratch), [origin["broken"], origin["fixed"]])[0]
    result = "no"
    if git(folder, "apply", check=False, text=family["patch"]) == 0:
        result = "applies"
    elif git(folder, "apply", "-C1", check=False, text=family["patch"]) == 0:
        result = "applies"
    if result == "applies":
        codes = [run_check(folder, case["check"])[0] for _ in range(3 if case["flaky"] else 1)]
        report.runs += len(codes)
        if not any(codes):
            result = "solves"
    for path in [path for path in folder.rglob("*") if path.is_file() and "target" not in path.parts]:
        if str(path.relative_to(folder)) not in case["broken"]:
            path.unlink()
    write_tree(folder, case["broken"])
    report.count(f"origin fix on {case['kind']}: {result}")
    if case["kind"] == "recur":
        report.expect(result == "solves", f"{where}: the fix of the origin: {result}")
    if case["kind"] == "near":
        report.expect(result != "solves", f"{where}: the fix of the origin solves the near miss")
    return result


def check_family(name, mode):
    report = Report()
    try:
        family = load_family(name)
        for case in case_names(family) + recur_names(family):
            check_case(report, family, case, mode)
    except (DataError, KeyError, tomllib.TOMLDecodeError) as error:
        report.problems.append(f"{name}: {type(error).__name__} {error}")
    return report


# Labels


def message_key(label):
    return (label["family"], label.get("code"), label.get("text", label["message"]))


def exact_key(label):
    location = label.get("test") or (label.get("frame"), label.get("place"))
    return (*message_key(label), location)


def tree_hash(files):
    """A hash by which another reader of the format can compare the trees that it builds."""
    digest = hashlib.sha256()
    for path in sorted(files, key=str.encode):
        digest.update(path.encode() + b"\0" + files[path].encode() + b"\0")
    return digest.hexdigest()[:16]


def make_labels(fits):
    """Derives the label of every log and the relation of every pair."""
    logs = []
    for name in family_names():
        family = load_family(name)
        for case_name in case_names(family) + recur_names(family):
            case = build_case(family, case_name)
            label = case["label"]
            entry = {"file": f"{name}-{case_name}.log", "made": "run", "live": True, "held_out": is_held_out(name)}
            entry |= {"bug_family": name, "case": case_name}
            for key in ("tool", "family", "code", "class", "message"):
                entry[key] = label.get(key)
            entry["text"] = label.get("text", label["message"])
            entry |= {key: label.get(key) for key in ("test", "frame", "place")}
            entry["unscored"] = label.get("unscored")
            entry["near_miss"] = case["kind"] == "near"
            entry["origin_fix"] = fits.get(entry["file"])
            entry["trees"] = {key: tree_hash(case[tree]) for key, tree in TREES.items()}
            entry["trees"] |= {f"cheat-{kind}": tree_hash(tree) for kind, (_, tree) in case["cheated"].items()}
            entry["apart"] = case["unscored_pairs"]
            entry["keys"] = (message_key(label), exact_key(label))
            if case["kind"] == "near" and message_key(label) == message_key(family["label"]):
                raise DataError(f"{name}-{case_name}: a near miss has the message of the origin")
            logs.append(entry)
        logs.append({"file": f"{name}-clean.log", "made": "run", "live": False, "held_out": is_held_out(name), "bug_family": name, "case": "clean"})
    for entry in logs:
        if "keys" not in entry:
            continue
        others = [other for other in logs if "keys" in other and other is not entry]
        apart = [other for other in others if other["bug_family"] == entry["bug_family"] and (other["apart"] or entry["apart"])]
        others = [other for other in others if other not in apart]
        entry["unscored_with"] = [other["file"] for other in apart]
        entry["same_as"] = [other["file"] for other in others if other["keys"][1] == entry["keys"][1]]
        entry["same_message"] = [
            other["file"] for other in others if other["keys"][0] == entry["keys"][0] and other["keys"][1] != entry["keys"][1]
        ]
        entry["differs_from"] = [
            other["file"] for other in others
            if other["bug_family"] == entry["bug_family"] and other["keys"][0] != entry["keys"][0]
        ]
    for entry in logs:
        entry.pop("keys", None)
        entry.pop("apart", None)
        for key in [key for key, value in entry.items() if value in (None, "", [])]:
            del entry[key]
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in logs)
    return '{\n "version": 1,\n "logs": [\n  ' + lines + "\n ]\n}\n"


# Commands


def export(target, name, case_name):
    family = load_family(name)
    case = build_case(family, case_name)
    target = Path(target)
    repo = target / "repo"
    repo.mkdir(parents=True)
    write_tree(repo, case["base"])
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Add the first version")
    states = {"bug": (case["base"], case["broken"]), "fix": (case["broken"], case["fixed"]), "wrong": (case["broken"], case["wronged"])}
    states |= {f"cheat-{kind}": (case["broken"], tree) for kind, (_, tree) in case["cheated"].items()}
    for state, (old, new) in states.items():
        with tempfile.TemporaryDirectory(prefix="learning-") as folder:
            (target / f"{state}.patch").write_text(make_patches(Path(folder), [old, new])[0])
    shutil.copy(log_path(family, case_name), target / "problem.log")
    facts = {"family": name, "case": case_name, "language": family["language"], "check": case["check"]}
    facts |= {"test_file": case["test_file"], "flaky": case["flaky"], "held_out": is_held_out(name), "label": case["label"]}
    facts["cheats"] = {kind: command for kind, (command, _) in case["cheated"].items()}
    (target / "case.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def main(words):
    jobs, mode_logs = 2, True
    if "--jobs" in words:
        at = words.index("--jobs")
        jobs = int(words[at + 1])
        del words[at : at + 2]
    if "--no-logs" in words:
        words.remove("--no-logs")
        mode_logs = False
    command = words[0] if words else ""
    if command == "list":
        for name in family_names():
            family = load_family(name)
            side = "held out" if is_held_out(name) else "open"
            print(f"{name:20} {family['language']:7} {side:9} {family['check']:40} {len(family['base'])} files")
        return 0
    if command == "export" and len(words) == 4:
        ENVIRONMENT.update(tool_environment("/nonexistent"))
        export(*words[1:])
        return 0
    if command not in ("check", "logs"):
        print(__doc__)
        return 2
    mode = command if command == "logs" or mode_logs else "check without logs"
    names = words[1:] or family_names()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="learning-home-") as home:
        ENVIRONMENT.update(tool_environment(home))
        with ThreadPoolExecutor(jobs) as pool:
            reports = list(pool.map(lambda name: check_family(name, mode), names))
    problems = [problem for report in reports for problem in report.problems]
    labels = HERE / "labels.json"
    old = json.loads(labels.read_text())["logs"] if labels.exists() else []
    fits = {entry["file"]: entry["origin_fix"] for entry in old if "origin_fix" in entry}
    for report in reports:
        fits |= report.fits
    if command == "logs" and not problems:
        labels.write_text(make_labels(fits))
    elif command == "check" and not words[1:] and not problems:
        if not labels.exists() or labels.read_text() != make_labels(fits):
            problems.append("labels.json is old; run make.py logs")
        held_out = sum(is_held_out(name) for name in names)
        print(f"{len(names)} families, {held_out} held out")
    counts = {}
    for report in reports:
        for what, number in report.counts.items():
            counts[what] = counts.get(what, 0) + number
    for problem in problems:
        print(f"FAILED {problem[:1500]}")
    print(", ".join(f"{what} {number}" for what, number in sorted(counts.items())))
    slowest = max((report.slowest for report in reports), key=lambda pair: pair[1])
    runs = sum(report.runs for report in reports)
    print(f"{runs} runs in {time.monotonic() - start:.0f} s; slowest {slowest[0]}, {slowest[1]:.1f} s; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
