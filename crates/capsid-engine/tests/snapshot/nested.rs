//! Repositories inside the work tree.

use super::help::*;
use capsid_engine::snapshot::{ChangeKind, changes};
use capsid_testkit::test_repo::TestRepo;
fn with_submodule() -> (TestRepo, TestRepo) {
    let library = TestRepo::new();
    library.write("lib.c", "int x;\n");
    library.write("inner/deep.c", "int y;\n");
    library.commit("library");
    let repo = busy_repo();
    let url = library.path().to_str().unwrap().to_owned();
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "vendor/lib"]);
    repo.git(&["commit", "-q", "-m", "with a submodule"]);
    repo.write("vendor/lib/lib.c", "int user;\n");
    repo.write("vendor/lib/untracked.c", "mine\n");
    (repo, library)
}

#[test]
fn submodules_are_seen_into_and_restored() {
    let (repo, _library) = with_submodule();
    let cycle = |repo: &TestRepo| {
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
    assert_eq!(repo.git(&["-C", "vendor/lib", "status", "--porcelain"]), " M lib.c\n?? untracked.c\n");
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
    assert!(found.files.iter().any(|file| file.path == "notes/.git"), "{found:?}");
    undo(&repo, &before, &rejected);
    assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
    assert_eq!(repo.read("notes/deep/untracked.md"), "mine too\n");
}

#[test]
fn a_repository_that_the_cycle_clones_is_counted_and_removed() {
    let (repo, library) = with_submodule();
    let cycle = |repo: &TestRepo| {
        repo.git(&["clone", "-q", library.path().to_str().unwrap(), "cloned"]);
    };
    let (before, rejected) = around(&repo, cycle);
    let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
    assert_eq!(
        paths(&found),
        [("cloned/inner/deep.c", ChangeKind::Added), ("cloned/lib.c", ChangeKind::Added)]
    );
    undo(&repo, &before, &rejected);
    assert!(!repo.file("cloned/lib.c").exists());
}

#[test]
fn a_submodule_whose_folder_is_gone_can_be_looked_into() {
    for gone in ["vendor/lib", "vendor"] {
        let (repo, _library) = with_submodule();
        let (before, rejected) = around(&repo, |repo| remove(repo, gone));
        let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
        assert!(paths(&found).contains(&("vendor/lib/untracked.c", ChangeKind::Deleted)), "{found:?}");
        let report = undo(&repo, &before, &rejected);
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(repo.read("vendor/lib/untracked.c"), "mine\n");
        assert_eq!(repo.read("vendor/lib/lib.c"), "int user;\n");
    }
}

#[test]
fn a_submodule_that_became_a_file_or_a_link_is_a_folder_again() {
    let elsewhere = tempfile::tempdir().unwrap();
    let swaps: [&dyn Fn(&TestRepo); 2] = [&|repo| drop(repo.write("vendor/lib", "agent\n")), &|repo| {
        link(repo, elsewhere.path().to_str().unwrap(), "vendor/lib");
    }];
    for swap in swaps {
        let (repo, _library) = with_submodule();
        let (before, rejected) = around(&repo, |repo| {
            remove(repo, "vendor/lib");
            swap(repo);
        });
        changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
        let report = undo(&repo, &before, &rejected);
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(repo.read("vendor/lib/untracked.c"), "mine\n");
    }
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_repository_that_is_gone_or_made_anew_stops_nothing() {
    for again in [false, true] {
        let repo = busy_repo();
        repo.git(&["init", "-q", "embedded"]);
        repo.write("embedded/mine.txt", "mine\n");
        let (before, rejected) = around(&repo, |repo| {
            remove(repo, "embedded");
            if again {
                repo.git(&["init", "-q", "embedded"]);
                repo.write("embedded/agent.txt", "agent\n");
            }
            repo.write("src/main.rs", "agent\n");
        });
        let found = changes(&shadow_at(repo.path()), &before, &rejected).unwrap();
        assert!(paths(&found).contains(&("embedded/.git", ChangeKind::Deleted)), "{found:?}");
        let report = undo(&repo, &before, &rejected);
        assert_eq!(report.kept, ["embedded"]);
        assert_eq!(repo.read("src/main.rs"), "fn main() {}\n");
    }
}
