//! What the tests of snapshots share.

use capsid_engine::snapshot::{
    ChangeKind, Changes, Repository, RollbackReport, Scope, Shadow, Snapshot, changes, rollback,
};
use capsid_model::Time;
use capsid_testkit::test_repo::TestRepo;
use std::path::Path;

pub fn shadow_at(path: &Path) -> Shadow {
    let scope = Scope {
        excluded: vec![b"assets/gep".to_vec(), b"memory".to_vec()],
        protected: vec![b".env".to_vec()],
    };
    Shadow::open(&Repository::open(path).unwrap(), scope).unwrap()
}

pub fn take(repo: &TestRepo, since: Option<&Snapshot>) -> Snapshot {
    shadow_at(repo.path()).take(Time(1), since).unwrap()
}

/// Runs `cycle` between two snapshots and gives both, after they went through JSON.
pub fn around(repo: &TestRepo, cycle: impl FnOnce(&TestRepo)) -> (Snapshot, Snapshot) {
    let before = take(repo, None);
    let before = Snapshot::read(&before.to_value()).unwrap();
    cycle(repo);
    let after = take(repo, Some(&before));
    (before, Snapshot::read(&after.to_value()).unwrap())
}

pub fn changes_by(repo: &TestRepo, cycle: impl FnOnce(&TestRepo)) -> Changes {
    let (before, after) = around(repo, cycle);
    changes(&shadow_at(repo.path()), &before, &after).unwrap()
}

pub fn undo(repo: &TestRepo, before: &Snapshot, rejected: &Snapshot) -> RollbackReport {
    rollback(&shadow_at(repo.path()), before, rejected).unwrap()
}

/// Runs a cycle, rolls it back, and demands that everything is exactly as it was.
pub fn assert_undone(repo: &TestRepo, cycle: impl FnOnce(&TestRepo)) -> RollbackReport {
    let print = repo.fingerprint();
    let (before, rejected) = around(repo, cycle);
    let report = undo(repo, &before, &rejected);
    assert_eq!(repo.fingerprint(), print, "{report:?}");
    let again = undo(repo, &before, &rejected);
    assert_eq!((again.restored.len(), again.removed.len()), (0, 0), "a second rollback has nothing to do");
    assert_eq!(repo.fingerprint(), print);
    report
}

pub fn paths(changes: &Changes) -> Vec<(&str, ChangeKind)> {
    let mut list: Vec<_> = changes.files.iter().map(|file| (file.path.as_str(), file.kind)).collect();
    list.sort_by_key(|(path, _)| *path);
    list
}

pub fn remove(repo: &TestRepo, name: &str) {
    let path = repo.file(name);
    if path.is_dir() && !path.is_symlink() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

pub fn link(repo: &TestRepo, target: &str, name: &str) {
    let _ = std::fs::remove_file(repo.file(name));
    std::os::unix::fs::symlink(target, repo.file(name)).unwrap();
}

pub fn set_mode(repo: &TestRepo, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(repo.file(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A repository with one of everything that a user may have in progress.
pub fn busy_repo() -> TestRepo {
    let repo = TestRepo::new();
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
