//! The difference and the patch of a change.

use super::help::Run;
use capsid_engine::tree::private_tree::{ChangeDiff, ChangePair};
use capsid_engine::tree::{ChangeKind, PatchForm};
use capsid_testkit::test_repo::TestRepo;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_diff_has_renames_lines_binaries_and_a_patch_that_applies() {
    let repo = TestRepo::new();
    // Neither has a say in a diff.
    repo.write(".gitattributes", "* filter=evil diff=evil -text\n*.txt binary\n");
    repo.git(&["config", "filter.evil.clean", "touch evil"]);
    repo.git(&["config", "filter.evil.smudge", "cat"]);
    repo.write("old name.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    repo.write("emptied", "text\n");
    repo.write("data.bin", [0, 1, 2]);
    repo.write("odd \"n\\me\"\n\u{fc}", "x\n");
    repo.write("gone", "gone\n");
    repo.git(&["-c", "filter.evil.clean=cat", "add", "-A"]);
    repo.git(&["-c", "filter.evil.clean=cat", "commit", "-q", "-m", "first"]);
    repo.write("dirty", "user\n");
    let run = Run::start(repo);
    run.whiteout("old name.txt");
    run.write_upper("new name.txt", "1\n2\n3\n4\n5\n6\n7\nacht\n");
    run.write_upper("emptied", "");
    run.write_upper("data.bin", [0, 9]);
    run.write_upper("odd \"n\\me\"\n\u{fc}", "x\ny\n");
    run.write_upper("dirty", "user\nagent\n");
    run.whiteout("gone");
    std::os::unix::fs::symlink("dirty", run.upper().join("link")).unwrap();
    let layer = run.change();
    let pairs = ChangePair::from_layer(&layer, &run.base).unwrap();
    let diff = ChangeDiff::create(&run.folder().join("diff.git"), &pairs).unwrap();
    let changes = diff.changes().unwrap();
    let seen: Vec<_> = changes
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.kind, file.added, file.deleted, file.binary, file.emptied))
        .collect();
    use ChangeKind::*;
    let expected = [
        ("data.bin", Modified, 0, 0, true, false),
        ("dirty", Modified, 1, 0, false, false),
        ("emptied", Modified, 0, 1, false, true),
        ("gone", Deleted, 0, 1, false, false),
        ("link", Added, 1, 0, false, false),
        ("new name.txt", Renamed, 1, 1, false, false),
        ("odd \"n\\me\"\n\u{fc}", Modified, 1, 0, false, false),
    ];
    assert_eq!(seen, expected);
    assert!(!diff.patch(PatchForm::Readable).unwrap().bytes.is_empty());
    let patch = diff.patch(PatchForm::Appliable).unwrap();
    let mut apply = Command::new("git")
        .current_dir(run.root())
        .args(["-c", "filter.evil.clean=cat", "apply", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    apply.stdin.take().unwrap().write_all(&patch.bytes).unwrap();
    assert!(apply.wait().unwrap().success());
    assert_eq!(run.repo.read("dirty"), "user\nagent\n");
    assert_eq!(run.repo.read("new name.txt"), "1\n2\n3\n4\n5\n6\n7\nacht\n");
    assert!(!run.repo.file("evil").exists(), "no filter ran");
}
