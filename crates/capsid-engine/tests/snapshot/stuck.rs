//! A rollback that meets something it cannot put back says so and does the rest.

use super::help::*;
use capsid_engine::snapshot::{changes, rollback};
use capsid_model::Time;
use capsid_testkit::test_repo::TestRepo;

fn fill(repo: &TestRepo, folder: &str) {
    repo.write(&format!("{folder}/sub/file"), "agent\n");
    repo.write(&format!("{folder}/file.sample"), "agent\n");
}

#[test]
fn a_folder_in_the_place_of_a_watched_file_is_moved_away() {
    for name in [".git/info/exclude", ".git/index", ".git/hooks/pre-commit"] {
        let repo = busy_repo();
        repo.script(".git/hooks/pre-commit", "#!/bin/sh\n");
        repo.write(".git/info/exclude", "private/\n");
        repo.write("private/mine.txt", "mine\n");
        let (before, rejected) = around(&repo, |repo| {
            remove(repo, name);
            fill(repo, name);
            repo.write("src/main.rs", "agent\n");
        });
        changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
        let report = undo(&repo, &before, &rejected);
        assert!(report.is_complete(), "{name}: {report:?}");
        assert!(repo.file(name).is_file(), "{name}");
        assert_eq!(repo.read("src/main.rs"), "fn main() {}\n", "{name}");
        assert_eq!(repo.read("private/mine.txt"), "mine\n", "{name}");
    }
}

#[test]
fn hooks_that_were_a_link_are_a_link_again() {
    let repo = busy_repo();
    remove(&repo, ".git/hooks");
    link(&repo, "../tools", ".git/hooks");
    let (before, rejected) = around(&repo, |repo| {
        remove(repo, ".git/hooks");
        fill(repo, ".git/hooks");
        repo.script(".git/hooks/pre-commit", "#!/bin/sh\n");
        repo.write("src/main.rs", "agent\n");
    });
    let report = undo(&repo, &before, &rejected);
    assert!(report.is_complete(), "{report:?}");
    assert!(repo.file(".git/hooks").is_symlink());
    assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
}

#[test]
fn hooks_that_became_a_link_or_a_file_are_a_folder_again() {
    let outside = tempfile::tempdir().unwrap();
    let swaps: [&dyn Fn(&TestRepo); 2] =
        [&|repo| link(repo, outside.path().to_str().unwrap(), ".git/hooks"), &|repo| {
            repo.write(".git/hooks", "agent\n");
        }];
    for swap in swaps {
        let repo = busy_repo();
        repo.script(".git/hooks/pre-commit", "#!/bin/sh\n");
        let (before, rejected) = around(&repo, |repo| {
            remove(repo, ".git/hooks");
            swap(repo);
        });
        let report = undo(&repo, &before, &rejected);
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(repo.read(".git/hooks/pre-commit"), "#!/bin/sh\n");
        assert!(!repo.file(".git/hooks").is_symlink());
    }
    assert_eq!(outside.path().read_dir().unwrap().count(), 0, "nothing is written through the link");
}

#[test]
fn a_repository_that_git_cannot_open_is_mended_and_that_counts() {
    for name in [".git/config", ".git/HEAD"] {
        for folder in [true, false] {
            let repo = busy_repo();
            let print = repo.fingerprint();
            let shadow = shadow_at(repo.path());
            let before = shadow.take(Time(1), None).unwrap();
            remove(&repo, name);
            if folder {
                fill(&repo, name);
            } else {
                repo.write(name, "[agent\n");
            }
            repo.write("src/main.rs", "agent\n");
            let rejected = shadow.take(Time(2), Some(&before)).unwrap();
            let found = changes(&shadow, &before, &rejected).unwrap();
            assert!(found.files.iter().any(|file| file.path == name), "{name} {found:?}");
            let report = rollback(&shadow, &before, &rejected).unwrap();
            assert!(report.is_complete(), "{report:?}");
            assert_eq!(repo.fingerprint(), print);
        }
    }
}

#[test]
fn a_damaged_index_is_put_back() {
    let repo = busy_repo();
    let report = assert_undone(&repo, |repo| {
        repo.write(".git/index", "agent\n");
        repo.write("src/main.rs", "agent\n");
    });
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn what_cannot_be_put_back_is_told_with_the_reason_and_the_rest_goes_on() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| {
        remove(repo, "docs");
        remove(repo, "run.sh");
        repo.write("src/main.rs", "agent\n");
    });
    // Made since by the user.
    repo.write("docs", "mine\n");
    repo.write("run.sh/mine.txt", "mine\n");
    let report = undo(&repo, &before, &rejected);
    let told = |path: &str| report.kept.iter().any(|kept| kept.starts_with(&format!("{path} (")));
    assert!(told("run.sh") && told("docs/read me.md"), "{report:?}");
    assert_eq!((repo.read("docs"), repo.read("run.sh/mine.txt")), ("mine\n".into(), "mine\n".into()));
    assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
}

fn special(repo: &TestRepo, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(repo.file(name)).status();
    assert!(made.unwrap().success());
}

#[test]
fn pipes_and_sockets_of_the_cycle_go_and_those_of_the_user_stay() {
    let repo = busy_repo();
    special(&repo, "src/mine");
    assert_undone(&repo, |repo| {
        special(repo, "src/pipe");
        std::os::unix::net::UnixListener::bind(repo.file("socket")).unwrap();
        std::fs::create_dir_all(repo.file("new/folder")).unwrap();
        special(repo, "new/folder/pipe");
    });
    assert!(repo.file("src/mine").exists());
}

#[test]
fn permissions_of_folders_come_back() {
    let repo = busy_repo();
    set_mode(&repo, "notes", 0o700);
    set_mode(&repo, "docs", 0o555);
    assert_undone(&repo, |repo| {
        set_mode(repo, "src", 0o777);
        set_mode(repo, "docs", 0o755);
        remove(repo, "docs/read me.md");
        remove(repo, "notes");
        set_mode(repo, ".", 0o775);
    });
    set_mode(&repo, "docs", 0o755);
}

#[test]
fn a_folder_that_the_cycle_closed_is_open_again() {
    let repo = busy_repo();
    let print = repo.fingerprint();
    let mut closed = false;
    let (before, rejected) = around(&repo, |repo| {
        repo.write("src/main.rs", "agent\n");
        repo.write("docs/read me.md", "agent\n");
        set_mode(repo, "src", 0o000);
        // Not for the superuser.
        closed = repo.file("src").read_dir().is_err();
    });
    changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    let report = undo(&repo, &before, &rejected);
    assert_eq!(report.kept.iter().any(|kept| kept.starts_with("src/ (")), closed, "{report:?}");
    assert_eq!(repo.fingerprint(), print);
}

#[test]
fn permissions_that_the_user_changed_since_are_kept() {
    let repo = busy_repo();
    let (before, rejected) = around(&repo, |repo| set_mode(repo, "src", 0o777));
    set_mode(&repo, "src", 0o750);
    let report = undo(&repo, &before, &rejected);
    assert_eq!(report.kept, ["src/"]);
}
