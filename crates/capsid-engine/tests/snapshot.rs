//! Snapshots, changes and rollback, with real git in scratch repositories.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use capsid_engine::snapshot::{
    ChangeKind, Changes, Patch, PatchForm, Repository, RollbackReport, Scope, Shadow, Snapshot,
    changes, rollback,
};
use capsid_model::{Code, Time};
use capsid_testkit::repo::Repo;
use std::path::Path;

fn shadow_at(path: &Path) -> Shadow {
    let scope = Scope {
        excluded: vec![b"assets/gep".to_vec(), b"memory".to_vec()],
        protected: vec![b".env".to_vec()],
    };
    Shadow::open(&Repository::open(path).unwrap(), scope).unwrap()
}

fn take(repo: &Repo, since: Option<&Snapshot>) -> Snapshot {
    shadow_at(repo.path()).take(Time(1), since).unwrap()
}

/// Runs `cycle` between two snapshots and gives both, after they went through JSON.
fn around(repo: &Repo, cycle: impl FnOnce(&Repo)) -> (Snapshot, Snapshot) {
    let before = take(repo, None);
    let before = Snapshot::read(&before.to_value()).unwrap();
    cycle(repo);
    let after = take(repo, Some(&before));
    (before, Snapshot::read(&after.to_value()).unwrap())
}

fn changes_by(repo: &Repo, cycle: impl FnOnce(&Repo)) -> Changes {
    let (before, after) = around(repo, cycle);
    changes(&shadow_at(repo.path()), &before, &after).unwrap()
}

fn undo(repo: &Repo, before: &Snapshot, rejected: &Snapshot) -> RollbackReport {
    rollback(&shadow_at(repo.path()), before, rejected).unwrap()
}

/// Runs a cycle, rolls it back, and demands that everything is exactly as it was.
fn assert_undone(repo: &Repo, cycle: impl FnOnce(&Repo)) -> RollbackReport {
    let print = repo.fingerprint();
    let (before, rejected) = around(repo, cycle);
    let report = undo(repo, &before, &rejected);
    assert_eq!(repo.fingerprint(), print, "{report:?}");
    let again = undo(repo, &before, &rejected);
    assert_eq!(
        (again.restored.len(), again.removed.len()),
        (0, 0),
        "a second rollback has nothing to do"
    );
    assert_eq!(repo.fingerprint(), print);
    report
}

fn paths(changes: &Changes) -> Vec<(&str, ChangeKind)> {
    let mut list: Vec<_> = changes
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.kind))
        .collect();
    list.sort_by_key(|(path, _)| *path);
    list
}

fn remove(repo: &Repo, name: &str) {
    let path = repo.file(name);
    if path.is_dir() && !path.is_symlink() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

fn link(repo: &Repo, target: &str, name: &str) {
    let _ = std::fs::remove_file(repo.file(name));
    std::os::unix::fs::symlink(target, repo.file(name)).unwrap();
}

fn set_mode(repo: &Repo, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(repo.file(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A repository with one of everything that a user may have in progress.
fn busy_repo() -> Repo {
    let repo = Repo::new();
    repo.write(".gitignore", "target/\n*.o\n.env\nignored-but-tracked\n");
    repo.write("src/main.rs", "fn main() {}\n");
    repo.write("src/lib.rs", "one\ntwo\nthree\n");
    repo.write("docs/read me.md", "# Read me\n");
    repo.write("docs/ünï \"q\".md", "quoted\n");
    repo.write("line\nbreak", "odd\n");
    repo.script("run.sh", "#!/bin/sh\n");
    repo.write("data.bin", [0, 1, 2, 255]);
    link(&repo, "src/main.rs", "link");
    repo.commit("first");
    repo.write("ignored-but-tracked", "tracked\n");
    repo.git(&["add", "-f", "ignored-but-tracked"]);
    repo.git(&["commit", "-q", "-m", "second"]);
    repo.write("stashed.txt", "stash me\n");
    repo.git(&["stash", "push", "-u", "-q", "-m", "mine"]);
    repo.write("src/lib.rs", "one\nstaged\nthree\n");
    repo.git(&["add", "src/lib.rs"]);
    repo.write("src/lib.rs", "one\nstaged\nunstaged\n");
    repo.write("untracked.txt", "mine\n");
    repo.write("notes/deep/untracked.md", "mine too\n");
    repo.write("target/debug/out.bin", "built");
    repo.write("src/main.o", "object");
    repo.write(".env", "SECRET=1\n");
    set_mode(&repo, ".env", 0o600);
    std::fs::create_dir_all(repo.file("empty/inner")).unwrap();
    repo
}

#[test]
fn a_folder_outside_any_repository_is_told_to_be_initialised() {
    let dir = tempfile::tempdir().unwrap();
    let problem = Repository::open(dir.path()).unwrap_err();
    assert_eq!(problem.code, Code::NotAGitRepository);
    assert!(problem.fix.unwrap().contains("git init"));
}

#[test]
fn a_snapshot_changes_nothing_of_the_user() {
    let repo = busy_repo();
    let print = repo.fingerprint();
    let first = take(&repo, None);
    let second = take(&repo, Some(&first));
    assert_eq!(first, second);
    assert_eq!(repo.fingerprint(), print);
    let top: Vec<_> = std::fs::read_dir(repo.file(".git/capsid"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(top.len(), 2, "{top:?}");
}

#[test]
fn edits_of_the_user_before_the_cycle_are_not_counted() {
    let repo = busy_repo();
    let found = changes_by(&repo, |repo| {
        repo.write("src/lib.rs", "one\nstaged\nunstaged\nfour\n");
        repo.write("new.py", "a\nb\n");
    });
    assert_eq!(
        paths(&found),
        [
            ("new.py", ChangeKind::Added),
            ("src/lib.rs", ChangeKind::Modified)
        ]
    );
    let blast = found.blast();
    assert_eq!((blast.files, blast.lines), (2, 3));
}

#[test]
fn defect_10_every_language_counts() {
    let repo = Repo::new();
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
    let repo = Repo::new();
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
}

#[test]
fn a_cycle_cannot_hide_its_files_behind_its_own_ignore_rule() {
    let repo = busy_repo();
    let cycle = |repo: &Repo| {
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
        [
            ".git/config",
            ".git/hooks/post-commit",
            ".git/hooks/pre-commit",
            ".git/info/exclude"
        ]
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
    for path in ["src/main.rs", "new.txt", "docs", "docs/read me.md"] {
        assert!(
            report.kept.iter().any(|kept| kept == path),
            "{path} {report:?}"
        );
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
    assert_eq!(
        std::fs::read_to_string(outside.path().join("lib.rs")).unwrap(),
        "precious"
    );
}

#[test]
fn a_repository_without_commits_works() {
    let repo = Repo::new();
    repo.write("a.txt", "mine\n");
    repo.write("staged.txt", "mine\n");
    repo.git(&["add", "staged.txt"]);
    assert_eq!(Repository::open(repo.path()).unwrap().head, None);
    assert_undone(&repo, |repo| {
        repo.write("a.txt", "agent\n");
        repo.write("b.txt", "agent\n");
        remove(repo, "staged.txt");
    });
}

#[test]
fn an_empty_repository_works() {
    let repo = Repo::new();
    assert_undone(&repo, |repo| {
        repo.write("x/y/z.txt", "agent\n");
    });
}

#[test]
fn a_linked_worktree_has_its_own_snapshots() {
    let repo = busy_repo();
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().join("wt");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        tree.to_str().unwrap(),
        "-b",
        "side",
    ]);
    std::fs::write(tree.join("src/lib.rs"), "user\n").unwrap();
    let print = repo.fingerprint();
    let shadow = shadow_at(&tree);
    let before = shadow.take(Time(1), None).unwrap();
    std::fs::write(tree.join("src/lib.rs"), "agent\n").unwrap();
    std::fs::write(tree.join("new"), "agent\n").unwrap();
    let rejected = shadow.take(Time(2), Some(&before)).unwrap();
    let found = changes(&shadow, &before, &rejected).unwrap();
    assert_eq!(
        paths(&found),
        [
            ("new", ChangeKind::Added),
            ("src/lib.rs", ChangeKind::Modified)
        ]
    );
    assert!(rollback(&shadow, &before, &rejected).unwrap().is_complete());
    assert_eq!(
        std::fs::read_to_string(tree.join("src/lib.rs")).unwrap(),
        "user\n"
    );
    assert!(!tree.join("new").exists());
    assert_eq!(repo.fingerprint(), print);
}

fn with_submodule() -> (Repo, Repo) {
    let library = Repo::new();
    library.write("lib.c", "int x;\n");
    library.write("inner/deep.c", "int y;\n");
    library.commit("library");
    let repo = busy_repo();
    let url = library.path().to_str().unwrap().to_owned();
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &url,
        "vendor/lib",
    ]);
    repo.git(&["commit", "-q", "-m", "with a submodule"]);
    repo.write("vendor/lib/lib.c", "int user;\n");
    repo.write("vendor/lib/untracked.c", "mine\n");
    (repo, library)
}

#[test]
fn submodules_are_seen_into_and_restored() {
    let (repo, _library) = with_submodule();
    let cycle = |repo: &Repo| {
        repo.write("vendor/lib/lib.c", "int agent;\nint two;\n");
        repo.write("vendor/lib/new.c", "agent\n");
        remove(repo, "vendor/lib/inner");
    };
    let found = changes_by(&repo, cycle);
    assert_eq!(
        paths(&found),
        [
            ("vendor/lib/inner/deep.c", ChangeKind::Deleted),
            ("vendor/lib/lib.c", ChangeKind::Modified),
            ("vendor/lib/new.c", ChangeKind::Added),
        ]
    );
    repo.write("vendor/lib/lib.c", "int user;\n");
    repo.write("vendor/lib/inner/deep.c", "int y;\n");
    remove(&repo, "vendor/lib/new.c");
    assert_undone(&repo, cycle);
    assert_undone(&repo, |repo| remove(repo, "vendor"));
    assert_undone(&repo, |repo| remove(repo, "vendor/lib/.git"));
    assert_eq!(
        repo.git(&["-C", "vendor/lib", "status", "--porcelain"]),
        " M lib.c\n?? untracked.c\n"
    );
}

#[test]
fn a_commit_inside_a_submodule_is_listed() {
    let (repo, _library) = with_submodule();
    let found = changes_by(&repo, |repo| {
        let id = ["-c", "user.name=a", "-c", "user.email=b"];
        let commit = ["-C", "vendor/lib", "commit", "-qam", "x"];
        repo.git(&[&id[..], &commit].concat());
    });
    assert_eq!(paths(&found), [("vendor/lib", ChangeKind::Modified)]);
}

#[test]
fn a_repository_inside_the_work_tree_is_never_destroyed() {
    let repo = busy_repo();
    repo.git(&["init", "-q", "embedded"]);
    repo.write("embedded/mine.txt", "mine\n");
    assert_undone(&repo, |repo| {
        repo.write("embedded/mine.txt", "agent\n");
        repo.write("embedded/new.txt", "agent\n");
    });
    // Without its git directory its content cannot be known any more; then nothing in it is touched.
    let (before, rejected) = around(&repo, |repo| remove(repo, "embedded/.git"));
    let report = undo(&repo, &before, &rejected);
    assert_eq!(report.kept, ["embedded"]);
    assert_eq!(repo.read("embedded/mine.txt"), "mine\n");
}

#[test]
fn a_folder_that_the_cycle_makes_a_repository_keeps_its_files() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        repo.git(&["init", "-q", "notes"]);
        repo.git(&["init", "-q", "src"]);
        repo.write("src/main.rs", "agent\n");
    });
    let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    assert!(
        found.files.iter().any(|file| file.path == "notes/.git"),
        "{found:?}"
    );
    undo(&repo, &before, &rejected);
    assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
    assert_eq!(repo.read("notes/deep/untracked.md"), "mine too\n");
}

#[test]
fn a_repository_that_the_cycle_clones_is_counted_and_removed() {
    let (repo, library) = with_submodule();
    let cycle = |repo: &Repo| {
        repo.git(&["clone", "-q", library.path().to_str().unwrap(), "cloned"]);
    };
    let (before, rejected) = around(&repo, cycle);
    let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    assert_eq!(
        paths(&found),
        [
            ("cloned/inner/deep.c", ChangeKind::Added),
            ("cloned/lib.c", ChangeKind::Added)
        ]
    );
    undo(&repo, &before, &rejected);
    assert!(!repo.file("cloned/lib.c").exists());
}

#[test]
fn the_engines_own_folders_are_never_touched() {
    let repo = busy_repo();
    repo.write("assets/gep/genes.json", "{}");
    let (before, rejected) = around(&repo, |repo| {
        repo.write("assets/gep/events.jsonl", "{}\n");
        repo.write("memory/evolution/state.json", "{}");
        repo.write("src/main.rs", "agent\n");
    });
    let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    assert_eq!(paths(&found), [("src/main.rs", ChangeKind::Modified)]);
    undo(&repo, &before, &rejected);
    assert_eq!(repo.read("assets/gep/events.jsonl"), "{}\n");
    assert_eq!(repo.read("memory/evolution/state.json"), "{}");
}

#[test]
fn things_that_are_no_files_are_told_and_give_way() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        remove(repo, "run.sh");
        let made = std::process::Command::new("mkfifo")
            .arg(repo.file("run.sh"))
            .status();
        assert!(made.unwrap().success());
        repo.write(".GIT/config", "sly");
    });
    let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    assert_eq!(
        paths(&found),
        [
            (".GIT/config", ChangeKind::Added),
            ("run.sh", ChangeKind::Deleted)
        ]
    );
    undo(&repo, &before, &rejected);
    assert_eq!(repo.read("run.sh"), "#!/bin/sh\n");
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
fn only_files_that_changed_are_read_again() {
    let repo = Repo::new();
    for i in 0..3000 {
        repo.write(&format!("d{}/f{i}.txt", i % 50), format!("file {i}\n"));
    }
    let start = take(&repo, None);
    assert!(objects(&repo) < 100, "the first files are in one pack");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let path = repo.write("d8/f8.txt", "second\n");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(old).unwrap();
    let before = take(&repo, Some(&start));
    // Hashing a file writes its blob, so a blob that stays away was not hashed.
    let blob = |name: &str| {
        let id = repo.git(&["hash-object", name]);
        let (head, tail) = id.trim().split_at(2);
        repo.file(&format!(".git/capsid/shadow/objects/{head}/{tail}"))
    };
    let untouched = blob("d8/f8.txt");
    std::fs::remove_file(&untouched).unwrap();
    repo.write("d7/f7.txt", "changed\n");
    let count = objects(&repo);
    let after = take(&repo, Some(&before));
    assert!(!untouched.exists());
    assert!(blob("d7/f7.txt").exists());
    // One blob, its folder, the root.
    assert_eq!(objects(&repo) - count, 3);
    assert_ne!(before.tree, after.tree);
}

fn objects(repo: &Repo) -> usize {
    let folder = repo.file(".git/capsid/shadow/objects");
    std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().len() == 2)
        .map(|entry| std::fs::read_dir(entry.path()).unwrap().count())
        .sum()
}

#[test]
fn a_lock_left_by_a_killed_process_and_a_damaged_index_stop_nobody() {
    let repo = busy_repo();
    let before = take(&repo, None);
    repo.write(".git/capsid/shadow/index.lock", "");
    repo.write(".git/capsid/shadow/index", "garbage");
    assert_eq!(take(&repo, None), before);
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

#[test]
fn a_tampered_run_state_is_refused() {
    let repo = busy_repo();
    let mut value = take(&repo, None).to_value();
    assert!(Snapshot::read(&value).is_some());
    value["tree"] = "--output=/tmp/x".into();
    assert!(Snapshot::read(&value).is_none());
    let mut value = take(&repo, None).to_value();
    let state = value["guard"]["config"].clone();
    value["guard"]["hooks/../../../x"] = state;
    assert!(Snapshot::read(&value).is_none());
}

#[test]
fn a_sha256_repository_works() {
    let repo = Repo::new();
    remove(&repo, ".git");
    repo.git(&["init", "-q", "--object-format=sha256"]);
    repo.write("a", "mine\n");
    assert_undone(&repo, |repo| {
        repo.write("a", "agent\n");
        repo.write("b", "agent\n");
    });
}

#[test]
fn tidying_forgets_nothing_that_is_needed_next() {
    let repo = busy_repo();
    take(&repo, None);
    shadow_at(repo.path()).tidy().unwrap();
    assert_undone(&repo, |repo| {
        repo.write("src/lib.rs", "agent\n");
    });
}

/// A random edit, of the kind that people and agents make; some fail because of what is there, and that is fine.
fn edit(repo: &Repo, random: &mut fastrand::Rng) {
    let names = [
        "a", "b", "a/x", "a/y/z", "b/x", "ü n", "c/d/e", "c/d", "c", "f\"g",
    ];
    let mut name = || repo.file(names[random.usize(..names.len())]);
    let (path, other) = (name(), name());
    let kind = random.u8(..10);
    let text: String = (0..random.usize(..40))
        .map(|_| ['x', '\n'][random.usize(..2)])
        .collect();
    let folder = path.parent().unwrap();
    match kind {
        0..4 => drop(std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text))),
        4 => drop(std::fs::remove_file(&path)),
        5 => drop(std::fs::remove_dir_all(&path)),
        6 => drop(std::fs::rename(&path, &other)),
        7 => drop(std::os::unix::fs::symlink("/tmp", &path)),
        8 => drop(std::fs::create_dir_all(&path)),
        _ if path.is_file() && !path.is_symlink() => {
            use std::os::unix::fs::PermissionsExt;
            let mode = [0o644, 0o755, 0o600, 0o777][random.usize(..4)];
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        _ => {}
    }
}

#[test]
fn any_cycle_on_any_work_in_progress_is_undone() {
    for round in 0..40 {
        let seed = 7_000 + round;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let repo = Repo::new();
        for _ in 0..random.usize(..12) {
            edit(&repo, &mut random);
        }
        if random.bool() {
            repo.commit("first");
        }
        for _ in 0..random.usize(..8) {
            edit(&repo, &mut random);
        }
        if random.bool() {
            repo.git(&["add", "-A"]);
        }
        for _ in 0..random.usize(..8) {
            edit(&repo, &mut random);
        }
        let report = assert_undone(&repo, |repo| {
            for _ in 0..random.usize(1..20) {
                edit(repo, &mut random);
            }
            if random.bool() {
                repo.git(&["add", "-A"]);
            }
        });
        assert!(report.is_complete(), "{report:?}");
    }
}
