//! What a listing leaves out and what it refuses.

use super::help::{Run, changed};
use capsid_engine::tree::names;
use capsid_engine::tree::private_tree::ViolationKind;
use capsid_engine::tree::private_tree::change_layer::{USER_OPAQUE, list_upper};
use capsid_testkit::test_repo::TestRepo;
use rustix::fs::{CWD, FileType, Mode, XattrFlags, lsetxattr, mknodat};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "node_modules/\n*.log\n");
    repo.write("src/a.js", "a\n");
    repo.write("src/b.js", "b\n");
    repo.write("src/deep/c.js", "c\n");
    repo.write("assets/gep/genes.json", "[]\n");
    repo.commit("first");
    repo.write("node_modules/x/index.js", "x\n");
    repo.git(&["init", "-q", "vendor"]);
    repo.write("vendor/lib.c", "int x;\n");
    repo
}

#[test]
fn only_the_files_that_differ_and_are_not_ignored_are_a_change() {
    let run = Run::start(repo());
    run.write_upper("src/a.js", "changed\n");
    run.write_upper("src/b.js", "b\n");
    run.write_upper("src/new.js", "new\n");
    run.write_upper("vendor/lib.c", "int y;\n");
    run.write_upper("agent.log", "read\n");
    // A rule that the agent added hides nothing.
    run.write_upper("src/.gitignore", "*\n");
    for file in 0..7 {
        run.write_upper(&format!("node_modules/x/{file}.js"), "x\n");
    }
    run.write_upper("src/x.log", "ignored\n");
    run.write_upper(".git/config", "[core]\n");
    run.write_upper("vendor/.git/config", "[core]\n");
    run.whiteout("src/deep");
    let listing = run.list();
    assert_eq!(
        changed(&listing),
        [
            "Added src/.gitignore",
            "Modified src/a.js",
            "Deleted src/deep/c.js",
            "Added src/new.js",
            "Modified vendor/lib.c",
        ]
    );
    assert_eq!(listing.violations, []);
    assert!(listing.git_touched);
    let dropped: Vec<_> = listing.ignored.directories.iter().map(|d| (d.path.as_str(), d.files)).collect();
    assert_eq!(dropped, [("node_modules", 7), (".", 1), ("src", 1)]);
    assert_eq!(listing.ignored.directories[0].examples.len(), 5);
    assert_eq!(listing.ignored.files, 9);
}

#[test]
fn an_opaque_directory_deletes_what_it_does_not_have() {
    let run = Run::start(repo());
    run.write_upper("src/a.js", "a\n");
    run.write_upper("src/deep", "now a file\n");
    lsetxattr(run.upper().join("src"), USER_OPAQUE, b"y", XattrFlags::empty()).unwrap();
    let expected = ["Deleted src/b.js", "Added src/deep", "Deleted src/deep/c.js"];
    assert_eq!(changed(&run.list()), expected);
    let other = list_upper(&run.upper(), run.root(), &run.base.manifest.rules, "user.other").unwrap();
    assert_eq!(changed(&other), ["Added src/deep", "Deleted src/deep/c.js"]);
}

#[test]
fn everything_that_must_never_be_applied_is_a_violation_with_a_sentence() {
    let run = Run::start(repo());
    run.write_upper(".GIT/config", "x");
    run.write_upper("src/git~1", "x");
    run.write_upper("src/.g\u{200c}it/hooks/x", "x");
    run.write_upper("assets/gep/genes.json", "[1]\n");
    run.write_upper("new/.git/config", "x");
    let setuid = run.write_upper("src/setuid", "x");
    std::fs::set_permissions(setuid, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let unreadable = run.write_upper("locked/unreadable", "x");
    std::fs::set_permissions(unreadable, std::fs::Permissions::from_mode(0o200)).unwrap();
    std::fs::set_permissions(run.upper().join("locked"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let at = |name: &str| run.upper().join(name);
    mknodat(CWD, at("src/fifo"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("src/socket")).unwrap();
    symlink("/etc/passwd", at("src/absolute")).unwrap();
    symlink("../../out", at("src/out")).unwrap();
    symlink("..", at("src/up")).unwrap();
    symlink("up/..", at("src/through")).unwrap();
    let listing = run.list();
    let found: Vec<_> = listing.violations.iter().map(|v| (names::show(&v.name), v.kind)).collect();
    use ViolationKind::*;
    let expected = [
        (".GIT", GitSpelling),
        ("assets/gep/genes.json", EngineFile),
        ("locked/unreadable", Unreadable),
        ("new", NestedRepository),
        ("src/.g\u{200c}it", GitSpelling),
        ("src/absolute", LinkOutside),
        ("src/fifo", SpecialFile),
        ("src/git~1", GitSpelling),
        ("src/out", LinkOutside),
        ("src/setuid", Privileged),
        ("src/socket", SpecialFile),
        ("src/through", LinkOutside),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(
        listing.violations[5].message,
        "`src/absolute` is a link to `/etc/passwd`, which is outside the tree."
    );
    assert_eq!(changed(&listing), ["Added src/up"]);
}

#[test]
fn a_frozen_change_shares_its_files_and_keeps_modes() {
    let run = Run::start(repo());
    let path = run.write_upper("src/run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    run.whiteout("src/a.js");
    let layer = run.change();
    let frozen = layer.folder.join("src/run.sh").metadata().unwrap();
    assert_eq!(frozen.ino(), path.metadata().unwrap().ino());
    assert_eq!(frozen.mode() & 0o777, 0o750);
    let whiteout = layer.folder.join("src/a.js").symlink_metadata().unwrap();
    assert_eq!((FileType::from_raw_mode(whiteout.mode()), whiteout.rdev()), (FileType::CharacterDevice, 0));
    std::fs::remove_file(layer.folder.join("src/run.sh")).unwrap();
    assert!(
        capsid_engine::tree::private_tree::ChangeLayer::read(&layer.folder).is_err(),
        "a loss is noticed"
    );
}
