//! What is decided before anything is touched.

use crate::private_tree::help::{Run, read_tree};
use capsid_engine::tree::apply::{ConflictKind, apply, finish, is_pending, plan};
use capsid_engine::tree::names;
use capsid_engine::tree::private_tree::ChangeLayer;
use capsid_testkit::test_repo::TestRepo;
use std::os::unix::fs::PermissionsExt;

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "*.o\n");
    repo.write("src/text", TEXT);
    repo.write("src/other", TEXT);
    repo.write("data.bin", [0, 1, 2, 3]);
    repo.write("gone", "gone\n");
    repo.commit("first");
    repo.write("dirty", TEXT);
    repo
}

fn conflicts(run: &Run, layer: &mut ChangeLayer) -> Vec<(String, ConflictKind)> {
    let before = read_tree(run.root());
    let plan = plan(layer, &run.base).unwrap();
    assert!(apply(run.folder(), run.root(), &plan).is_err() && !is_pending(run.folder()));
    assert_eq!(read_tree(run.root()), before, "nothing at all is applied");
    plan.conflicts.iter().map(|conflict| (names::show(&conflict.name), conflict.kind)).collect()
}

#[test]
fn edits_of_other_lines_are_merged_and_validated_again() {
    let run = Run::start(repo());
    run.write_upper("src/text", TEXT.replace('9', "nine"));
    run.write_upper("dirty", TEXT.replace('9', "nine"));
    run.write_upper("src/other", TEXT.replace('9', "nine"));
    let mut layer = run.change();
    run.repo.write("src/text", TEXT.replace('1', "one"));
    run.repo.write("dirty", TEXT.replace('1', "one"));
    let first = plan(&mut layer, &run.base).unwrap();
    let merged: Vec<_> = first.merged.iter().map(|name| names::show(name)).collect();
    assert_eq!(merged, ["dirty", "src/text"]);
    assert!(!first.is_ready());
    let both = TEXT.replace('1', "one").replace('9', "nine");
    assert_eq!(std::fs::read_to_string(layer.folder.join("src/text")).unwrap(), both);
    assert_eq!(std::fs::read_to_string(run.upper().join("src/text")).unwrap(), TEXT.replace('9', "nine"));
    // Another process reads the layer after the second validation.
    let mut layer = ChangeLayer::read(&layer.folder).unwrap();
    let second = plan(&mut layer, &run.base).unwrap();
    assert!(second.is_ready(), "{second:?}");
    let outcome = apply(run.folder(), run.root(), &second).unwrap();
    assert!(outcome.is_complete());
    finish(run.folder()).unwrap();
    assert_eq!(run.repo.read("src/text"), both);
    assert_eq!(run.repo.read("dirty"), both);
    assert_eq!(run.repo.read("src/other"), TEXT.replace('9', "nine"));
    let third = plan(&mut layer, &run.base).unwrap();
    assert_eq!((third.operations.len(), third.already_done.len()), (0, 3));
}

#[test]
fn every_kind_of_conflict_applies_nothing_and_is_named() {
    let run = Run::start(repo());
    run.write_upper("src/text", TEXT.replace('5', "five"));
    run.write_upper("data.bin", [0, 9]);
    run.write_upper("src/other", TEXT.replace('5', "five"));
    run.write_upper("new", "agent\n");
    run.write_upper("below/new", "agent\n");
    run.whiteout("gone");
    let mut layer = run.change();
    run.repo.write("src/text", TEXT.replace('5', "fünf"));
    run.repo.write("data.bin", [0, 8]);
    run.repo.write("new", "user\n");
    run.repo.write("below", "a file of the user's\n");
    run.repo.write("gone", "gone, edited\n");
    std::fs::remove_file(run.repo.file("src/other")).unwrap();
    let mut found = conflicts(&run, &mut layer);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    use ConflictKind::*;
    let expected = [
        ("below/new", Blocked),
        ("data.bin", NotText),
        ("gone", DeletedByChange),
        ("new", BothCreated),
        ("src/other", DeletedHere),
        ("src/text", SameLines),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn a_large_file_that_both_edited_has_no_base() {
    let repo = repo();
    repo.write("large", vec![b'x'; 5 << 20]);
    let run = Run::start(repo);
    run.write_upper("large", "agent\n");
    let mut layer = run.change();
    run.repo.write("large", "user\n");
    assert_eq!(conflicts(&run, &mut layer), [("large".to_owned(), ConflictKind::NoBase)]);
}

#[test]
fn what_the_user_did_himself_is_not_done_again() {
    let run = Run::start(repo());
    run.write_upper("src/text", "same\n");
    run.write_upper("new", "same\n");
    run.write_upper("src/other", "agent\n");
    run.whiteout("gone");
    let mut layer = run.change();
    run.repo.write("src/text", "same\n");
    run.repo.write("new", "same\n");
    std::fs::remove_file(run.repo.file("gone")).unwrap();
    // Saved again without a change: another inode, the same bytes.
    std::fs::remove_file(run.repo.file("src/other")).unwrap();
    run.repo.write("src/other", TEXT);
    let plan = plan(&mut layer, &run.base).unwrap();
    assert_eq!((plan.operations.len(), plan.already_done.len()), (1, 3));
    assert!(apply(run.folder(), run.root(), &plan).unwrap().is_complete());
    assert_eq!(run.repo.read("src/other"), "agent\n");
}

#[test]
fn a_file_that_the_user_put_into_a_deleted_directory_stays() {
    let run = Run::start(repo());
    run.repo.write("src/mine", "mine\n");
    run.repo.write("src/x.o", "ignored\n");
    run.whiteout("src");
    let mut layer = run.change();
    let plan = plan(&mut layer, &run.base).unwrap();
    assert!(plan.is_ready());
    assert!(apply(run.folder(), run.root(), &plan).unwrap().is_complete());
    assert_eq!(run.repo.read("src/mine"), "mine\n");
    assert_eq!(run.repo.read("src/x.o"), "ignored\n");
    assert!(!run.repo.file("src/text").exists());
}

#[test]
fn a_directory_with_files_of_the_user_is_not_replaced_by_a_file() {
    let run = Run::start(repo());
    run.repo.write("src/x.o", "ignored\n");
    run.write_upper("src", "now a file\n");
    let mut layer = run.change();
    assert_eq!(conflicts(&run, &mut layer), [("src".to_owned(), ConflictKind::Blocked)]);
}

#[test]
fn the_executable_bit_is_merged_as_well() {
    let run = Run::start(repo());
    let path = run.write_upper("src/text", TEXT);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut layer = run.change();
    run.repo.write("src/text", TEXT.replace('1', "one"));
    let first = plan(&mut layer, &run.base).unwrap();
    assert_eq!(first.merged.len(), 1);
    let second = plan(&mut layer, &run.base).unwrap();
    assert!(apply(run.folder(), run.root(), &second).unwrap().is_complete());
    let mode = run.repo.file("src/text").metadata().unwrap().permissions().mode();
    assert_eq!((run.repo.read("src/text"), mode & 0o777), (TEXT.replace('1', "one"), 0o755));
}

#[test]
fn a_fifo_in_the_place_of_a_file_blocks_nothing() {
    let run = Run::start(repo());
    run.write_upper("src/text", "agent\n");
    let mut layer = run.change();
    std::fs::remove_file(run.repo.file("src/text")).unwrap();
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, run.repo.file("src/text"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(conflicts(&run, &mut layer), [("src/text".to_owned(), ConflictKind::NotText)]);
}
