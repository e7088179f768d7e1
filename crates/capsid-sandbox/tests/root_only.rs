//! What only the superuser can set up: mounts inside a tree, and file systems whose ids cannot be mapped.

use crate::ordinary_user::{OrdinaryUser, UID};
use capsid_sandbox::{
    AgentEnd, AgentProfile, AgentRequest, ConfinedTree, Confinement, FinishedProcess, IsolationPolicy,
    PrivateTree, ProcessLimits, SandboxIds, ValidationProfile, WriteLayer, probe_private_tree, run_agent,
    run_validation,
};
use capsid_testkit::test_repo::TestRepo;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::path::{Path, PathBuf};

/// A file system in memory that is gone with the test.
struct MountedFolder(PathBuf);

impl MountedFolder {
    fn new(kind: &str, path: &Path) -> Self {
        mount("none", path, kind, MountFlags::empty(), None).unwrap();
        Self(path.to_owned())
    }
}

impl Drop for MountedFolder {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).unwrap();
    }
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("did not run: it needs root");
    }
    root
}

fn run(confinement: &Confinement, script: &str) -> capsid_model::Result<FinishedProcess> {
    let argv = ["sh", "-c", script].map(str::to_owned);
    run_validation(&argv, confinement, IsolationPolicy::Require, &ProcessLimits::default())
}

fn private(root: &Path, layer: &Path) -> Confinement {
    let tree = PrivateTree {
        root: root.to_owned(),
        layers: Vec::new(),
        writes: WriteLayer::Folder(layer.to_owned()),
        git_dir: None,
    };
    Confinement { tree: ConfinedTree::Private(tree), ..Confinement::to(root) }
}

#[test]
fn a_mount_below_the_root_is_shown_to_root_read_only() {
    if !is_root() {
        return;
    }
    let repo = TestRepo::new();
    repo.write("vol/.keep", "");
    let _mounted = MountedFolder::new("tmpfs", &repo.file("vol"));
    repo.write("vol/inside", "here\n");
    let layer = tempfile::tempdir().unwrap();
    let finished =
        run(&private(repo.path(), layer.path()), "cat vol/inside; echo x > vol/inside; echo y > z").unwrap();
    assert_eq!(finished.stdout, "here\n", "{finished:?}");
    assert_eq!(repo.read("vol/inside"), "here\n");
    assert!(layer.path().join("upper/z").exists());
}

#[test]
fn without_id_mapping_root_runs_without_capabilities_and_strangers_not_at_all() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("tree");
    std::fs::create_dir(&root).unwrap();
    // The kernel has no id-mapped mounts of this one.
    let _mounted = MountedFolder::new("ramfs", &root);
    std::fs::write(root.join("file"), "here\n").unwrap();
    let canary = Path::new("/proc/sys/kernel/domainname");
    let before = std::fs::read_to_string(canary).unwrap();
    let layer = tempfile::tempdir().unwrap();
    let script = "cat file; echo x > new; echo capsid-canary > /proc/sys/kernel/domainname; cat /etc/shadow; \
                  grep Cap /proc/self/status | grep -v 0000000000000000; mknod dev b 8 0; cat /proc/self/uid_map";
    for confinement in [private(&root, layer.path()), Confinement::to(&root)] {
        let finished = run(&confinement, script).unwrap();
        assert_eq!(finished.ids, SandboxIds::Root);
        let (first, rest) = finished.stdout.split_once('\n').unwrap();
        assert_eq!(first, "here", "{finished:?}");
        assert!(!rest.contains("Cap") && rest.contains("4294967295"), "{finished:?}");
        assert_eq!(std::fs::read_to_string(canary).unwrap(), before);
    }
    assert!(layer.path().join("upper/new").exists());
    let stranger = Confinement { profile: ValidationProfile::Untrusted, ..Confinement::to(&root) };
    let problem = run(&stranger, script).unwrap_err();
    assert_eq!(problem.code, capsid_model::Code::SandboxUnavailable);
}

#[test]
fn root_is_nobody_outside_of_its_sandbox_and_itself_inside() {
    if !is_root() {
        return;
    }
    let repo = TestRepo::new();
    let layer = tempfile::tempdir().unwrap();
    let script = "id -u; stat -c %u . /usr/bin/env; cat /etc/shadow; cat /proc/self/uid_map; echo x > mine; stat -c %u mine";
    let finished = run(&private(repo.path(), layer.path()), script).unwrap();
    assert_eq!(finished.ids, SandboxIds::MappedRoot);
    let words: Vec<&str> = finished.stdout.split_whitespace().collect();
    assert_eq!(words[..4], ["0", "0", "0", "0"], "{finished:?}");
    assert!(words[4].parse::<u32>().unwrap() >= 0x7000_0000, "{finished:?}");
    assert_eq!(words[5..], ["65536", "0"]);
}

/// Root makes the files of another group; the user that owns the tree cannot map it.
#[test]
fn files_of_a_group_that_cannot_be_mapped_are_copied_to_a_layer() {
    if !is_root() {
        return user_half_of_foreign_files();
    }
    let user = OrdinaryUser::new();
    let tree = user.make("tree");
    user.make("tree/shared/deep");
    std::fs::write(tree.join("shared/file"), "old\n").unwrap();
    std::fs::write(tree.join("own"), "own\n").unwrap();
    for (name, group) in [("own", UID), ("shared", 33), ("shared/file", 33), ("shared/deep", 33)] {
        std::os::unix::fs::chown(tree.join(name), Some(UID), Some(group)).unwrap();
    }
    let test = "root_only::files_of_a_group_that_cannot_be_mapped_are_copied_to_a_layer";
    let output = user.run_tests(&["--exact", test, "--nocapture"], &[("CAPSID_TEST_TREE", &tree)]);
    assert!(output.contains("3 foreign files"));
    assert_eq!(std::fs::read_to_string(tree.join("shared/file")).unwrap(), "old\n");
}

fn user_half_of_foreign_files() {
    let Some(tree) = std::env::var_os("CAPSID_TEST_TREE").map(PathBuf::from) else {
        return;
    };
    let layers = tempfile::tempdir().unwrap();
    let script = "echo new > shared/file && echo x > shared/deep/x && cat shared/file own";
    let without = private(&tree, &layers.path().join("first"));
    let finished = run(&without, script).unwrap();
    assert!(!finished.end.ok() && finished.stderr.contains("too large"), "the control: {finished:?}");
    let copies = layers.path().join("copies");
    let found = capsid_sandbox::copy_foreign_files(&tree, &copies).unwrap();
    println!("{} foreign files of group {:?}", found.count, found.group);
    assert_eq!(capsid_sandbox::count_foreign_files(&tree).unwrap(), found);
    let mut with = private(&tree, &layers.path().join("second"));
    if let ConfinedTree::Private(tree) = &mut with.tree {
        tree.layers.push(copies);
    }
    let finished = run(&with, script).unwrap();
    assert_eq!(finished.stdout, "new\nown\n", "{finished:?}");
}

#[test]
fn root_runs_commands_as_the_owner_of_the_tree() {
    use std::os::unix::fs::{MetadataExt, chown};
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("tree");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("file"), "here\n").unwrap();
    for path in [&root, &root.join("file")] {
        chown(path, Some(1234), Some(1235)).unwrap();
    }
    let layer = tempfile::tempdir().unwrap();
    let finished =
        run(&private(&root, layer.path()), "id -u; id -g; echo more >> file; echo x > new").unwrap();
    assert_eq!(finished.stdout, "1234\n1235\n", "{finished:?}");
    for name in ["file", "new"] {
        let meta = std::fs::metadata(layer.path().join("upper").join(name)).unwrap();
        assert_eq!((meta.uid(), meta.gid()), (1234, 1235));
    }
    assert_eq!(std::fs::read_to_string(root.join("file")).unwrap(), "here\n");
}

/// The kernel refuses the user an overlay over a mount that root made.
#[test]
fn a_mount_below_the_root_or_the_home_of_a_user_is_named() {
    if !is_root() {
        return user_half_of_mounts();
    }
    let user = OrdinaryUser::new();
    let tree = user.make("tree");
    let _in_tree = MountedFolder::new("tmpfs", &user.make("tree/vol"));
    let home = user.make("home");
    user.make("home/.config");
    let _in_home = MountedFolder::new("tmpfs", &user.make("home/drive"));
    let test = "root_only::a_mount_below_the_root_or_the_home_of_a_user_is_named";
    let output = user.run_tests(&["--exact", test, "--nocapture"], &[("CAPSID_TEST_TREE", &tree)]);
    assert!(output.contains("overlay: `EINVAL`, there is a mount below the root (`vol`)"));
    assert!(!home.join(".config/planted").exists() && !home.join("planted").exists());
}

fn user_half_of_mounts() {
    let Some(tree) = std::env::var_os("CAPSID_TEST_TREE").map(PathBuf::from) else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    println!("{}", probe_private_tree(&tree, scratch.path()).unwrap_err());
    let repo = TestRepo::new();
    let script = "echo x > ~/planted; echo x > ~/.config/planted && cat ~/.config/planted";
    let (run, output) = run_agent_in(repo.path(), &std::env::home_dir().unwrap(), scratch.path(), script);
    assert!(output.contains("x\n") && output.contains("Read-only"), "{output}");
    assert_eq!(run.end, AgentEnd::Exited(0));
    assert!(run.notes.iter().any(|note| note.contains("is read-only")), "{:?}", run.notes);
}

fn run_agent_in(
    root: &Path,
    home: &Path,
    scratch: &Path,
    script: &str,
) -> (capsid_sandbox::AgentRun, String) {
    let profile = AgentProfile {
        tree: private(root, &scratch.join("tree")).tree,
        layers: scratch.join("layers"),
        home: home.to_owned(),
        hidden: Vec::new(),
        show: Vec::new(),
        sockets: Vec::new(),
        kept_writes: Vec::new(),
        copied_back: Vec::new(),
        network: true,
        disk_bytes: 1 << 30,
        processes: 512,
    };
    let request = AgentRequest {
        argv: &["sh", "-c", script].map(str::to_owned),
        cwd: root,
        prompt: b"",
        env: &[],
        timeout: std::time::Duration::from_secs(60),
        stop: &std::sync::atomic::AtomicBool::new(false),
        profile: Some(&profile),
    };
    let mut output = Vec::new();
    let run = run_agent(&request, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
    (run, String::from_utf8_lossy(&output).into_owned())
}

#[test]
fn a_repository_in_a_folder_that_only_root_may_enter_can_be_worked_on() {
    use std::os::unix::fs::PermissionsExt;
    if !is_root() {
        return;
    }
    // Neither below the home nor below /tmp, which have layers of their own.
    let closed = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let root = closed.path().canonicalize().unwrap().join("repo");
    std::fs::create_dir(&root).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let (_, output) = run_agent_in(&root, home.path(), scratch.path(), "pwd; echo x > y; touch ../canary");
    // The two outputs arrive in any order, and in pieces.
    assert!(output.contains(&format!("{}\n", root.display())), "{output}");
    assert!(scratch.path().join("tree/upper/y").exists() && !root.join("y").exists());
    assert!(!closed.path().join("canary").exists());
}
