//! Random trees and random edits: the change list is the difference, and applying it gives the tree of the view.

use super::edits::{Edit, NAMESPACE, make_by_hand, make_in_overlay};
use super::help::{Run, TreeMap, read_tree};
use capsid_engine::tree::apply::{ConflictKind, apply, finish, plan, undo};
use capsid_engine::tree::names::{self, Name};
use capsid_testkit::rounds::{rounds, seeded_rng};
use capsid_testkit::test_repo::TestRepo;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn random_repo(random: &mut fastrand::Rng) -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "built/\n*.o\n");
    repo.write("kept.o", "tracked although ignored\n");
    repo.write("nested/.gitignore", "*.tmp\n");
    repo.git(&["init", "-q", "nested"]);
    repo.git(&["add", "-f", "kept.o"]);
    let edit = |random: &mut fastrand::Rng| Edit::random(random).make(repo.path());
    (0..random.usize(..25)).for_each(|_| edit(random));
    repo.git(&["add", "-A", "--", ".", ":!nested"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    (0..random.usize(..6)).for_each(|_| edit(random));
    repo
}

/// What git itself says is ignored, in the repository and in the one inside it.
fn ignored_names(repo: &TestRepo, all: &BTreeSet<Name>) -> BTreeSet<Name> {
    let ask = |folder: &Path, list: Vec<Name>| {
        let mut child = Command::new("git")
            .current_dir(folder)
            .args(["check-ignore", "-z", "--stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&names::join(&list)).unwrap();
        let output = child.wait_with_output().unwrap().stdout;
        names::split(&output).map(<[u8]>::to_vec).collect::<Vec<Name>>()
    };
    let is_nested = |name: &Name| name.starts_with(b"nested/") && repo.file("nested/.git").exists();
    let (inner, outer): (Vec<Name>, Vec<Name>) = all.iter().cloned().partition(is_nested);
    let mut ignored: BTreeSet<Name> = ask(repo.path(), outer).into_iter().collect();
    if !inner.is_empty() {
        let inner = inner.iter().map(|name| name["nested/".len()..].to_vec()).collect();
        let inner = ask(&repo.file("nested"), inner);
        ignored.extend(inner.iter().map(|name| names::below(b"nested", name)));
    }
    ignored
}

fn difference(before: &TreeMap, after: &TreeMap) -> BTreeSet<Name> {
    let all: BTreeSet<Name> = before.keys().chain(after.keys()).cloned().collect();
    all.into_iter().filter(|name| before.get(name) != after.get(name)).collect()
}

#[test]
fn the_change_list_is_the_difference_and_applying_it_gives_the_tree_of_the_view() {
    let mut random = seeded_rng();
    if let Err(why) = NAMESPACE.as_ref() {
        println!("upper layers are made by hand, because no overlay can be mounted here: {why}");
    }
    let mut changes = 0;
    for round in 0..rounds(10, 1_000) {
        let seed = random.u64(..);
        println!("round {round}, seed {seed}");
        changes += check_round(&mut fastrand::Rng::with_seed(seed));
    }
    assert!(changes > 0, "no round changed anything");
}

fn check_round(random: &mut fastrand::Rng) -> usize {
    let run = Run::start(random_repo(random));
    let before = read_tree(run.root());
    let edits: Vec<Edit> = (0..random.usize(1..15)).map(|_| Edit::random(random)).collect();
    let upper = run.upper();
    let after = match NAMESPACE.is_ok() {
        true => make_in_overlay(run.root(), &[run.root()], run.folder(), Some(&upper), &edits),
        false => make_by_hand(run.root(), run.folder(), &upper, &edits),
    };
    assert_eq!(read_tree(run.root()), before, "the view left the tree alone");
    let all: BTreeSet<Name> = before.keys().chain(after.keys()).cloned().collect();
    let ignored = ignored_names(&run.repo, &all);
    let expected: BTreeSet<Name> =
        difference(&before, &after).into_iter().filter(|name| !ignored.contains(name)).collect();
    let listing = run.list();
    let refused: BTreeSet<Name> = listing.violations.iter().map(|violation| violation.name.clone()).collect();
    let listed: BTreeSet<Name> =
        listing.changed.iter().map(|path| path.name.clone()).chain(refused.clone()).collect();
    assert_eq!(listed, expected, "{edits:?}");

    let mut layer = run.freeze(&listing);
    if refused.is_empty() && NAMESPACE.is_ok() {
        let seen = make_in_overlay(run.root(), &[&layer.folder, run.root()], run.folder(), None, &[]);
        let differs = difference(&seen, &after).into_iter().find(|name| !ignored.contains(name));
        assert_eq!(differs, None, "the frozen layer shows the change: {edits:?}");
    }
    let plan = plan(&mut layer, &run.base).unwrap();
    if !plan.conflicts.is_empty() {
        // A link that is refused, or an ignored file, stays in a directory that the change replaces.
        assert!(plan.conflicts.iter().all(|conflict| conflict.kind == ConflictKind::Blocked), "{plan:?}");
        assert_eq!(read_tree(run.root()), before);
        return 0;
    }
    let outcome = apply(run.folder(), run.root(), &plan).unwrap();
    assert!(outcome.is_complete() && outcome.late_edits.is_empty(), "{outcome:?} {edits:?}");
    finish(run.folder()).unwrap();
    let mut wanted = before.clone();
    for name in expected.difference(&refused) {
        match after.get(name) {
            Some(file) => drop(wanted.insert(name.clone(), file.clone())),
            None => drop(wanted.remove(name)),
        }
    }
    assert_eq!(difference(&read_tree(run.root()), &wanted), BTreeSet::new(), "{edits:?}");

    let undone = undo(run.folder(), run.root()).unwrap();
    assert!(undone.is_complete(), "{undone:?}");
    assert_eq!(difference(&read_tree(run.root()), &before), BTreeSet::new(), "undo: {edits:?}");
    outcome.applied.len()
}
