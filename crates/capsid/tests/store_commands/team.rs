//! A store that several clones share through git.

use super::*;
use capsid_testkit::program::TestProgram;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository that `init` set up and that everybody clones, and the folder for the clones.
struct Team {
    origin: ProgramRepo,
    folder: tempfile::TempDir,
}

/// A clone of one user, with a home of their own.
struct TeamClone {
    program: TestProgram,
    root: PathBuf,
}

impl Team {
    fn new(with_init: bool) -> Self {
        let origin = desk();
        if with_init {
            good(&origin, &["init"]);
        }
        origin.repo.commit("Set up");
        origin.repo.git(&["config", "receive.denyCurrentBranch", "updateInstead"]);
        Self { origin, folder: tempfile::tempdir().unwrap() }
    }

    fn join(&self, name: &str) -> TeamClone {
        let root = self.folder.path().canonicalize().unwrap().join(name);
        self.origin.repo.git(&["clone", "-q", ".", root.to_str().unwrap()]);
        let clone = TeamClone { program: TestProgram::at(env!("CARGO_BIN_EXE_capsid")), root };
        clone.git(&["config", "user.name", name]);
        clone.git(&["config", "user.email", "test@example.invalid"]);
        clone.git(&["config", "commit.gpgsign", "false"]);
        clone
    }
}

impl TeamClone {
    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").current_dir(&self.root).args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "git {args:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    #[track_caller]
    fn run(&self, status: i32, args: &[&str]) -> ProgramOutput {
        let output = ProgramOutput::from_output(self.program.command(&self.root, args).output().unwrap());
        assert_status(status, &output);
        output
    }

    /// A cycle with an agent that writes a file.
    #[track_caller]
    fn evolve(&self, file: &str) -> ProgramOutput {
        let agent = self.program.home().join("agent.sh");
        std::fs::write(&agent, format!("#!/bin/sh\ncat > /dev/null\necho good > {file}\n")).unwrap();
        make_executable(&agent);
        let agent = agent.display().to_string();
        self.run(0, &["evolve", "--force", "--no-sessions", "--log", "app.log", "--agent", &agent])
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).unwrap()
    }

    fn events(&self) -> Vec<Value> {
        let log = self.read("assets/gep/events.jsonl");
        let records = log.lines().map(|line| line.parse::<Value>().unwrap());
        records.filter(|record| record["type"] == "EvolutionEvent").collect()
    }

    fn verdict(&self, status: i32) -> Value {
        self.run(status, &["events", "verify", "--json"]).json()
    }
}

impl Team {
    /// A clone that outlives the repository it came from.
    fn join_alone(self, name: &str) -> LoneClone {
        let clone = self.join(name);
        LoneClone { clone, _team: self }
    }
}

struct LoneClone {
    clone: TeamClone,
    _team: Team,
}

impl std::ops::Deref for LoneClone {
    type Target = TeamClone;
    fn deref(&self) -> &TeamClone {
        &self.clone
    }
}

impl TeamClone {
    fn commit_all_and_push(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "All"]);
        self.git(&["push", "-q"]);
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn in_a_clone_without_init_evolve_leaves_nothing_of_memory_to_git_add() {
    let ada = Team::new(false).join_alone("ada");
    ada.evolve("state.txt");
    assert!(ada.root.join("memory/evolution").exists());
    let added = ada.git(&["add", "-A", "-n"]);
    assert!(!added.contains("memory") && !added.contains(".lock"), "{added}");
    assert!(added.contains("assets/gep/events.jsonl"), "{added}");
    let exclude = ada.read(".git/info/exclude");
    ada.evolve("other.txt");
    assert_eq!(ada.read(".git/info/exclude"), exclude, "nothing is added twice");
    assert!(!ada.root.join(".gitignore").exists() && !ada.root.join(".gitattributes").exists());
}

#[test]
fn what_the_user_wrote_into_exclude_stays() {
    let ada = Team::new(false).join_alone("ada");
    std::fs::write(ada.root.join(".git/info/exclude"), "*.mine").unwrap();
    ada.evolve("state.txt");
    assert!(ada.read(".git/info/exclude").starts_with("*.mine\n"));
}

/// Two clones that both evolved; the second has pulled what the first pushed.
fn merged() -> (Team, TeamClone, TeamClone) {
    let team = Team::new(true);
    let (ada, bob) = (team.join("ada"), team.join("bob"));
    let ran = ada.evolve("ada.txt");
    assert!(ran.stderr.contains("merge.capsid.driver"), "{ran}");
    assert!(!ada.evolve("ada2.txt").stderr.contains("merge.capsid.driver"));
    ada.commit("Ada evolves");
    ada.git(&["push", "-q"]);
    bob.evolve("bob.txt");
    bob.commit("Bob evolves");
    bob.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    (team, ada, bob)
}

#[test]
fn two_clones_that_both_evolved_merge_without_a_conflict_and_the_log_says_so() {
    let (_team, ada, bob) = merged();
    let events = bob.events();
    assert_eq!(events.len(), 3);
    for list in ["genes", "capsules"] {
        bob.run(0, &["asset", "verify", &format!("assets/gep/{list}.json")]);
    }
    let capsules = bob.run(0, &["capsules", "--json"]).json();
    let theirs = ada.run(0, &["capsules", "--json"]).json();
    assert!(ids(&theirs["capsules"]).iter().all(|id| ids(&capsules["capsules"]).contains(id)));
    assert!(ids(&capsules["capsules"]).len() > ids(&theirs["capsules"]).len());
    let found = bob.verdict(0);
    assert_eq!((&found["valid"], &found["change"]), (&true.into(), &"merged".into()), "{found}");
    assert_eq!(found["heads"].as_array().unwrap().len(), 2);
    assert_eq!(found["broken_at"], Value::Null);
    let text = bob.run(0, &["events", "verify"]).stdout;
    assert!(text.contains("merge of 2 heads"), "{text}");
    let doctor = bob.program.command(&bob.root, &["doctor"]).output().unwrap();
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("merge of 2 heads"));

    bob.run(0, &["events", "seal"]);
    assert_eq!(bob.verdict(0)["unsealed"], 0);

    // The next event follows the newest head and names the other.
    bob.evolve("joined.txt");
    let events = bob.events();
    let joined = events.last().unwrap();
    assert_eq!(joined["parent"], events[0]["id"], "Bob evolved last");
    assert_eq!(joined["meta"]["merge_parents"], json!([events[2]["id"]]), "{events:?}");
    let found = bob.verdict(0);
    assert_eq!((&found["unsealed"], found["heads"].as_array().unwrap().len()), (&0.into(), 1), "{found}");
    let tree = bob.run(0, &["events", "--tree"]).stdout;
    assert!(tree.contains("merges"), "{tree}");
    let id = joined["id"].as_str().unwrap();
    assert!(bob.run(0, &["events", "trace", id]).stdout.contains(id));

    // Ada's own lines now stand after Bob's, where she did not seal them.
    bob.commit("Join");
    bob.git(&["push", "-q"]);
    ada.git(&["pull", "-q", "--ff-only"]);
    let found = ada.verdict(0);
    assert_eq!((&found["valid"], &found["change"]), (&true.into(), &"merged".into()), "{found}");
    ada.evolve("after.txt");
    let found = ada.verdict(0);
    assert_eq!(
        (&found["unsealed"], &found["accepted"][0]["change"]),
        (&0.into(), &"merged".into()),
        "{found}"
    );
    assert!(ada.run(0, &["events", "verify"]).stdout.contains("merged 1 time"));
}

#[test]
fn a_log_that_was_rebased_onto_that_of_another_clone_is_a_merge_too() {
    let team = Team::new(true);
    let (ada, bob) = (team.join("ada"), team.join("bob"));
    ada.evolve("ada.txt");
    ada.commit_all_and_push();
    for file in ["bob.txt", "bob2.txt"] {
        bob.evolve(file);
        bob.commit("Bob evolves");
    }
    bob.git(&["pull", "-q", "--rebase"]);
    let found = bob.verdict(0);
    assert_eq!((&found["change"], &found["unsealed"]), (&"merged".into(), &2.into()), "{found}");
    bob.evolve("joined.txt");
    assert_eq!(bob.verdict(0)["unsealed"], 0);
    // Lines of nobody's commit are no merge.
    let path = bob.root.join("assets/gep/events.jsonl");
    let log = std::fs::read_to_string(&path).unwrap();
    let mut forged = store::event("evt_1", "repair", "gene_repair", &["log_error"], true);
    forged.insert("parent".to_owned(), bob.events()[0]["id"].clone());
    let forged = Value::from(store::stamped(forged.into()));
    std::fs::write(&path, format!("{log}{forged}\n")).unwrap();
    let found = bob.verdict(1);
    assert_eq!((&found["valid"], &found["change"]), (&false.into(), &Value::Null), "{found}");
    // After the first report and its event, where a merge could put it.
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    lines.insert(2, forged.to_string());
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(bob.verdict(1)["change"], "inserted");
    let ran = bob.run(1, &["events", "seal"]);
    assert_eq!(ran.code(), "chain_broken", "{ran}");
}

#[test]
fn a_merged_log_that_was_cut_or_edited_is_still_broken() {
    let (_team, ada, bob) = merged();
    bob.commit_all_and_push();
    ada.git(&["pull", "-q", "--ff-only"]);
    let path = ada.root.join("assets/gep/events.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let edited = whole.replace("\"good", "\"bad").replacen("\"success\"", "\"failed\"", 3);
    for (text, what) in [
        (joined(&lines[..lines.len() - 1]), "cut"),
        (joined(&[&lines[..2], &lines[3..]].concat()), "a line less"),
        (edited, "edited"),
        (joined(&[&lines[1..2], &lines[..1], &lines[2..]].concat()), "reordered"),
    ] {
        std::fs::write(&path, text).unwrap();
        let found = ada.verdict(1);
        assert_eq!(found["valid"], false, "{what}: {found}");
        assert_ne!(found["broken_at"], Value::Null, "{what}: {found}");
    }
    std::fs::write(&path, whole).unwrap();
    ada.verdict(0);
}

#[test]
fn a_gene_that_both_clones_wrote_anew_is_left_as_a_conflict_with_both_versions() {
    let team = Team::new(true);
    let (ada, bob) = (team.join("ada"), team.join("bob"));
    for (clone, text) in [(&ada, "Ask Ada."), (&bob, "Ask Bob.")] {
        clone.run(0, &["genes", "list"]);
        let path = clone.root.join("assets/gep/genes.json");
        let genes = std::fs::read_to_string(&path).unwrap().replacen("Find the cause.", text, 1);
        std::fs::write(&path, genes).unwrap();
        clone.run(0, &["init"]);
        clone.commit("Change a gene");
    }
    ada.git(&["push", "-q"]);
    bob.git(&["fetch", "-q"]);
    let merge = Command::new("git").current_dir(&bob.root).args(["merge", "origin/main"]).output().unwrap();
    assert_eq!(merge.status.code(), Some(1));
    let genes = bob.read("assets/gep/genes.json");
    for text in ["<<<<<<< ours\n", "Ask Bob.", "Ask Ada.", ">>>>>>> theirs\n"] {
        assert!(genes.contains(text), "{genes}");
    }
    assert!(bob.git(&["status", "--short"]).contains("UU assets/gep/genes.json"));
}
