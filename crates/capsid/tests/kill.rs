//! kill -9 at any moment of a cycle leaves the tree untouched or with the whole change, and loses no acknowledged record.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it 200 rounds.
#![cfg(unix)]

use crate::common::program;
use capsid_engine::files::phase::{TRACE_VARIABLE, WRITING};
use capsid_model::{Object, Value};
use capsid_testkit::kill::{KillOutcome, kill_in_phase, wait_until_quiet};
use capsid_testkit::program::{ProgramOutput, TestProgram};
use capsid_testkit::rounds::{rounds, seed};
use capsid_testkit::store;
use capsid_testkit::test_repo::TestRepo;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Rounds in one copy of the repository; more would bring the history rules into play, which is not the point here.
const ROUNDS_A_WORLD: usize = 3;

/// How often a phase that no round hit is tried again.
const TRIES: usize = 100;

/// An agent that changes the user's own files too; `bad` makes the validation fail.
const AGENT: &str = "#!/bin/sh
cat > /dev/null
echo \"$1\" > state.txt
echo \"$1\" >> user.txt
echo \"$1\" > notes.txt
rm -f tracked.txt
mkdir -p made/deep
echo \"$1\" > made/deep/file
";

/// Where the engine writes.
const FOLDERS: [&str; 4] =
    ["assets/gep", "memory/evolution", "memory/evolution/runs", "memory/evolution/patches"];

/// A repository with work of every kind under way and one finished cycle, and how long that took.
fn template(program: &TestProgram) -> (TestRepo, Duration) {
    let repo = TestRepo::new();
    repo.script("agent.sh", AGENT);
    repo.write(
        "check.js",
        "process.exit(/^(first|good)/.test(require('fs').readFileSync('state.txt', 'utf8')) ? 0 : 1)\n",
    );
    repo.write("capsid.toml", "[validation]\ncommands = [\"node check.js\"]\n");
    repo.write(".gitignore", "*.log\n");
    for name in ["state.txt", "user.txt", "tracked.txt", "staged.txt"] {
        repo.write(name, "committed\n");
    }
    repo.commit("Begin");
    repo.write("staged.txt", "stashed\n");
    repo.git(&["stash", "-q"]);
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("user.txt", "an edit of mine\n");
    repo.write("notes.txt", "untracked\n");
    repo.write("app.log", "error: TypeError: x is not a function\n");
    store::write_store(
        &repo,
        &[
            store::gene("gene_repair", "repair", &["log_error"], &["node check.js"]),
            store::gene("gene_innovate", "innovate", &["stable_success_plateau"], &["node check.js"]),
        ],
    );
    let begin = Instant::now();
    program.expect(0, &repo, &evolve("first"));
    (repo, begin.elapsed())
}

fn evolve(word: &str) -> Vec<&str> {
    vec!["evolve", "--force", "--no-sessions", "--log", "app.log", "--json", "--agent", "./agent.sh", word]
}

/// One copy of the template, with what the program acknowledged in it.
struct World<'a> {
    program: &'a TestProgram,
    repo: TestRepo,
    acknowledged: BTreeMap<String, Value>,
}

impl<'a> World<'a> {
    fn new(program: &'a TestProgram, template: &TestRepo) -> Self {
        let repo = template.copy();
        // A copy is another repository, and gets a chain of its own.
        std::fs::remove_file(repo.file(".git/capsid/chain")).unwrap();
        program.expect(0, &repo, &["events", "seal"]);
        let acknowledged = all_records(&repo)
            .into_iter()
            .map(|record| (record["id"].as_str().unwrap().to_owned(), record["asset_id"].clone()))
            .collect();
        Self { program, repo, acknowledged }
    }

    /// Kills the program, perhaps the next command too, lets one finish what was begun, and checks after each.
    fn round(&mut self, plan: &Plan) -> KillOutcome {
        let before = self.repo.user_files();
        let changed = self.changed_files(plan);
        let known = store::events(&self.repo).len();
        let word = plan.word();
        let mut command = self.program.command(self.repo.path(), &evolve(&word));
        command.env(TRACE_VARIABLE, "1");
        let killed = kill_in_phase(&mut command, plan.phase, plan.delay);
        wait_until_quiet(self.repo.path());
        self.acknowledge(&killed.stdout);
        self.check_opens();
        if let Some(phase) = plan.again {
            let mut command = self.program.command(self.repo.path(), &["solidify", "--json"]);
            command.env(TRACE_VARIABLE, "1");
            let killed = kill_in_phase(&mut command, phase, plan.delay.min(Duration::from_millis(20)));
            wait_until_quiet(self.repo.path());
            self.acknowledge(&killed.stdout);
            self.check_opens();
        }
        // Whatever the next command is, it takes the lock, and rolls forward what was begun.
        let next: &[&str] = match plan.evolve_next {
            true => &["evolve", "--force", "--no-sessions", "--log", "app.log", "--json"],
            false => &["solidify", "--json"],
        };
        let ran = self.program.run(&self.repo, next);
        self.acknowledge(&ran.stdout);
        self.check_tree(plan, &before, &changed, &ran);
        self.recover();
        self.check_whole();
        self.check_sealed();
        let applied = self.check_tree(plan, &before, &changed, &ran);
        let events = store::events(&self.repo);
        let success = events[known..].iter().any(|event| event["outcome"]["status"] == "success");
        assert_eq!(success, applied, "{plan:?}: the record says what the tree says");
        killed
    }

    /// The files as they are with the whole change of the agent.
    fn changed_files(&self, plan: &Plan) -> BTreeMap<String, String> {
        let after = self.repo.copy();
        let script = after.file("agent.sh");
        let mut agent = std::process::Command::new(script);
        agent.arg(plan.word()).current_dir(after.path()).stdin(std::process::Stdio::null());
        assert!(agent.status().unwrap().success());
        after.user_files()
    }

    /// The tree is untouched, or has the whole change; says which.
    #[track_caller]
    fn check_tree(
        &self,
        plan: &Plan,
        before: &BTreeMap<String, String>,
        changed: &BTreeMap<String, String>,
        ran: &ProgramOutput,
    ) -> bool {
        let after = self.repo.user_files();
        let differs = |other: &BTreeMap<String, String>| -> Vec<String> {
            let names: BTreeSet<&String> = other.keys().chain(after.keys()).collect();
            names.into_iter().filter(|name| other.get(*name) != after.get(*name)).cloned().collect()
        };
        let (untouched, whole) = (differs(before), differs(changed));
        assert!(
            untouched.is_empty() || (whole.is_empty() && !plan.fails),
            "{plan:?}: neither untouched ({untouched:?}) nor whole ({whole:?})\n{ran}"
        );
        whole.is_empty()
    }

    /// Finishes what waits, if anything does: twice is as good as once.
    fn recover(&mut self) {
        for _ in 0..2 {
            let ran = self.program.run(&self.repo, &["solidify", "--json"]);
            let finished = matches!(ran.status, 0 | 1) && ran.code().is_empty();
            assert!(finished || ran.code() == "nothing_pending", "{ran}");
            self.acknowledge(&ran.stdout);
        }
    }

    /// What was printed counts as promised.
    fn acknowledge(&mut self, stdout: &str) {
        let Ok(printed) = stdout.trim().parse::<Value>() else {
            return;
        };
        for part in ["event", "report", "failed_capsule"] {
            if let Some(id) = printed[part]["id"].as_str() {
                self.acknowledged.insert(id.to_owned(), printed[part]["asset_id"].clone());
            }
        }
    }

    /// Right after the kill: nothing is lost, and only the very end of a log may be torn.
    fn check_opens(&self) {
        self.check_not_broken();
        for folder in FOLDERS {
            for entry in std::fs::read_dir(self.repo.file(folder)).into_iter().flatten() {
                let path = entry.unwrap().path();
                let read = || std::fs::read_to_string(&path).unwrap();
                match path.extension().and_then(|e| e.to_str()) {
                    Some("json") => {
                        let text = read();
                        assert!(text.parse::<Value>().is_ok(), "{}: {text}", path.display());
                    }
                    Some("jsonl") => {
                        let text = read();
                        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
                        for line in whole.lines() {
                            store::parse_line(line, &path);
                        }
                    }
                    _ => {}
                }
            }
        }
        self.check_acknowledged();
    }

    fn check_acknowledged(&self) {
        let records = all_records(&self.repo);
        let found: BTreeMap<&str, &Value> =
            records.iter().map(|record| (record["id"].as_str().unwrap(), &record["asset_id"])).collect();
        for (id, asset_id) in &self.acknowledged {
            assert_eq!(found.get(id.as_str()), Some(&asset_id), "{id} was promised");
        }
    }

    /// After the next command: every record verifies and is there once, and events and capsules know each other.
    fn check_whole(&self) {
        self.check_opens();
        let repo = &self.repo;
        for folder in FOLDERS {
            for entry in std::fs::read_dir(repo.file(folder)).unwrap() {
                let name = entry.unwrap().file_name();
                let name = name.to_string_lossy();
                assert!(!name.starts_with(".capsid-"), "{folder}/{name} is left over");
            }
        }
        let log = repo.read("assets/gep/events.jsonl");
        assert!(log.is_empty() || log.ends_with('\n'), "a torn end is left");
        let lists = ["genes", "capsules", "failed_capsules"].map(|name| store::list(repo, name));
        for documents in lists.iter().chain([&store::records(repo)]) {
            let mut ids = BTreeSet::new();
            for document in documents {
                store::assert_verifies(document);
                assert!(ids.insert(document["id"].to_string()), "{} is there twice", document["id"]);
            }
        }
        let events = store::events(repo);
        let runs: BTreeSet<String> = events.iter().map(|event| event["meta"]["run_id"].to_string()).collect();
        assert_eq!(runs.len(), events.len(), "a run is settled once");
        let failures = events.iter().filter(|event| event["outcome"]["status"] == "failed");
        assert_eq!(lists[2].len(), failures.count(), "each failure has its failed capsule");
        let capsules: BTreeSet<String> = lists[1].iter().map(|c| c["id"].to_string()).collect();
        let named: BTreeSet<String> = events
            .iter()
            .map(|event| &event["capsule_id"])
            .filter(|id| id.is_string())
            .map(Value::to_string)
            .collect();
        assert_eq!(capsules, named, "each capsule has its event and each event its capsule");
    }

    /// Every line is sealed or told to be unsealed, and can be sealed then.
    fn check_sealed(&self) {
        let proved = self.check_not_broken();
        let lines = self.repo.read("assets/gep/events.jsonl").lines().count();
        assert_eq!(proved["total"], lines, "{proved}");
        self.program.expect(0, &self.repo, &["events", "seal"]);
        let sealed = self.program.expect(0, &self.repo, &["events", "verify", "--json"]).json();
        assert_eq!((&sealed["verified"], &sealed["accepted"]), (&lines.into(), &capsid_model::json!([])));
    }

    fn check_not_broken(&self) -> Value {
        let proved = self.program.run(&self.repo, &["events", "verify", "--json"]).json();
        assert!(proved["error"].is_null() && proved["change"].is_null(), "{proved}");
        proved
    }
}

fn all_records(repo: &TestRepo) -> Vec<Object> {
    let log = repo.read("assets/gep/events.jsonl");
    let whole = log.rfind('\n').map_or("", |end| &log[..end]);
    let path = repo.file("assets/gep/events.jsonl");
    let mut records: Vec<Object> = whole.lines().map(|line| store::parse_line(line, &path)).collect();
    records.extend(store::list(repo, "failed_capsules"));
    records
}

/// What one round does.
#[derive(Debug)]
struct Plan {
    phase: &'static str,
    delay: Duration,
    /// Whether the change fails its validation.
    fails: bool,
    /// Kill the command that finishes the run as well, in this phase.
    again: Option<&'static str>,
    /// Let `evolve` be the command that finds what was begun.
    evolve_next: bool,
    number: usize,
}

impl Plan {
    /// Half of the kills are aimed at a phase, the others come at any time of a cycle that takes about so long.
    fn new(number: usize, cycle: Duration, chance: &mut fastrand::Rng) -> Self {
        let phase = if number.is_multiple_of(2) { WRITING[(number / 2) % WRITING.len()] } else { WRITING[0] };
        let most = match number % 2 {
            0 => [0, 300, 3_000, 20_000][chance.usize(..4)],
            _ => u64::try_from(cycle.as_micros()).unwrap(),
        };
        Self { delay: Duration::from_micros(chance.u64(0..=most)), ..Self::in_phase(phase, number, chance) }
    }

    fn in_phase(phase: &'static str, number: usize, chance: &mut fastrand::Rng) -> Self {
        Self {
            phase,
            delay: Duration::ZERO,
            fails: match phase {
                "failed_capsules" => true,
                "capsules" => false,
                _ if phase.starts_with("apply_") => false,
                _ => chance.u32(..3) == 0,
            },
            again: (chance.u32(..3) == 0).then(|| WRITING[chance.usize(..WRITING.len())]),
            evolve_next: chance.bool(),
            number,
        }
    }

    fn word(&self) -> String {
        let word = if self.fails { "bad" } else { "good" };
        format!("{word}-{}", self.number)
    }
}

#[test]
fn a_kill_at_any_moment_leaves_the_tree_untouched_or_with_the_whole_change() {
    let (rounds, seed) = (rounds(12, 200), seed());
    let mut chance = fastrand::Rng::with_seed(seed);
    let program = program();
    let (template, cycle) = template(&program);
    let mut world = World::new(&program, &template);
    let mut hits: BTreeMap<String, usize> = BTreeMap::new();
    let (mut done, mut kills, mut tries) = (0, 0, 0);
    loop {
        let missed = WRITING.into_iter().find(|phase| kills >= rounds && !hits.contains_key(*phase));
        if kills >= rounds && (missed.is_none() || tries >= TRIES) {
            break;
        }
        tries += usize::from(missed.is_some());
        let plan = match missed {
            Some(phase) => Plan::in_phase(phase, done, &mut chance),
            None => Plan::new(done, cycle, &mut chance),
        };
        if done % ROUNDS_A_WORLD == 0 {
            world = World::new(&program, &template);
        }
        let killed = world.round(&plan);
        let name = match (killed.status, killed.phase.clone()) {
            (Some(_), _) => "ended before the kill".to_owned(),
            (None, Some(phase)) => phase,
            (None, None) => "before the first phase".to_owned(),
        };
        kills += usize::from(killed.status.is_none());
        *hits.entry(name).or_default() += 1;
        done += 1;
    }
    println!("phases hit by {kills} kills in {done} rounds:");
    for (phase, count) in &hits {
        println!("  {phase:24} {count:4} {}", "#".repeat(*count));
    }
    for phase in WRITING {
        assert!(hits.contains_key(phase), "no kill hit `{phase}`; CAPSID_SEED={seed}");
    }
}
