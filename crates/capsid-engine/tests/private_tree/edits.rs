//! Random edits, made in a real overlay by this test program itself, started again in a mount namespace.

use super::help::{TreeEntry, TreeMap, read_tree};
use capsid_engine::tree::names;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Edit {
    Write(Vec<u8>, String),
    Append(Vec<u8>),
    Sparse(Vec<u8>),
    Touch(Vec<u8>),
    Remove(Vec<u8>),
    Rename(Vec<u8>, Vec<u8>),
    Link(String, Vec<u8>),
    Directory(Vec<u8>),
    Mode(Vec<u8>, u32),
}

pub const NAMES: [&[u8]; 22] = [
    b"a",
    b"b",
    b"a/x",
    b"a/y/z",
    b"b/x",
    b"\xc3\xbc n",
    b"c/d/e",
    b"c/d",
    b"c",
    b"f\"g",
    b"line\nbreak",
    b"bad\xff",
    b"built/out",
    b"built/deep/out",
    b"x.o",
    b"c/x.o",
    b"kept.o",
    b"nested/file",
    b"nested/x.tmp",
    b"empty/inner",
    b"c/d/f",
    b" lead",
];

impl Edit {
    pub fn random(random: &mut fastrand::Rng) -> Self {
        let mut name = || NAMES[random.usize(..NAMES.len())].to_vec();
        let (path, other) = (name(), name());
        match random.u8(..16) {
            0..4 => {
                let text: String = (0..random.usize(..40)).map(|_| ['x', '\n'][random.usize(..2)]).collect();
                Self::Write(path, text)
            }
            4 => Self::Append(path),
            5 => Self::Sparse(path),
            6 => Self::Touch(path),
            7..10 => Self::Remove(path),
            10 => Self::Rename(path, other),
            11 => Self::Link(
                ["a", "../c", "c/d", "/nonexistent/outside", "../../out"][random.usize(..5)].into(),
                path,
            ),
            12 => Self::Directory(path),
            _ => Self::Mode(path, [0o644, 0o755, 0o600, 0o700, 0o640][random.usize(..5)]),
        }
    }

    fn follows_a_link(&self, root: &Path) -> bool {
        let is_link = |name: &[u8]| names::place(root, name).is_symlink();
        let above = |name: &[u8]| names::folders(name).any(is_link);
        match self {
            Self::Write(name, _) | Self::Append(name) | Self::Sparse(name) | Self::Touch(name) => {
                is_link(name) || above(name)
            }
            Self::Directory(name) | Self::Mode(name, _) => is_link(name) || above(name),
            Self::Remove(name) | Self::Link(_, name) => above(name),
            Self::Rename(from, to) => above(from) || above(to),
        }
    }

    /// Makes the edit; some fail because of what is there, and that is fine.
    pub fn make(&self, root: &Path) {
        use std::io::{Seek, Write};
        let at = |name: &[u8]| names::place(root, name);
        let folder = |name: &[u8]| drop(std::fs::create_dir_all(at(name).parent().unwrap()));
        let open = |name: &[u8]| std::fs::OpenOptions::new().append(true).open(at(name));
        // An edit through a link would leave the tree, and these tests may run as root.
        if self.follows_a_link(root) {
            return;
        }
        match self {
            Self::Write(name, text) => {
                folder(name);
                let _ = std::fs::write(at(name), text);
            }
            Self::Append(name) if at(name).is_file() => drop(open(name).unwrap().write_all(b"more\n")),
            Self::Sparse(name) => {
                folder(name);
                if let Ok(mut file) = std::fs::File::create(at(name)) {
                    file.set_len(1 << 20).unwrap();
                    file.seek(std::io::SeekFrom::Start(1 << 19)).unwrap();
                    file.write_all(b"middle").unwrap();
                }
            }
            Self::Touch(name) if at(name).is_file() => {
                let now = std::fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
                open(name).unwrap().set_times(now).unwrap();
            }
            Self::Remove(name) => match at(name).symlink_metadata() {
                Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(at(name)).unwrap(),
                Ok(_) => std::fs::remove_file(at(name)).unwrap(),
                Err(_) => {}
            },
            Self::Rename(from, to) => drop(std::fs::rename(at(from), at(to))),
            Self::Link(target, name) => {
                folder(name);
                let _ = std::os::unix::fs::symlink(target, at(name));
            }
            Self::Directory(name) => drop(std::fs::create_dir_all(at(name))),
            Self::Mode(name, mode) => {
                if at(name).symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                    std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(*mode)).unwrap();
                }
            }
            Self::Append(_) | Self::Touch(_) => {}
        }
    }
}

/// What the program that is started again shall do.
#[derive(Serialize, Deserialize)]
struct Order {
    root: PathBuf,
    edits: Vec<Edit>,
    answer: PathBuf,
}

const ORDER: &str = "CAPSID_TEST_VIEW_ORDER";

#[test]
#[ignore = "other tests start it in a mount namespace"]
fn edits_are_made_in_a_view() {
    let Some(path) = std::env::var_os(ORDER) else { return };
    let order: Order = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for edit in &order.edits {
        edit.make(&order.root);
    }
    let tree: Vec<_> = read_tree(&order.root).into_iter().collect();
    std::fs::write(order.answer, serde_json::to_vec(&tree).unwrap()).unwrap();
}

/// How a mount namespace is made here; the reason if it cannot be.
pub static NAMESPACE: LazyLock<Result<&'static str, String>> = LazyLock::new(|| {
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let folder = capsid_testkit::disk::tempdir();
    for name in ["lower", "upper", "work"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let options = "userxattr,lowerdir=lower,upperdir=upper,workdir=work";
    let script = format!("mount -t overlay overlay -o {options} lower");
    let output =
        Command::new("unshare").args([flags, "sh", "-c", &script]).current_dir(folder.path()).output();
    match output {
        Ok(output) if output.status.success() => Ok(flags),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
});

/// Mounts an overlay over `root`, makes edits in it, and gives what is seen there afterwards.
pub fn make_in_overlay(
    root: &Path,
    lower: &[&Path],
    folder: &Path,
    upper: Option<&Path>,
    edits: &[Edit],
) -> TreeMap {
    let flags = NAMESPACE.as_ref().unwrap();
    let order = Order { root: root.to_owned(), edits: edits.to_vec(), answer: folder.join("answer.json") };
    let path = folder.join("order.json");
    std::fs::write(&path, serde_json::to_vec(&order).unwrap()).unwrap();
    let lower: Vec<&str> = lower.iter().map(|path| path.to_str().unwrap()).collect();
    let mut options = format!("userxattr,lowerdir={}", lower.join(":"));
    if let Some(upper) = upper {
        let work = folder.join("work");
        std::fs::create_dir_all(&work).unwrap();
        options += &format!(",upperdir={},workdir={}", upper.display(), work.display());
    }
    let script = r#"mount -t overlay overlay -o "$1" "$2" && exec "$3" --exact private_tree::edits::edits_are_made_in_a_view --ignored"#;
    let output = Command::new("unshare")
        .args([flags, "sh", "-c", script, "sh", &options])
        .arg(root)
        .arg(std::env::current_exe().unwrap())
        .env(ORDER, &path)
        .current_dir("/")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let answer: Vec<TreeEntry> = serde_json::from_slice(&std::fs::read(&order.answer).unwrap()).unwrap();
    answer.into_iter().collect()
}

/// Builds the upper layer that a view would have, for systems without mount namespaces.
pub fn make_by_hand(root: &Path, folder: &Path, upper: &Path, edits: &[Edit]) -> TreeMap {
    let view = folder.join("hand");
    assert!(Command::new("cp").arg("-a").arg(root).arg(&view).status().unwrap().success());
    for edit in edits {
        edit.make(&view);
    }
    let (before, after) = (read_tree(root), read_tree(&view));
    for name in after.keys().filter(|name| after.get(*name) != before.get(*name)) {
        let target = names::place(upper, name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let copied = Command::new("cp").arg("-a").arg(names::place(&view, name)).arg(&target).status();
        assert!(copied.unwrap().success());
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        let target = names::place(upper, name);
        let above =
            |folder: &[u8]| names::place(upper, folder).symlink_metadata().is_ok_and(|meta| !meta.is_dir());
        if target.symlink_metadata().is_ok() || names::folders(name).any(above) {
            continue;
        }
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, &target, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }
    after
}
