//! What counts as a change.

use super::help::*;
use capsid_engine::snapshot::{ChangeKind, Patch, PatchForm, changes};
use capsid_testkit::test_repo::TestRepo;
#[test]
fn edits_of_the_user_before_the_cycle_are_not_counted() {
    let repo = busy_repo();
    let found = changes_by(&repo, |repo| {
        repo.write("src/lib.rs", "one\nstaged\nunstaged\nfour\n");
        repo.write("new.py", "a\nb\n");
    });
    assert_eq!(paths(&found), [("new.py", ChangeKind::Added), ("src/lib.rs", ChangeKind::Modified)]);
    let blast = found.blast();
    assert_eq!((blast.files, blast.lines), (2, 3));
}

#[test]
fn defect_10_every_language_counts() {
    let repo = TestRepo::new();
    let found = changes_by(&repo, |repo| {
        for name in ["a.rs", "b.go", "c.md", "d", "my_capsule.py", "out/e.c"] {
            repo.write(name, "x\n");
        }
    });
    assert_eq!((found.blast().files, found.blast().lines), (6, 6));
}

#[test]
fn a_rename_is_one_file_and_a_binary_has_no_lines() {
    let repo = busy_repo();
    repo.write("long.txt", "line\n".repeat(50));
    let found = changes_by(&repo, |repo| {
        std::fs::create_dir_all(repo.file("moved")).unwrap();
        std::fs::rename(repo.file("long.txt"), repo.file("moved/ü.txt")).unwrap();
        repo.write("data.bin", [9, 0, 8]);
        repo.write("docs/ünï \"q\".md", "quoted\nmore\n");
        repo.write("line\nbreak", "");
        link(repo, "src/lib.rs", "link");
        remove(repo, "run.sh");
        link(repo, "src", "run.sh");
    });
    assert_eq!(
        paths(&found),
        [
            ("data.bin", ChangeKind::Modified),
            ("docs/ünï \"q\".md", ChangeKind::Modified),
            ("line\nbreak", ChangeKind::Modified),
            ("link", ChangeKind::Modified),
            ("moved/ü.txt", ChangeKind::Renamed),
            ("run.sh", ChangeKind::TypeChanged),
        ]
    );
    let by = |path: &str| found.files.iter().find(|file| file.path == path).unwrap();
    assert!(by("data.bin").binary);
    assert_eq!(by("moved/ü.txt").old_path.as_deref(), Some("long.txt"));
    assert_eq!(by("moved/ü.txt").added + by("moved/ü.txt").deleted, 0);
    assert!(by("line\nbreak").emptied);
    assert_eq!(by("docs/ünï \"q\".md").added, 1);
}

#[test]
fn no_attribute_hides_lines_or_bytes() {
    let repo = TestRepo::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    repo.git(&["config", "filter.upper.smudge", "tr A-Z a-z"]);
    repo.write(".gitattributes", "*.txt filter=upper\n*.c text eol=lf\n");
    repo.write("a.txt", "lower\r\n");
    repo.write("b.c", "int\r\n");
    let found = changes_by(&repo, |repo| {
        repo.write(".gitattributes", "* -diff\n");
        repo.write("new.rs", "1\r\n2\r\n");
    });
    assert_eq!(found.blast().lines, 2 + 3);
    assert_undone(&repo, |repo| {
        repo.write("a.txt", "LOWER\n");
        repo.write("b.c", "int\n");
        repo.write(".gitattributes", "* text=auto\n");
    });
}

#[test]
fn a_cycle_cannot_hide_its_files_behind_its_own_ignore_rule() {
    let repo = busy_repo();
    let cycle = |repo: &TestRepo| {
        repo.write(".gitignore", repo.read(".gitignore") + "/sly/\n*.sly\n");
        repo.write("sly/one.rs", "1\n");
        repo.write("sly/deep/two.rs", "2\n");
        repo.write("src/three.sly", "3\n");
        repo.write(":(top).sly", "4\n");
        repo.write("src/made.o", "an object that an old rule ignores");
    };
    let found = changes_by(&repo, cycle);
    assert_eq!(
        paths(&found),
        [
            (".gitignore", ChangeKind::Modified),
            (":(top).sly", ChangeKind::Added),
            ("sly/deep/two.rs", ChangeKind::Added),
            ("sly/one.rs", ChangeKind::Added),
            ("src/three.sly", ChangeKind::Added),
        ]
    );
    for name in ["sly", "src/three.sly", ":(top).sly", "src/made.o"] {
        remove(&repo, name);
    }
    repo.git(&["checkout", "-q", ".gitignore"]);
    repo.write("src/made.o", "");
    assert_undone(&repo, |repo| {
        cycle(repo);
        repo.write("src/made.o", "");
    });
}

#[test]
fn things_that_are_no_files_are_told_and_give_way() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        remove(repo, "run.sh");
        let made = std::process::Command::new("mkfifo").arg(repo.file("run.sh")).status();
        assert!(made.unwrap().success());
        repo.write(".GIT/config", "sly");
    });
    let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    assert_eq!(paths(&found), [(".GIT/config", ChangeKind::Added), ("run.sh", ChangeKind::Deleted)]);
    undo(&repo, &before, &rejected);
    assert_eq!(repo.read("run.sh"), "#!/bin/sh\n");
}

#[test]
fn a_patch_applies_again_and_its_hash_tells_changes_apart() {
    let repo = busy_repo();
    let (before, after) = around(&repo, |repo| {
        repo.write("src/main.rs", "agent\n");
        repo.write("data.bin", [7, 0, 7]);
    });
    let shadow = shadow_at(repo.path());
    let make = |form| Patch::new(&shadow, &before, &after, form).unwrap();
    let readable = make(PatchForm::Readable);
    assert!(readable.text(100_000).contains("+agent"));
    assert!(readable.text(40).ends_with("[TRUNCATED]"));
    assert_eq!(readable.hash(), make(PatchForm::Readable).hash());
    undo(&repo, &before, &after);
    let patch = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(patch.path(), make(PatchForm::Appliable).bytes).unwrap();
    repo.git(&["apply", patch.path().to_str().unwrap()]);
    assert_eq!(take(&repo, Some(&before)).tree, after.tree);
}
