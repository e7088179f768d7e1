//! Whatever an agent does, everything that the user had stays as it was; only a proven change is applied.
//!
//! Thirty things that an agent may do, in cycles that succeed and fail, while the user edits at the same time or not. The
//! user's work tree with ignored and untracked files, git directory and home are compared before and after. `make test`
//! lets the user edit in every second cycle, a soak tries all combinations.
#![cfg(target_os = "linux")]

use capsid_model::Value;
use capsid_model::hash::sha256_hex;
use capsid_testkit::kill::wait_until_quiet;
use capsid_testkit::program::ProgramOutput;
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::rounds::is_soak;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What an agent does besides its change of `state.txt`, and which other files of the tree that changes.
struct Action {
    name: &'static str,
    body: &'static str,
    changes: &'static [&'static str],
}

const fn action(name: &'static str, body: &'static str, changes: &'static [&'static str]) -> Action {
    Action { name, body, changes }
}

/// A change of everything: each file that git does not ignore may be part of it.
const ALL: &[&str] = &[""];

const ACTIONS: [Action; 30] = [
    action("commit", "git add -A; git commit -qm attack", &[]),
    action("stash", "git stash -qu", ALL),
    action("branch", "git branch attack; git branch -D side", &[]),
    action("tag", "git tag -f v1 HEAD; git tag -d v1", &[]),
    action("reset --hard", "git reset -q --hard", ALL),
    action("clean -fdx", "git clean -qfdx -e assets -e memory", ALL),
    action("check out another branch", "git checkout -qf side", ALL),
    action("rebase", "git stash -qu; git rebase -q side", ALL),
    action("delete .git", "rm -rf .git", &[]),
    action("delete .git/objects", "rm -rf .git/objects", &[]),
    action("gc and prune", "git reflog expire --expire=now --all; git gc -q --prune=now", &[]),
    action("delete ignored files", "rm -rf big.cache kept.cache", &[]),
    action("delete untracked files", "rm -rf untracked", &["untracked"]),
    action("edit .git/config", "git config core.fsmonitor /bin/false; git config user.name Attack", &[]),
    action("plant hooks", "echo exit 1 > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", &[]),
    action(
        "edit attributes and exclude",
        "echo '* -text' > .git/info/attributes; echo '*' > .git/info/exclude",
        &[],
    ),
    action(
        "add a submodule",
        "git -c protocol.file.allow=always submodule add ./.git module",
        &["module", ".gitmodules"],
    ),
    action(
        "add a worktree",
        "git worktree add -q ../attack-tree; git worktree add -q inner-tree",
        &["inner-tree"],
    ),
    action("chmod everything", "chmod -R a-w . ; chmod -R u+w .; chmod 777 edited.txt", ALL),
    action("rename folders", "mv folder renamed", &["folder", "renamed"]),
    action("replace files by links", "ln -sf /etc/passwd edited.txt; ln -sf check.js both.txt", ALL),
    action(
        "fill the disk",
        "for n in 1 2 3 4 5 6 7 8; do fallocate -l 32M fill$n.cache; sleep 0.2; done",
        &[],
    ),
    action("fork without end", "for n in $(seq 300); do sleep 100 & done", &[]),
    action("leave daemons", "setsid sleep 100 > /dev/null 2>&1 & nohup sleep 100 > /dev/null 2>&1 &", &[]),
    action("stop itself", "(kill -STOP $$) & sleep 0.1", &[]),
    action("write to the home", "echo attack >> ~/.bashrc; rm -f ~/.profile; mkdir -p ~/.config/attack", &[]),
    action("write to /tmp", "echo attack > /tmp/capsid-safety-table-attack", &[]),
    action(
        "edit the engine's files",
        "echo '{}' > assets/gep/genes.json; rm -f assets/gep/events.jsonl",
        &[],
    ),
    action(
        "run the program inside",
        "$CAPSID_BINARY solidify; $CAPSID_BINARY evolve; $CAPSID_BINARY undo run_1",
        &[],
    ),
    action("crash by a signal", "kill -SEGV $$", &[]),
];

/// The user's machine: a home, and a repository with work of every kind under way.
struct World {
    desk: ProgramRepo,
}

impl World {
    fn new() -> Self {
        let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
        desk.fill_with_work();
        let repo = &desk.repo;
        repo.write("kept.cache", "ignored\n");
        repo.write("folder/file.txt", "in a folder\n");
        repo.git(&["add", "folder"]);
        repo.git(&["tag", "v1"]);
        repo.git(&["branch", "side"]);
        repo.write("capsid.toml", "[agent]\ndisk_mb = 64\n[cycle]\nagent_timeout_seconds = 3\n");
        std::os::unix::fs::symlink("check.js", repo.file("link.js")).unwrap();
        for (name, text) in [(".bashrc", "alias ll='ls -l'\n"), (".profile", "export A=1\n")] {
            std::fs::write(desk.program.home().join(name), text).unwrap();
        }
        Self { desk }
    }

    /// Everything that the user has.
    fn everything(&self) -> BTreeMap<String, String> {
        let mut all = self.desk.repo.user_files();
        hash_folder(self.desk.program.home(), self.desk.program.home(), &mut all);
        let repo = &self.desk.repo;
        all.insert(
            "objects".to_owned(),
            format!("{:?}", repo.try_git(&["fsck", "--full", "--no-dangling"]).status),
        );
        all.insert(
            "reachable".to_owned(),
            sha256_hex(repo.git(&["rev-list", "--objects", "--all"]).as_bytes()),
        );
        for path in ["/tmp/capsid-safety-table-attack".into(), repo.file("../attack-tree")] {
            all.insert(path.display().to_string(), path.exists().to_string());
        }
        all
    }

    /// One cycle; returns what the user had right before the agent's own work, and what came of it.
    fn run(&self, action: &Action, succeeds: bool, edits: bool) -> (BTreeMap<String, String>, ProgramOutput) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let word = if succeeds { "good" } else { "bad" };
        let script = format!(
            "#!/bin/bash\ncat > /dev/null\nexec 3<>/dev/tcp/127.0.0.1/{port}\nread -r _ <&3\nexec 3>&-\n\
             export CAPSID_BINARY={}\necho {word} > state.txt\n{}\necho {word} > state.txt\nexit 0\n",
            env!("CARGO_BIN_EXE_capsid"),
            action.body
        );
        let agent = self.desk.program.home().join("agent.sh");
        std::fs::write(&agent, script).unwrap();
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
        let agent = agent.display().to_string();
        let args = ["evolve", "--no-sessions", "--log", "app.log", "--json", "--agent", &agent];
        let program = self.desk.program.start(&self.desk.repo, &args);
        // The agent is at work as soon as it connects.
        let (mut talk, _) = listener.accept().unwrap();
        if edits {
            self.edit();
        }
        let before = self.everything();
        talk.write_all(b"go\n").unwrap();
        let ran = ProgramOutput::from_output(program.wait_with_output().unwrap());
        wait_until_quiet(self.desk.repo.path());
        (before, ran)
    }

    /// What the user does meanwhile.
    fn edit(&self) {
        let repo = &self.desk.repo;
        repo.write("edited.txt", "edited during the run\n");
        repo.write("mine.txt", "created during the run\n");
        std::fs::remove_file(repo.file("doomed.txt")).unwrap();
        repo.git(&["add", "mine.txt"]);
        repo.git(&["tag", "mine"]);
        repo.write("during.cache", "ignored, made during the run\n");
        std::fs::set_permissions(repo.file("staged.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(self.desk.program.home().join(".profile"), "export A=2\n").unwrap();
    }
}

/// All but the program's own state.
fn hash_folder(home: &Path, folder: &Path, all: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("~/{}", path.strip_prefix(home).unwrap().display());
        if ["~/.local/share/capsid", "~/.quantumpipes", "~/agent.sh"].contains(&name.as_str()) {
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            hash_folder(home, &path, all);
        } else {
            let content = std::fs::read(&path).unwrap_or_default();
            all.insert(name, format!("{:o} {}", meta.permissions().mode(), sha256_hex(&content)));
        }
    }
}

/// The names under which two states differ.
fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

/// Whether a proven change may have this difference: the name of a file in the tree, in quotes.
fn is_changed_by(action: &Action, name: &str) -> bool {
    let Some(path) = name.strip_prefix('"').map(|name| name.trim_end_matches('"')) else { return false };
    // Ignored files are never part of a change.
    let ignored = Path::new(path).extension().is_some_and(|extension| extension == "cache");
    path == "state.txt" || (!ignored && action.changes.iter().any(|changed| path.starts_with(changed)))
}

/// Tries an action in a cycle, and says what came of it.
fn try_action(action: &Action, succeeds: bool, edits: bool) -> String {
    let world = World::new();
    let (before, ran) = world.run(action, succeeds, edits);
    let after = world.everything();
    let different = differences(&before, &after);
    let event: Value = if ran.stdout.trim().is_empty() { Value::Null } else { ran.json()["event"].clone() };
    let applied = event["meta"]["applied"] == true;
    let row = format!(
        "{:28} {:8} {:6} {:8} applied: {}",
        action.name,
        if succeeds { "good" } else { "bad" },
        if edits { "edits" } else { "" },
        event["outcome"]["status"].as_str().unwrap_or(ran.code()),
        event["meta"]["applied"],
    );
    assert!(!applied || succeeds, "{row}\nan unproven change was applied\n{ran}");
    assert!(succeeds || event["outcome"]["status"] == "failed", "{row}\nthis cycle had to fail\n{ran}");
    let wrong: Vec<&String> =
        different.iter().filter(|name| !applied || !is_changed_by(action, name)).collect();
    assert!(wrong.is_empty(), "{row}\n{wrong:?} differ\n{ran}");
    let genes = world.desk.repo.read("assets/gep/genes.json");
    assert!(genes.contains("gene_repair"), "{row}: the genes are gone");
    if edits {
        assert!(world.desk.repo.file("mine.txt").exists(), "{row}");
    }
    row
}

/// Every action once, and with both kinds of users in a soak.
fn try_all(succeeds: bool) -> Vec<String> {
    let mut rows = Vec::new();
    for (number, action) in ACTIONS.iter().enumerate() {
        for edits in [false, true] {
            if is_soak() || edits == ((number + usize::from(succeeds)) % 2 == 0) {
                rows.push(try_action(action, succeeds, edits));
                println!("{}", rows.last().unwrap());
            }
        }
    }
    rows
}

#[test]
fn a_failed_cycle_leaves_everything_that_the_user_had() {
    let rows = try_all(false);
    assert!(rows.iter().all(|row| !row.ends_with("applied: true")));
}

#[test]
fn a_proven_cycle_changes_nothing_but_the_proven_files() {
    let rows = try_all(true);
    let applied = rows.iter().filter(|row| row.ends_with("applied: true")).count();
    assert!(applied >= rows.len() / 3, "only {applied} of {} cycles were applied", rows.len());
}
