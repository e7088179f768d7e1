//! Level `copy` and level `in_place`.

use super::edits::Edit;
use super::help::{Run, changed, read_tree, scope_of};
use capsid_engine::tree::private_tree::{
    CopyIgnored, CopyView, FreezeMethod, ViolationKind, create_copy_view, freeze, list_copy, list_in_place,
};
use capsid_testkit::rounds::{rounds, seeded_rng};
use capsid_testkit::test_repo::TestRepo;
use std::process::Command;

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "node_modules/\n.env\n");
    repo.write("src/a.js", "a\n");
    repo.write("src/b.js", "b\n");
    repo.script("run.sh", "#!/bin/sh\n");
    repo.write("assets/gep/genes.json", "[]\n");
    repo.commit("first");
    repo.git(&["branch", "other"]);
    repo.git(&["tag", "v1"]);
    repo.write("src/b.js", "b, edited\n");
    repo.write("untracked", "mine\n");
    repo.write("node_modules/x/index.js", "x\n");
    repo.write(".env", "SECRET=1\n");
    repo
}

fn view_of(run: &Run, ignored: CopyIgnored) -> CopyView {
    let folder = run.folder().join("view/repo");
    let scope = scope_of(&run.repo);
    let view = create_copy_view(run.root(), &folder, &run.base.manifest, &scope, ignored).unwrap();
    view.write(&run.folder().join("view.manifest"), &run.folder().join("view.json")).unwrap();
    CopyView::read(&run.folder().join("view.manifest"), &run.folder().join("view.json")).unwrap()
}

#[test]
fn a_copy_is_the_tree_with_a_git_directory_of_its_own() {
    for ignored in [CopyIgnored::Link, CopyIgnored::Copy, CopyIgnored::None] {
        let run = Run::start(repo());
        let print = run.repo.fingerprint();
        let view = view_of(&run, ignored);
        let git = |args: &[&str]| {
            let output = Command::new("git").current_dir(&view.path).args(args).output().unwrap();
            assert!(output.status.success(), "{args:?} {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let status = git(&["status", "--porcelain", "--untracked-files=all"]);
        let user = run.repo.git(&["status", "--porcelain", "--untracked-files=all"]);
        match ignored {
            // A rule for directories does not match a link.
            CopyIgnored::Link => assert_eq!(status.replace("?? node_modules\n", ""), user),
            _ => assert_eq!(status, user),
        }
        let refs = git(&["for-each-ref"]);
        assert_eq!(refs, run.repo.git(&["for-each-ref"]));
        let is_there = view.path.join("node_modules/x/index.js").is_file();
        assert_eq!(is_there, ignored != CopyIgnored::None);
        assert_eq!(changed(&list_copy(&view, run.root()).unwrap()), [""; 0]);
        git(&["add", "-A"]);
        git(&[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.invalid",
            "commit",
            "-q",
            "-m",
            "by the agent",
        ]);
        assert_eq!(run.repo.fingerprint(), print, "the user's repository is as it was");
        assert_eq!(changed(&list_copy(&view, run.root()).unwrap()), [""; 0]);
    }
}

#[test]
fn the_change_of_a_copy_is_listed_and_frozen_by_copies() {
    let run = Run::start(repo());
    let view = view_of(&run, CopyIgnored::Link);
    let at = |name: &str| view.path.join(name);
    std::fs::write(at("src/a.js"), "changed\n").unwrap();
    std::fs::write(at("src/b.js"), "b, edited\n").unwrap();
    std::fs::write(at("new"), "new\n").unwrap();
    std::fs::remove_file(at("untracked")).unwrap();
    std::fs::remove_file(at("node_modules")).unwrap();
    std::fs::write(at("assets/gep/genes.json"), "[1]\n").unwrap();
    let listing = list_copy(&view, run.root()).unwrap();
    assert_eq!(changed(&listing), ["Added new", "Modified src/a.js", "Deleted untracked"]);
    assert_eq!(listing.violations.len(), 1);
    assert_eq!(listing.violations[0].kind, ViolationKind::EngineFile);
    let change = run.folder().join("change");
    let layer = freeze(&listing, &view.path, run.root(), &change, FreezeMethod::Copy).unwrap();
    std::fs::write(at("new"), "written by validation\n").unwrap();
    assert_eq!(std::fs::read(layer.folder.join("new")).unwrap(), b"new\n");
}

#[test]
fn edits_in_place_are_listed_as_their_difference_from_the_start() {
    let mut random = seeded_rng();
    for _ in 0..rounds(5, 300) {
        let run = Run::start(repo());
        let before = read_tree(run.root());
        for _ in 0..random.usize(1..12) {
            Edit::random(&mut random).make(run.root());
        }
        let after = read_tree(run.root());
        let listing = list_in_place(&run.base).unwrap();
        let listed = listing.changed.iter().map(|path| &path.name);
        let mut listed: Vec<_> = listed.chain(listing.violations.iter().map(|v| &v.name)).collect();
        listed.sort();
        let mut expected: Vec<_> = before.keys().chain(after.keys()).collect();
        expected.sort();
        expected.dedup();
        expected.retain(|name| before.get(*name) != after.get(*name));
        assert_eq!(listed, expected);
    }
}
