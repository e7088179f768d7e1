//! Hooks that fire at once, processes that are killed, checkpoints that are lost: nothing doubles, forks or vanishes.

use crate::store::*;
use capsid_seal::chain::{ChainWriter, checkpoint_of};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const CHAIN: &str = "CAPSID_TEST_CHAIN";
const RANGE: &str = "CAPSID_TEST_RANGE";
const STEP: &str = "CAPSID_TEST_STEP";

fn name(n: usize) -> String {
    format!("item-{n:04}")
}

/// Not a test by itself: the others start it as a process of its own.
#[test]
fn helper_that_appends() {
    let Some(path) = std::env::var_os(CHAIN) else { return };
    let numbers: Vec<usize> =
        std::env::var(RANGE).unwrap().split("..").map(|number| number.parse().unwrap()).collect();
    let step: usize = std::env::var(STEP).unwrap().parse().unwrap();
    let path = Path::new(&path);
    let mut writer = ChainWriter::open(path).unwrap();
    for end in (numbers[0]..numbers[1]).step_by(step).map(|end| (end + step).min(numbers[1])) {
        let items = (numbers[0]..end).map(|n| pending(&name(n), false));
        let result = writer.append(None, items, seal).unwrap();
        writer.write_checkpoint(None, &checkpoint_of(path)).unwrap();
        eprintln!("acknowledged {end} {}", result.total);
    }
}

fn start(path: &Path, range: std::ops::Range<usize>, step: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "chain_under_stress::helper_that_appends", "--nocapture"])
        .env(CHAIN, path)
        .env(RANGE, format!("{}..{}", range.start, range.end))
        .env(STEP, step.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Every name once, in the order in which each writer offered them.
fn complete(path: &Path, expected: impl Iterator<Item = usize>) {
    let names = sound(&all(path, None));
    let unique: HashSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "nothing twice");
    assert_eq!(unique, expected.map(name).collect::<Vec<_>>().iter().collect(), "nothing lost");
}

#[test]
fn processes_that_append_at_once_neither_fork_nor_double() {
    for round in 0..24 {
        let folder = capsid_testkit::disk::tempdir();
        let path = folder.path().join("chains/codex/s.db");
        let count = 2 + round % 5;
        // Each starts when the one before is halfway, so that all overlap with their neighbours.
        let ranges: Vec<_> = (0..count).map(|n| n * 10..n * 10 + 25).collect();
        let children: Vec<Child> =
            ranges.iter().map(|range| start(&path, range.clone(), 1 + round % 7)).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        }
        complete(&path, 0..(count - 1) * 10 + 25);
    }
}

#[test]
fn threads_with_the_same_list_seal_it_once_in_order() {
    for round in 0..24 {
        let folder = capsid_testkit::disk::tempdir();
        let path = folder.path().join("s.db");
        let appended: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let mut writer = ChainWriter::open(&path).unwrap();
                        let items = (0..40).map(|n| pending(&name(n), false));
                        writer.append(None, items, seal).unwrap().appended
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(appended, 40, "round {round}");
        assert_eq!(sound(&all(&path, None)), (0..40).map(name).collect::<Vec<_>>());
    }
}

#[test]
fn a_kill_at_any_moment_loses_nothing_that_was_acknowledged() {
    let mut killed = 0;
    let folder = capsid_testkit::disk::tempdir();
    for round in 0..30_u64 {
        let path = folder.path().join(format!("{round}/s.db"));
        let mut child = start(&path, 0..120, 3);
        let mut stderr_lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut acknowledged = 0;
        for _ in 0..round % 12 {
            if let Some(Ok(line)) = stderr_lines.next() {
                acknowledged = line.split(' ').nth(1).map_or(0, |number| number.parse().unwrap());
            }
        }
        std::thread::sleep(Duration::from_micros(round * 149 % 1700));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let sequences =
            stderr_lines.map_while(Result::ok).filter_map(|line| line.split(' ').nth(1)?.parse().ok());
        acknowledged = sequences.last().unwrap_or(acknowledged);
        if path.exists() {
            let names = sound(&all(&path, None));
            assert!(names.len() >= acknowledged, "round {round}: {} of {acknowledged}", names.len());
            assert_eq!(names, (0..names.len()).map(name).collect::<Vec<_>>(), "round {round}");
        }
        // The next hook finds the same list again.
        let output = start(&path, 0..120, 120).wait_with_output().unwrap();
        assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        complete(&path, 0..120);
    }
    assert!(killed >= 20, "only {killed} were killed while at work");
}

#[test]
fn a_lost_or_garbled_checkpoint_changes_nothing() {
    let folder = capsid_testkit::disk::tempdir();
    let path = folder.path().join("s.db");
    let checkpoint = checkpoint_of(&path);
    let seed = 7;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 1..=30 {
        let mut writer = ChainWriter::open(&path).unwrap();
        let items = (0..round * 3).map(|n| pending(&name(n), false));
        let result = writer.append(None, items, seal).unwrap();
        assert_eq!((result.appended, result.total), (3, round as u64 * 3));
        writer.write_checkpoint(None, &checkpoint).unwrap();
        let text = std::fs::read(&checkpoint).unwrap();
        match random.u32(..5) {
            0 => std::fs::remove_file(&checkpoint).unwrap(),
            1 => std::fs::write(&checkpoint, &text[..random.usize(..text.len())]).unwrap(),
            2 => std::fs::write(&checkpoint, "{\"done\": [\"item-0999\", 3, \"item-0003\"]}").unwrap(),
            3 => std::fs::write(&checkpoint, b"\xff\0\0").unwrap(),
            _ => std::fs::write(&checkpoint, "{\"done\": {}}").unwrap(),
        }
    }
    complete(&path, 0..90);
}
