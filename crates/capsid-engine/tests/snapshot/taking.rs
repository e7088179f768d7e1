//! Taking snapshots.

use super::help::*;
use capsid_engine::snapshot::{ChangeKind, Repository, Scope, Shadow, Snapshot, changes, rollback};
use capsid_model::{Code, Time};
use capsid_testkit::test_repo::TestRepo;
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
fn a_repository_without_commits_works() {
    let repo = TestRepo::new();
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
    let repo = TestRepo::new();
    assert_undone(&repo, |repo| {
        repo.write("x/y/z.txt", "agent\n");
    });
}

#[test]
fn a_linked_worktree_has_its_own_snapshots() {
    let repo = busy_repo();
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().join("wt");
    repo.git(&["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "side"]);
    std::fs::write(tree.join("src/lib.rs"), "user\n").unwrap();
    let print = repo.fingerprint();
    let shadow = shadow_at(&tree);
    let before = shadow.take(Time(1), None).unwrap();
    std::fs::write(tree.join("src/lib.rs"), "agent\n").unwrap();
    std::fs::write(tree.join("new"), "agent\n").unwrap();
    let rejected = shadow.take(Time(2), Some(&before)).unwrap();
    let found = changes(&shadow, &before, &rejected).unwrap();
    assert_eq!(paths(&found), [("new", ChangeKind::Added), ("src/lib.rs", ChangeKind::Modified)]);
    assert!(rollback(&shadow, &before, &rejected).unwrap().is_complete());
    assert_eq!(std::fs::read_to_string(tree.join("src/lib.rs")).unwrap(), "user\n");
    assert!(!tree.join("new").exists());
    assert_eq!(repo.fingerprint(), print);
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
fn only_files_that_changed_are_read_again() {
    let repo = TestRepo::new();
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

fn objects(repo: &TestRepo) -> usize {
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
    let repo = TestRepo::new();
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

#[test]
fn a_repository_is_never_taken_inside_itself() {
    let repo = busy_repo();
    repo.write("again/.git", "gitdir: ../.git\n");
    let scope = Scope { excluded: Vec::new(), protected: vec![b".".to_vec(), b"again/..".to_vec()] };
    let (done, ended) = std::sync::mpsc::channel();
    let path = repo.path().to_owned();
    std::thread::spawn(move || {
        let shadow = Shadow::open(&Repository::open(&path).unwrap(), scope).unwrap();
        done.send(shadow.take(Time(1), None).unwrap()).unwrap();
    });
    let snapshot = ended.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
    assert!(snapshot.nested.is_empty());
}
