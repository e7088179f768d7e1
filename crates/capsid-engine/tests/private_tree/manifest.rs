//! The manifest of a base and its copies.

use super::help::{Run, read_tree, scope_of};
use capsid_engine::tree::names;
use capsid_engine::tree::private_tree::{BaseContent, BaseManifest};
use capsid_testkit::test_repo::TestRepo;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

fn busy_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitignore", "target/\n*.o\n!keep.o\n/only-here\n");
    repo.write("src/.gitignore", "local*\n");
    repo.write("src/main.rs", "fn main() {}\n");
    repo.write("keep.o", "kept\n");
    repo.write("deep/only-here", "not ignored\n");
    repo.commit("first");
    repo.write("ignored.o", "tracked\n");
    repo.git(&["add", "-f", "ignored.o"]);
    repo.git(&["commit", "-q", "-m", "second"]);
    repo.write("other.o", "ignored\n");
    repo.write("only-here", "ignored\n");
    repo.write("src/local.txt", "ignored\n");
    repo.write("target/x/y", "ignored\n");
    repo.write("untracked.txt", "mine\n");
    repo.write("src/main.rs", "fn main() { dirty() }\n");
    repo.write(".git/info/exclude", "private/\n");
    repo.write("private/notes", "ignored\n");
    repo
}

fn file_names(manifest: &BaseManifest) -> Vec<String> {
    manifest.files().iter().map(|file| names::show(&file.name)).collect()
}

#[test]
fn a_manifest_lists_what_git_does_not_ignore_and_survives_its_file() {
    let run = Run::start(busy_repo());
    let manifest = &run.base.manifest;
    let expected = [
        ".gitignore",
        "deep/only-here",
        "ignored.o",
        "keep.o",
        "src/.gitignore",
        "src/main.rs",
        "untracked.txt",
    ];
    assert_eq!(file_names(manifest), expected);
    let listed = run.repo.git(&["ls-files", "-c", "-o", "--exclude-standard"]);
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    assert_eq!(file_names(manifest), listed, "as git says");
    for (name, ignored) in [
        ("new.o", true),
        ("keep.o", false),
        ("ignored.o", false),
        ("target/new", true),
        ("src/local2", true),
        ("local2", false),
        ("private/x", true),
        ("x/y/z.o", true),
        ("x/target/y", true),
        ("only-here", true),
    ] {
        assert_eq!(manifest.rules.is_ignored(name.as_bytes(), false), ignored, "{name}");
    }
    let path = run.folder().join("again");
    let sum = manifest.write(&path).unwrap();
    assert_eq!(sum, manifest.sha256().unwrap());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(BaseManifest::read(&path).is_err(), "damage is noticed");
}

#[test]
fn the_bytes_of_the_start_are_known_from_a_copy_or_a_blob() {
    let repo = busy_repo();
    std::fs::set_permissions(repo.file("untracked.txt"), std::fs::Permissions::from_mode(0o444)).unwrap();
    repo.write("large", vec![7; 5 << 20]);
    std::os::unix::fs::symlink("src", repo.file("link")).unwrap();
    let run = Run::start(repo);
    let before = read_tree(run.root());
    let known =
        |name: &str| run.base.copies.base_bytes(run.root(), &run.base.manifest, name.as_bytes()).unwrap();
    for (name, (_, _, bytes)) in &before {
        if run.base.manifest.file(name).is_some() && name != b"large" {
            std::fs::remove_file(names::place(run.root(), name)).unwrap();
            let BaseContent::Known { bytes: found, .. } = known(&names::show(name)) else {
                panic!("{}", names::show(name))
            };
            assert_eq!(found, *bytes, "{}", names::show(name));
        }
    }
    assert_eq!(known("large"), BaseContent::Unknown);
    assert_eq!(known("nothing"), BaseContent::Absent);
    let copies = std::fs::read_dir(run.folder().join("base")).unwrap();
    for copy in copies {
        let mode = copy.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o177, 0, "a copy is its owner's alone: {mode:o}");
    }
}

#[test]
fn the_drift_of_a_tree_names_changed_created_and_deleted_files() {
    let run = Run::start(busy_repo());
    assert!(run.base.manifest.compare(run.root()).unwrap().is_empty());
    run.repo.write("untracked.txt", "mine, edited\n");
    run.repo.write("ignored.o", "tracked, edited\n");
    run.repo.write("new/file", "new\n");
    run.repo.write("new.o", "ignored\n");
    // A rule that came later hides nothing.
    run.repo.write("new/.gitignore", "*\n");
    std::fs::remove_file(run.repo.file("keep.o")).unwrap();
    let drift = run.base.manifest.compare(run.root()).unwrap();
    let show = |list: &[names::Name]| list.iter().map(|name| names::show(name)).collect::<Vec<_>>();
    assert_eq!(show(&drift.changed), ["ignored.o", "untracked.txt"]);
    assert_eq!(show(&drift.created), ["new/.gitignore", "new/file"]);
    assert_eq!(show(&drift.deleted), ["keep.o"]);
}

#[test]
fn special_files_in_the_tree_block_nothing() {
    let repo = busy_repo();
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, repo.file("fifo"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    mknodat(CWD, repo.file("src/.env"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(repo.file("socket")).unwrap();
    let run = Run::start(repo);
    assert!(run.base.manifest.file(b"fifo").is_none());
    assert!(run.base.manifest.compare(run.root()).unwrap().is_empty());
    assert!(capsid_engine::tree::private_tree::list_in_place(&run.base).unwrap().changed.is_empty());
}

/// Prints what 100,000 files cost: `cargo nextest run -p capsid-engine --release --run-ignored only --no-capture costs_of`.
#[test]
#[ignore = "a measurement"]
fn costs_of_a_hundred_thousand_files() {
    let repo = TestRepo::new();
    for folder in 0..1_000 {
        for file in 0..100 {
            repo.write(&format!("d{}/e{folder}/file{file}.txt", folder % 50), format!("{folder} {file}\n"));
        }
    }
    repo.commit("all");
    // User and system time of this process and its children, in hundredths of a second.
    let cpu = || {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields.skip(11).take(4).map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
    };
    for _ in 0..3 {
        let (start, used) = (Instant::now(), cpu());
        let manifest = BaseManifest::record(repo.path(), &scope_of(&repo), None).unwrap();
        println!("record: {:?}, cpu {:.3} s", start.elapsed(), cpu() - used);
        let folder = capsid_testkit::disk::tempdir();
        let (start, used) = (Instant::now(), cpu());
        manifest.write(&folder.path().join("m")).unwrap();
        println!("write: {:?}, cpu {:.3} s", start.elapsed(), cpu() - used);
        let (start, used) = (Instant::now(), cpu());
        let manifest = BaseManifest::read(&folder.path().join("m")).unwrap();
        println!("read: {:?}, cpu {:.3} s", start.elapsed(), cpu() - used);
        let (start, used) = (Instant::now(), cpu());
        assert!(manifest.compare(repo.path()).unwrap().is_empty());
        println!("compare: {:?}, cpu {:.3} s", start.elapsed(), cpu() - used);
        let clean = manifest.files().iter().filter(|file| file.blob.is_some()).count();
        println!(
            "{} files, {clean} with a blob, {} bytes",
            manifest.files().len(),
            folder.path().join("m").metadata().unwrap().len()
        );
    }
    let run = Run::start(repo);
    for file in 0..10 {
        run.write_upper(&format!("d1/e1/file{file}.txt"), "changed\n");
    }
    for round in 0..3 {
        let (start, used) = (Instant::now(), cpu());
        let listing = run.list();
        println!("list 10 changed files: {:?}, cpu {:.4} s", start.elapsed(), cpu() - used);
        assert_eq!(listing.changed.len(), 10);
        let change = run.folder().join(format!("change{round}"));
        let (start, used) = (Instant::now(), cpu());
        let method = capsid_engine::tree::private_tree::FreezeMethod::Link;
        capsid_engine::tree::private_tree::freeze(&listing, &run.upper(), run.root(), &change, method)
            .unwrap();
        println!("freeze: {:?}, cpu {:.4} s", start.elapsed(), cpu() - used);
    }
}
