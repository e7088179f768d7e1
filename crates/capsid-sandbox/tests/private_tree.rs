//! A private view of a repository: everything is there, and every write goes to a layer.

use capsid_model::Code;
use capsid_sandbox::{
    ConfinedTree, Confinement, FinishedProcess, GitDirLayer, Isolation, IsolationPolicy, PrivateTree,
    ProcessLimits, SandboxIds, ValidationProfile, WriteLayer, probe_private_tree, run_validation,
    run_validation_at,
};
use capsid_testkit::test_repo::TestRepo;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

fn private(root: &Path, layers: &[&Path], writes: WriteLayer) -> Confinement {
    let tree = PrivateTree {
        root: root.to_owned(),
        layers: layers.iter().map(|&layer| layer.to_owned()).collect(),
        writes,
        git_dir: None,
    };
    Confinement {
        tree: ConfinedTree::Private(tree),
        profile: ValidationProfile::Validation,
        extra_read: Vec::new(),
        network: false,
    }
}

fn run(confinement: &Confinement, script: &str) -> FinishedProcess {
    let argv = ["sh", "-c", script].map(str::to_owned);
    let limits = ProcessLimits::default();
    run_validation(&argv, confinement, IsolationPolicy::Require, &limits).unwrap()
}

fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("src/a.txt", "a\n");
    repo.write("src/b.txt", "b\n");
    repo.write("build/out", "old\n");
    repo.git(&["add", "src"]);
    repo.git(&["commit", "-qm", "first"]);
    repo
}

fn is_whiteout(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.mode() & 0o170000 == 0o020000 && meta.rdev() == 0)
}

#[test]
fn writes_go_to_the_layer_and_the_tree_stays_as_it_is() {
    let repo = repo();
    let before = repo.fingerprint();
    let layer = tempfile::tempdir().unwrap();
    let confinement = private(repo.path(), &[], WriteLayer::Folder(layer.path().to_owned()));
    let script = "set -e; pwd; cat src/a.txt build/out; echo new > src/a.txt; rm src/b.txt; mkdir fresh; \
                  echo x > fresh/x; echo y > .git/y; rm -r build; mkdir build; chmod 700 src; git status --short | wc -l";
    let finished = run(&confinement, script);
    assert!(finished.end.ok(), "{finished:?}");
    assert!(finished.stdout.starts_with(&format!("{}\na\nold\n", repo.path().display())), "{finished:?}");
    assert_eq!(finished.isolation, Isolation::Namespaces);
    assert_eq!(repo.fingerprint(), before);
    let upper = layer.path().join("upper");
    assert_eq!(std::fs::read_to_string(upper.join("src/a.txt")).unwrap(), "new\n");
    assert!(is_whiteout(&upper.join("src/b.txt")));
    assert_eq!(std::fs::read_to_string(upper.join("fresh/x")).unwrap(), "x\n");
    assert_eq!(std::fs::read_to_string(upper.join(".git/y")).unwrap(), "y\n");
    // What was written belongs to whoever started it, also where the superuser's ids are mapped.
    let own = rustix::process::geteuid().as_raw();
    assert_eq!(std::fs::metadata(upper.join("fresh/x")).unwrap().uid(), own);
    let root_mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(root_mode(&upper), root_mode(repo.path()));
    let attribute = finished.ids.opaque_attribute();
    let mut value = [0; 8];
    let read = rustix::fs::getxattr(upper.join("build"), attribute, &mut value[..]);
    assert_eq!(read.map(|length| value[..length].to_vec()), Ok(b"y".to_vec()), "{attribute}");
}

#[test]
fn commands_one_after_the_other_share_a_layer() {
    let repo = repo();
    let layer = tempfile::tempdir().unwrap();
    let confinement = private(repo.path(), &[], WriteLayer::Folder(layer.path().to_owned()));
    assert!(run(&confinement, "echo made > product").end.ok());
    let finished = run(&confinement, "cat product; rm product src/a.txt");
    assert_eq!(finished.stdout, "made\n", "{finished:?}");
    let finished = run(&confinement, "ls; ls src");
    assert_eq!(finished.stdout, "build\nsrc\nb.txt\n", "{finished:?}");
    assert!(repo.file("src/a.txt").exists());
}

#[test]
fn a_layer_over_the_tree_is_what_the_command_sees() {
    let repo = repo();
    let change = tempfile::tempdir().unwrap();
    std::fs::create_dir(change.path().join("src")).unwrap();
    std::fs::write(change.path().join("src/a.txt"), "changed\n").unwrap();
    let gone = change.path().join("src/b.txt");
    let kind = rustix::fs::FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, &gone, kind, rustix::fs::Mode::empty(), 0).unwrap();
    let memory = WriteLayer::Memory { bytes: 8 << 20, inodes: 1000 };
    let confinement = private(repo.path(), &[change.path()], memory);
    let finished = run(&confinement, "cat src/*; echo mine > src/a.txt; cat src/a.txt");
    assert_eq!(finished.stdout, "changed\nmine\n", "{finished:?}");
    assert_eq!(std::fs::read_to_string(change.path().join("src/a.txt")).unwrap(), "changed\n");
    assert_eq!(repo.read("src/a.txt"), "a\n");
}

#[test]
fn memory_for_writes_is_limited() {
    let repo = repo();
    let confinement = private(repo.path(), &[], WriteLayer::Memory { bytes: 4 << 20, inodes: 100 });
    let script = "head -c 8000000 /dev/zero > big; wc -c < big; rm big; i=0; \
                  while [ $i -lt 300 ] && touch f$i 2>/dev/null; do i=$((i+1)); done; [ $i -lt 100 ] && echo few";
    let finished = run(&confinement, script);
    let written: u64 = finished.stdout.lines().next().unwrap().parse().unwrap();
    assert!(written > 0 && written <= 4 << 20, "{finished:?}");
    assert!(finished.stdout.ends_with("few\n"), "{finished:?}");
}

#[test]
fn a_git_directory_outside_of_the_root_has_a_layer_of_its_own() {
    let repo = repo();
    let folder = tempfile::tempdir().unwrap();
    let worktree = folder.path().canonicalize().unwrap().join("tree");
    repo.git(&["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "other"]);
    let before = repo.git(&["rev-parse", "other"]);
    let layer = tempfile::tempdir().unwrap();
    let git_dir = GitDirLayer { path: repo.file(".git"), writes: layer.path().join("git") };
    let tree = PrivateTree {
        root: worktree,
        layers: Vec::new(),
        writes: WriteLayer::Folder(layer.path().join("tree")),
        git_dir: Some(git_dir),
    };
    let confinement = Confinement { tree: ConfinedTree::Private(tree), ..Confinement::to(repo.path()) };
    let script = "echo c > src/c.txt; git add src/c.txt && git -c user.name=x -c user.email=x@y commit -qm second && \
                  git log --format=%s";
    let finished = run(&confinement, script);
    assert_eq!(finished.stdout, "second\nfirst\n", "{finished:?}");
    assert_eq!(repo.git(&["rev-parse", "other"]), before);
    assert!(layer.path().join("git/upper/logs").exists());
}

#[test]
fn a_view_can_be_tried_and_a_mount_below_the_root_is_named() {
    let repo = repo();
    let scratch = tempfile::tempdir().unwrap();
    let ids = probe_private_tree(repo.path(), scratch.path()).unwrap();
    let root = rustix::process::geteuid().is_root();
    assert_eq!(ids, if root { SandboxIds::MappedRoot } else { SandboxIds::User });
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    let problem = probe_private_tree(&repo.file("missing"), scratch.path()).unwrap_err();
    assert!(problem.to_string().contains("ENOENT"), "{problem}");
}

#[test]
fn weaker_levels_refuse_a_private_view_and_strangers() {
    let repo = repo();
    let argv = ["true".to_owned()];
    let private = private(repo.path(), &[], WriteLayer::Memory { bytes: 1 << 20, inodes: 10 });
    let stranger = Confinement { profile: ValidationProfile::Untrusted, ..Confinement::to(repo.path()) };
    for confinement in [private, stranger] {
        for level in [Isolation::Landlock, Isolation::None] {
            let problem =
                run_validation_at(level, &argv, &confinement, &ProcessLimits::default()).unwrap_err();
            assert_eq!(problem.code, Code::SandboxUnavailable);
            assert!(problem.fix.is_some());
        }
    }
}

#[test]
fn names_of_paths_may_hold_anything() {
    let repo = TestRepo::named("a:b, c\\d \u{e9}'\"");
    repo.write("file", "here\n");
    let layer = tempfile::Builder::new().prefix("l:,= ").tempdir().unwrap();
    let confinement = private(repo.path(), &[], WriteLayer::Folder(layer.path().to_owned()));
    let finished = run(&confinement, "cat file; echo x > y");
    assert_eq!(finished.stdout, "here\n", "{finished:?}");
    assert!(layer.path().join("upper/y").exists() && !repo.file("y").exists());
}
