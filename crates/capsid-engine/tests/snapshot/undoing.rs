//! Rolling back.

use super::help::*;
use capsid_engine::snapshot::rollback;
use capsid_model::Time;
#[test]
fn rollback_leaves_everything_as_the_user_had_it() {
    let repo = busy_repo();
    let report = assert_undone(&repo, |repo| {
        repo.write("src/lib.rs", "agent\n");
        repo.write("src/main.rs", "agent\n");
        repo.write("untracked.txt", "agent\n");
        repo.write("notes/deep/untracked.md", "");
        repo.write("made/by/agent.txt", "x");
        repo.write("empty/inner/file", "x");
        repo.write(".env", "SECRET=2\n");
        repo.write("ignored-but-tracked", "agent\n");
        repo.write("docs/ünï \"q\".md", "agent\n");
        remove(repo, "docs/read me.md");
        remove(repo, "line\nbreak");
        remove(repo, "data.bin");
        set_mode(repo, "run.sh", 0o644);
        link(repo, "/etc/passwd", "link");
    });
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.removed, ["empty/inner/file", "made/by/agent.txt"]);
    assert_eq!(report.restored.len(), 12);
}

#[test]
fn defect_8_untracked_and_ignored_work_survives_a_cycle_that_forgot_the_ignore_file() {
    let repo = busy_repo();
    let report = assert_undone(&repo, |repo| {
        remove(repo, ".gitignore");
        repo.write("src/more.rs", "x");
    });
    assert_eq!(report.removed, ["src/more.rs"]);
    assert_eq!(report.restored, [".gitignore"]);
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn empty_folders_and_permissions_come_back() {
    let repo = busy_repo();
    repo.write("secret.key", "k");
    set_mode(&repo, "secret.key", 0o600);
    repo.write("odd.sh", "k");
    set_mode(&repo, "odd.sh", 0o700);
    assert_undone(&repo, |repo| {
        remove(repo, "empty");
        remove(repo, "notes");
        remove(repo, "secret.key");
        set_mode(repo, "odd.sh", 0o755);
        set_mode(repo, ".env", 0o644);
        std::fs::create_dir_all(repo.file("made/empty")).unwrap();
    });
}

#[test]
fn files_folders_and_links_may_take_each_others_place() {
    let repo = busy_repo();
    remove(&repo, "src/main.o");
    assert_undone(&repo, |repo| {
        remove(repo, "src");
        repo.write("src", "a file now");
        remove(repo, "untracked.txt");
        repo.write("untracked.txt/is/a/folder", "x");
        remove(repo, "docs");
        link(repo, "/tmp", "docs");
        remove(repo, "link");
        repo.write("link", "plain");
    });
    // A folder that was replaced and came back in the same cycle is no change at all.
    let found = changes_by(&repo, |repo| {
        let old = repo.read("src/lib.rs");
        std::fs::rename(repo.file("src"), repo.file("aside")).unwrap();
        repo.write("src", "file");
        remove(repo, "src");
        std::fs::rename(repo.file("aside"), repo.file("src")).unwrap();
        repo.write("src/lib.rs", old);
    });
    assert_eq!(paths(&found), []);
}

#[test]
fn staging_hooks_and_configuration_of_the_agent_are_undone() {
    let repo = busy_repo();
    repo.write(".git/hooks/post-commit", "#!/bin/sh\n");
    let (before, after) = around(&repo, |_| {});
    assert_eq!(before.touched(&after), Vec::<String>::new());
    let mut touched = Vec::new();
    assert_undone(&repo, |repo| {
        let before = take(repo, None);
        repo.write("src/main.rs", "agent\n");
        repo.git(&["add", "-A"]);
        repo.script(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
        remove(repo, ".git/hooks/post-commit");
        repo.git(&["config", "core.fsmonitor", "evil"]);
        repo.write(".git/info/exclude", "*\n");
        touched = before.touched(&take(repo, Some(&before)));
    });
    assert_eq!(
        touched,
        [".git/config", ".git/hooks/post-commit", ".git/hooks/pre-commit", ".git/info/exclude"]
    );
}

#[test]
fn a_moved_head_is_told_and_never_moved_back() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        repo.write("src/main.rs", "agent\n");
        repo.git(&["commit", "-q", "-am", "by the agent"]);
    });
    assert_eq!(before.touched(&rejected), [".git/HEAD (moved)"]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    let index = std::fs::read(repo.file(".git/index")).unwrap();
    let report = undo(&repo, &before, &rejected);
    assert_eq!(report.moved_heads, ["."]);
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(std::fs::read(repo.file(".git/index")).unwrap(), index);
    assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
}

#[test]
fn what_the_user_edits_after_the_cycle_is_kept() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        repo.write("src/main.rs", "agent\n");
        repo.write("src/lib.rs", "agent\n");
        repo.write("new.txt", "agent\n");
        repo.write("made/new2.txt", "agent\n");
        remove(repo, "docs");
        repo.write("docs", "a file of the agent");
    });
    repo.write("src/main.rs", "user\n");
    repo.write("new.txt", "user\n");
    repo.write("made/mine.txt", "user\n");
    repo.write("docs", "user\n");
    let report = undo(&repo, &before, &rejected);
    assert_eq!(repo.read("src/main.rs"), "user\n");
    assert_eq!(repo.read("new.txt"), "user\n");
    assert_eq!(repo.read("made/mine.txt"), "user\n");
    assert_eq!(repo.read("docs"), "user\n");
    assert_eq!(repo.read("src/lib.rs"), "one\nstaged\nunstaged\n");
    assert!(!repo.file("made/new2.txt").exists());
    assert!(!report.is_complete());
    let in_the_way = "docs/read me.md (something that is no folder is above it)";
    for path in ["src/main.rs", "new.txt", "docs", in_the_way] {
        assert!(report.kept.iter().any(|kept| kept == path), "{path} {report:?}");
    }
}

#[test]
fn a_link_planted_by_the_cycle_leads_nowhere() {
    let repo = busy_repo();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("lib.rs"), "precious").unwrap();
    let (before, rejected) = around(&repo, |repo| {
        repo.write("src/lib.rs", "agent\n");
    });
    remove(&repo, "src");
    link(&repo, outside.path().to_str().unwrap(), "src");
    let report = undo(&repo, &before, &rejected);
    assert_eq!(report.kept, ["src/lib.rs"]);
    assert_eq!(std::fs::read_to_string(outside.path().join("lib.rs")).unwrap(), "precious");
}

#[test]
fn ignored_files_that_the_cycle_deletes_are_named() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        remove(repo, "target");
        remove(repo, "src/main.o");
    });
    let report = undo(&repo, &before, &rejected);
    assert_eq!(report.lost, ["src/main.o", "target/"]);
}

#[test]
fn a_rollback_that_was_killed_half_way_is_finished_by_the_next() {
    let repo = busy_repo();
    let print = repo.fingerprint();
    let main = repo.read("src/main.rs");
    let (before, rejected) = around(&repo, |repo| {
        repo.write("src/main.rs", "agent\n");
        repo.write("src/lib.rs", "agent\n");
        repo.write("one.txt", "agent\n");
        repo.write("two/three.txt", "agent\n");
        remove(repo, "docs");
    });
    // What the killed one had done, and what it left behind.
    repo.write("src/main.rs", main);
    remove(&repo, "one.txt");
    repo.write(".git/capsid/restore-killed/files/x", "left");
    let report = undo(&repo, &before, &rejected);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(repo.fingerprint(), print);
    shadow_at(repo.path()).tidy().unwrap();
    assert!(!repo.file(".git/capsid/restore-killed").exists());
}

#[test]
fn a_shadow_that_stays_open_sees_the_commit_of_the_agent() {
    let repo = busy_repo();
    let shadow = shadow_at(repo.path());
    let before = shadow.take(Time(1), None).unwrap();
    repo.git(&["commit", "-q", "-m", "by the agent"]);
    let rejected = shadow.take(Time(2), Some(&before)).unwrap();
    assert_eq!(before.touched(&rejected), [".git/HEAD (moved)"]);
    let report = rollback(&shadow, &before, &rejected).unwrap();
    assert_eq!(report.moved_heads, ["."]);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let repo = busy_repo();
    repo.write("locked.txt", "mine\n");
    set_mode(&repo, "locked.txt", 0o000);
    let (before, rejected) = around(&repo, |repo| {
        set_mode(repo, "locked.txt", 0o644);
        repo.write("src/main.rs", "agent\n");
    });
    undo(&repo, &before, &rejected);
    set_mode(&repo, "locked.txt", 0o644);
    assert_eq!(repo.read("locked.txt"), "mine\n");
    assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
}
