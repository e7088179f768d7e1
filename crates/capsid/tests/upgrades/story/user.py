"""A user of the program: a node's identity, a repository with a store, and a trail of sealed sessions."""

import json
import os
import subprocess

from wire import stamp

CLAUDE_SESSION = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01"
CODEX_SESSION = "019e2f00-1111-7222-8333-444455556666"
TOKEN = "ghp_" + "a1B2" * 9
FOREIGN_KEY = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"

CHECK = "process.exit(require('fs').readFileSync('state.txt', 'utf8').includes('bad') ? 1 : 0)\n"
SETTINGS = '[validation]\ncommands = ["node check.js"]\n\n[cycle]\nsessions = false\n'
GENE = {
    "type": "Gene", "schema_version": "1.5.0", "id": "gene_retry_after_timeout", "category": "repair",
    "signals_match": ["TimeoutError", "timeout", "error"], "summary": "Call again after a timeout and give up in the end.",
    "preconditions": ["the signals name a call that took too long"],
    "strategy": ["Find the call that runs out of time.", "Call again, a bounded number of times."],
    "constraints": {"max_files": 6, "forbidden_paths": [".git", "node_modules"]}, "validation": ["node check.js"],
}
LATE = "error: TimeoutError: upstream did not answer within 5000 ms"


class User:
    def __init__(self, binary, folder, hub):
        self.binary, self.home, self.repo = binary, folder / "home", folder / "shop"
        self.home.mkdir(parents=True)
        self.repo.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "A2A_HUB_URL": hub.url}

    def capsid(self, *words, stdin="", status=0, **env):
        ran = subprocess.run([self.binary, *words], cwd=self.repo, env={**self.env, **env}, input=stdin, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert ran.returncode == status, f"{words}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def git(self, *words):
        dates = {"GIT_AUTHOR_DATE": "2026-11-01T12:00:00Z", "GIT_COMMITTER_DATE": "2026-11-01T12:00:00Z"}
        subprocess.run(["git", *words], cwd=self.repo, env={**self.env, **dates}, check=True, stdout=subprocess.DEVNULL)

    def write(self, name, text):
        (self.repo / name).write_text(text)

    def evolve(self, log, change, *options, **env):
        """A whole cycle whose agent is a line of shell."""
        self.write("app.log", log + "\n")
        agent = ["--agent", "sh", "-c", f"cat > /dev/null; {change}"]
        return self.capsid("evolve", "--log", "app.log", *options, *agent, **env)


def make_repository(user):
    user.git("init", "-q", "-b", "main", "--template=")
    for name, value in [("user.name", "Ada"), ("user.email", "ada@example.org"), ("commit.gpgsign", "false")]:
        user.git("config", name, value)
    user.write("check.js", CHECK)
    user.write("state.txt", "start\n")
    user.write("notes.txt", "committed\n")
    user.write(".gitignore", "app.log\n")
    user.write("capsid.toml", SETTINGS)
    user.capsid("init")
    # A gene of the owner takes the place of the one that the program brings along.
    genes = json.loads((user.repo / "assets/gep/genes.json").read_text())
    genes["genes"] = [gene for gene in genes["genes"] if gene["category"] != "repair"]
    user.write("assets/gep/genes.json", json.dumps(genes, indent=2, ensure_ascii=False) + "\n")
    stamp(GENE)
    user.write("assets/gep/genes.jsonl", json.dumps(GENE) + "\n")
    user.git("add", "-A")
    user.git("commit", "-q", "-m", "Begin")


def join(binary, folder, hub, ann):
    """While the hub runs: registers the node, evolves, publishes, and begins a run that reuses a solution."""
    user = User(binary, folder, hub)
    hello = json.loads(user.capsid("node", "hello", "--name", "Ada's laptop", "--json"))
    hub.post(f"/claim/{hello['claim_code']}", {}, ann)
    user.capsid("node", "heartbeat", "--worker", "on", "--domains", "rust,sql")
    make_repository(user)
    for n in [1, 2]:
        user.evolve(f"{LATE} ({n})", f"echo good {n} > state.txt", "--offline")
    user.evolve("error: TypeError: x is not a function", "echo bad > state.txt", "--offline", status=1)
    user.git("add", "-A")
    user.git("commit", "-q", "-m", "What was learned")
    capsule = json.loads(user.capsid("capsules", "--json"))["capsules"][0]["id"]
    user.capsid("node", "publish", capsule)
    found = json.loads(user.capsid("node", "search", "TimeoutError", "--json"))["results"]
    user.capsid("node", "fetch", found[0]["asset_id"], "--stage")
    user.capsid("node", "sync")
    user.write("app.log", LATE + " again\n")
    user.capsid("evolve", "--log", "app.log", "--force", MEMORY_GRAPH_PROVIDER="remote")
    user.write("state.txt", "good, reused\n")
    return user


def leave(user):
    """After the hub was stopped: what it is to be told waits, and another run is left pending."""
    user.capsid("solidify", MEMORY_GRAPH_PROVIDER="remote")
    user.write("notes.txt", "edited by hand before the run\n")
    user.write("untracked.txt", "never committed\n")
    user.write("app.log", "error: TypeError: y is not a function\n")
    user.capsid("evolve", "--log", "app.log", "--offline", "--force")
    user.capsid("events", "verify")
    seal_sessions(user)


def claude_session():
    def line(step, kind, message, **more):
        return {"type": kind, "uuid": f"00000000-0000-4000-8000-{step:012}", "parentUuid": None, "isSidechain": False,
                "userType": "external", "cwd": "/home/ada/shop", "sessionId": CLAUDE_SESSION, "version": "2.1.40",
                "gitBranch": "main", "timestamp": f"2026-06-01T10:00:{step:02}.000Z", "message": message, **more}

    def agent(step, part):
        return {"id": f"msg_{step}", "model": "claude-opus-4-8", "role": "assistant", "content": [part],
                "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}

    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": f"git push --token {TOKEN}"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok", "is_error": False}
    return [
        line(0, "user", {"role": "user", "content": "Push it, 谢谢"}),
        line(1, "assistant", agent(1, call)),
        line(2, "user", {"role": "user", "content": [result]},
             toolUseResult={"stdout": "ok\n", "stderr": "", "interrupted": False}),
        line(3, "assistant", agent(3, {"type": "text", "text": "It is pushed."})),
    ]


def codex_session():
    def line(kind, payload):
        return {"timestamp": "2026-06-01T10:00:00.000Z", "type": kind, "payload": payload}

    def text(role, kind, said):
        return line("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": said}]})

    arguments = json.dumps({"command": ["make", "test"]})
    return [
        line("session_meta", {"id": CODEX_SESSION, "cwd": "/home/ada/shop", "cli_version": "0.80.0", "originator": "cli"}),
        text("user", "input_text", "Run the tests"),
        line("response_item", {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": "call_1"}),
        line("response_item", {"type": "function_call_output", "call_id": "call_1", "output": "2 passed"}),
        text("assistant", "output_text", "Both tests pass."),
    ]


def seal_sessions(user):
    sessions = [("claude-code", CLAUDE_SESSION, claude_session(), ["--finalize"]), ("codex", CODEX_SESSION, codex_session(), [])]
    for tool, session, lines, options in sessions:
        path = user.home / f"{tool}.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        user.capsid("trail", "seal", "--tool", tool, "--transcript", str(path), "--session", session, *options)
        if tool == "claude-code":
            user.capsid("key", "rotate")
    user.capsid("key", "pin", FOREIGN_KEY)
    ask = ["trail", "disclose", CLAUDE_SESSION, "--seq", "0", "--value", "-", "--json"]
    (user.home / "proof.json").write_text(user.capsid(*ask, stdin=TOKEN))
    user.capsid("trail", "export", "--out", str(user.home / "bundle"))
    user.capsid("archive", "export", str(user.home / "store.gepx"))


def look(user):
    """Writes down what the program shows of all this."""
    commands = [
        ["genes"], ["capsules"], ["capsules", "--failed"], ["events", "--limit", "0"], ["events", "stats"],
        ["events", "verify"], ["explain"], ["node", "publish", "--dry-run"], ["trail", "list"], ["trail", "verify", "--signatures"],
        ["trail", "verify-meta"], ["trail", "inspect", CLAUDE_SESSION], ["trail", "inspect", "codex/" + CODEX_SESSION],
        ["trail", "verify", str(user.home / "bundle"), "--signatures"], ["key", "show"],
        ["recall", "--query", "TimeoutError: upstream did not answer"],
    ]
    return [{"words": words, "answer": json.loads(user.capsid(*words, "--json"))} for words in commands]
