//! Kills an apply at random moments of every phase, and its recovery as well.

use crate::private_tree::help::{Run, TreeMap, read_tree};
use capsid_engine::files::phase::TRACE_VARIABLE;
use capsid_engine::tree::apply::{PHASES, apply, finish, is_pending, plan, recover};
use capsid_engine::tree::private_tree::{BaseCopies, BaseManifest, ChangeLayer, TreeBase};
use capsid_testkit::kill::kill_in_phase;
use capsid_testkit::rounds::{rounds, seeded_rng};
use capsid_testkit::test_repo::TestRepo;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

const RUN: &str = "CAPSID_TEST_APPLY_RUN";
const ROOT: &str = "CAPSID_TEST_APPLY_ROOT";

#[test]
#[ignore = "other tests start it and kill it"]
fn a_change_is_applied_by_a_program_of_its_own() {
    let (Some(run), Some(root)) = (std::env::var_os(RUN), std::env::var_os(ROOT)) else { return };
    let (run, root) = (PathBuf::from(run), PathBuf::from(root));
    if recover(&run, &root).unwrap().is_none() {
        let manifest = BaseManifest::read(&run.join("base.manifest")).unwrap();
        let base = TreeBase { root: root.clone(), manifest, copies: BaseCopies::open(run.join("base")) };
        let plan = plan(&mut ChangeLayer::read(run.join("change")).unwrap(), &base).unwrap();
        apply(&run, &root, &plan).unwrap();
    }
    finish(&run).unwrap();
}

fn prepare_run(random: &mut fastrand::Rng) -> (Run, TreeMap) {
    let repo = TestRepo::new();
    for file in 0..20 {
        repo.write(&format!("d{}/file{file}", file % 4), format!("old {file}\n"));
    }
    std::os::unix::fs::symlink("d0", repo.file("link")).unwrap();
    repo.commit("first");
    let run = Run::start(repo);
    let mut after = read_tree(run.root());
    for file in 0..20 {
        let name = format!("d{}/file{file}", file % 4);
        match random.u8(..3) {
            0 => {
                run.whiteout(&name);
                after.remove(name.as_bytes());
            }
            1 => {
                let text = format!("new {file}\n");
                run.write_upper(&name, &text);
                after.insert(name.into_bytes(), ('f', false, text.into_bytes()));
            }
            _ => {
                let name = format!("new{}/deep/created{file}", file % 3);
                run.write_upper(&name, "created\n");
                after.insert(name.into_bytes(), ('f', false, b"created\n".to_vec()));
            }
        }
    }
    run.write_upper("link", "a file now\n");
    after.insert(b"link".to_vec(), ('f', false, b"a file now\n".to_vec()));
    run.change();
    (run, after)
}

fn child(run: &Run) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "apply::kill::a_change_is_applied_by_a_program_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(RUN, run.folder())
        .env(ROOT, run.root())
        .env(TRACE_VARIABLE, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn an_apply_that_is_killed_at_any_moment_is_untouched_or_whole() {
    let mut random = seeded_rng();
    let mut hits: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..rounds(3 * PHASES.len(), 600) {
        let (run, after) = prepare_run(&mut random);
        let before = read_tree(run.root());
        let mut wanted = after;
        for attempt in 0..random.usize(1..4) {
            let phase = PHASES[(round + attempt) % PHASES.len()];
            let delay = Duration::from_micros(random.u64(..4_000));
            let outcome = kill_in_phase(&mut child(&run), phase, delay);
            assert!(outcome.status.is_none_or(|status| status == 0), "{}", outcome.stderr);
            *hits.entry(outcome.phase.unwrap_or_default()).or_default() += 1;
            if outcome.status == Some(0) {
                break;
            }
        }
        let begun = is_pending(run.folder()) || run.folder().join("applied.json").exists();
        if !begun {
            assert_eq!(read_tree(run.root()), before, "round {round}: without a journal nothing is touched");
            continue;
        }
        // The user goes on working before the program is started again.
        let edited = random.bool() && is_pending(run.folder());
        if edited {
            run.repo.write("d1/file1", "edited after the crash\n");
            wanted.insert(b"d1/file1".to_vec(), ('f', false, b"edited after the crash\n".to_vec()));
        }
        if let Some(outcome) = recover(run.folder(), run.root()).unwrap() {
            let left = outcome.left_paths();
            assert!(left.is_empty() || edited && left == ["d1/file1"], "round {round}: {outcome:?}");
            finish(run.folder()).unwrap();
        }
        assert_eq!(read_tree(run.root()), wanted, "round {round}");
        assert!(recover(run.folder(), run.root()).unwrap().is_none());
    }
    println!("killed in: {hits:?}");
    assert!(hits.len() > 2, "too few phases were hit: {hits:?}");
}
