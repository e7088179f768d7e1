//! Undo of an applied change, and the rollback of files that an agent edited in place.

use crate::private_tree::help::{Run, read_tree};
use capsid_engine::tree::apply::{apply, finish, list_after, plan, restore, undo};
use capsid_engine::tree::names::{self, Name};
use capsid_engine::tree::private_tree::list_in_place;
use capsid_testkit::test_repo::TestRepo;

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("clean", "clean\n");
    repo.write("src/gone", "gone\n");
    repo.write("file", "a file\n");
    repo.script("run.sh", "#!/bin/sh\n");
    repo.commit("first");
    repo.write("dirty", "dirty\n");
    repo
}

#[test]
fn undo_leaves_what_was_edited_after_the_apply() {
    let run = Run::start(repo());
    let before = read_tree(run.root());
    run.write_upper("clean", "agent\n");
    run.write_upper("dirty", "agent\n");
    run.write_upper("new", "agent\n");
    run.write_upper("file/below", "the file became a directory\n");
    run.whiteout("src/gone");
    let plan = plan(&mut run.change(), &run.base).unwrap();
    assert!(apply(run.folder(), run.root(), &plan).unwrap().is_complete());
    finish(run.folder()).unwrap();
    run.repo.write("dirty", "edited after the apply\n");
    let outcome = undo(run.folder(), run.root()).unwrap();
    assert_eq!(outcome.left_paths(), ["dirty"], "{outcome:?}");
    let mut expected = before;
    expected.get_mut(&b"dirty"[..]).unwrap().2 = b"edited after the apply\n".to_vec();
    assert_eq!(read_tree(run.root()), expected);
    let again = undo(run.folder(), run.root()).unwrap();
    assert!(again.applied.is_empty(), "a second undo changes nothing: {again:?}");
    assert_eq!(read_tree(run.root()), expected);
}

#[test]
fn a_change_can_be_applied_again_after_an_undo_and_undone_again() {
    let run = Run::start(repo());
    let mut before = read_tree(run.root());
    run.write_upper("clean", "agent\n");
    let mut layer = run.change();
    for _ in 0..2 {
        let plan = plan(&mut layer, &run.base).unwrap();
        assert!(apply(run.folder(), run.root(), &plan).unwrap().is_complete());
        finish(run.folder()).unwrap();
        assert_eq!(run.repo.read("clean"), "agent\n");
        assert!(undo(run.folder(), run.root()).unwrap().is_complete());
        assert_eq!(read_tree(run.root()), before);
        // The next round must not put back what the first one replaced.
        run.repo.write("dirty", "edited between the rounds\n");
        before = read_tree(run.root());
    }
}

#[test]
fn a_rollback_restores_what_you_choose_and_only_what_is_as_the_run_left_it() {
    let repo = repo();
    repo.write("large", vec![1; 5 << 20]);
    let run = Run::start(repo);
    let before = read_tree(run.root());
    run.repo.write("clean", "agent\n");
    run.repo.write("dirty", "agent\n");
    run.repo.write("large", "agent\n");
    run.repo.write("new/file", "agent\n");
    run.repo.write("run.sh", "agent\n");
    std::fs::remove_file(run.repo.file("src/gone")).unwrap();
    let listing = list_in_place(&run.base).unwrap();
    let changed: Vec<Name> = listing.changed.iter().map(|path| path.name.clone()).collect();
    let after = list_after(run.root(), &changed).unwrap();
    let after = serde_json::from_slice::<Vec<_>>(&serde_json::to_vec(&after).unwrap()).unwrap();
    run.repo.write("run.sh", "edited after the run\n");

    let chosen = [b"dirty".to_vec(), b"unknown".to_vec()];
    let outcome = restore(run.folder(), &run.base, &after, Some(&chosen)).unwrap();
    assert_eq!(outcome.restored, [b"dirty".to_vec()]);
    assert_eq!(outcome.left.len(), 1, "{outcome:?}");
    assert_eq!((run.repo.read("dirty"), run.repo.read("clean")), ("dirty\n".into(), "agent\n".into()));

    let outcome = restore(run.folder(), &run.base, &after, None).unwrap();
    let show = |list: &[Name]| list.iter().map(|name| names::show(name)).collect::<Vec<_>>();
    assert_eq!(show(&outcome.restored), ["clean", "dirty", "new/file", "src/gone"]);
    let left: Vec<_> = outcome.left.iter().map(|file| names::show(&file.name)).collect();
    assert_eq!(left, ["large", "run.sh"]);
    let mut expected = before;
    expected.insert(b"large".to_vec(), ('f', false, b"agent\n".to_vec()));
    expected.insert(b"run.sh".to_vec(), ('f', true, b"edited after the run\n".to_vec()));
    assert_eq!(read_tree(run.root()), expected);
    assert!(!run.repo.file("new").exists());
}
