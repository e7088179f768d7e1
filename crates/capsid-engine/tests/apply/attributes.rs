//! Modes, owners, attributes and holes of applied files, and replaced files on another file system.

use crate::private_tree::help::Run;
use capsid_engine::tree::apply::{apply, finish, plan, undo};
use capsid_testkit::test_repo::TestRepo;
use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};
use std::io::{Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_changed_file_keeps_mode_owner_and_attributes_and_takes_the_executable_bit() {
    let repo = TestRepo::new();
    set_mode(&repo.write("secret", "old\n"), 0o640);
    set_mode(&repo.write("script", "old\n"), 0o640);
    lsetxattr(repo.file("secret"), "user.note", b"mine", XattrFlags::empty()).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(repo.file("secret"), Some(1234), Some(4321)).unwrap();
    } else {
        println!("an ordinary user cannot give files away, so no owner is checked");
    }
    repo.commit("first");
    let run = Run::start(repo);
    set_mode(&run.write_upper("secret", "new\n"), 0o666);
    set_mode(&run.write_upper("script", "new\n"), 0o755);
    set_mode(&run.write_upper("deep/er/created", "new\n"), 0o755);
    let path = run.write_upper("sparse", "");
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(16 << 20).unwrap();
    file.seek(std::io::SeekFrom::Start(8 << 20)).unwrap();
    file.write_all(b"middle").unwrap();
    let plan = plan(&mut run.change(), &run.base).unwrap();
    assert!(apply(run.folder(), run.root(), &plan).unwrap().is_complete());
    finish(run.folder()).unwrap();
    let meta = |name: &str| run.repo.file(name).metadata().unwrap();
    let mode = |name: &str| meta(name).mode() & 0o777;
    assert_eq!((run.repo.read("secret"), mode("secret")), ("new\n".to_owned(), 0o640));
    assert_eq!((mode("script"), mode("deep/er/created")), (0o750, 0o755));
    let mut value = [0; 8];
    assert_eq!(lgetxattr(run.repo.file("secret"), "user.note", &mut value[..]), Ok(4));
    assert_eq!(&value[..4], b"mine");
    assert!(meta("sparse").len() == 16 << 20 && meta("sparse").blocks() * 512 < 1 << 20);
    if is_root {
        assert_eq!((meta("secret").uid(), meta("secret").gid()), (1234, 4321));
    }
    assert!(undo(run.folder(), run.root()).unwrap().is_complete());
    assert_eq!((run.repo.read("secret"), mode("secret"), mode("script")), ("old\n".to_owned(), 0o640, 0o640));
    assert!(!run.repo.file("deep").exists(), "directories of the change go with it");
}

#[test]
fn replaced_files_on_another_file_system_are_copied() {
    let shared = Path::new("/dev/shm");
    let repo = TestRepo::new();
    let device = |path: &Path| path.metadata().map(|meta| meta.dev());
    if device(shared).is_err() || device(shared).unwrap() == device(repo.path()).unwrap() {
        println!("there is no second file system at {}", shared.display());
        return;
    }
    repo.write("changed", "old\n");
    repo.write("deleted", "old too\n");
    std::os::unix::fs::symlink("changed", repo.file("link")).unwrap();
    repo.commit("first");
    let run = Run::start(repo);
    run.write_upper("changed", "new\n");
    run.write_upper("link", "now a file\n");
    run.whiteout("deleted");
    let plan = plan(&mut run.change(), &run.base).unwrap();
    let other = tempfile::tempdir_in(shared).unwrap();
    assert!(apply(other.path(), run.root(), &plan).unwrap().is_complete());
    finish(other.path()).unwrap();
    let names = |path: &Path| {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.filter(|name| name != ".git").collect();
        names.sort();
        names
    };
    assert_eq!(names(run.root()), ["changed", "link"], "no temporary name is left");
    assert_eq!(names(&other.path().join("replaced")).len(), 3);
    assert!(undo(other.path(), run.root()).unwrap().is_complete());
    assert_eq!((run.repo.read("changed"), run.repo.read("deleted")), ("old\n".into(), "old too\n".into()));
    assert!(run.repo.file("link").is_symlink());
}
