//! The difference of two sets of files, computed by git in a scratch directory that the engine made.
//!
//! Neither attributes nor filters nor settings of the tree have a say: git sees bytes, not the tree.

use super::copies::{BaseContent, TreeBase};
use super::file_state::{FileContent, file_type, read_content};
use super::freeze::ChangeLayer;
use crate::tree::changes::parse;
use crate::tree::names::{self, Name};
use crate::tree::{Changes, Patch, PatchForm};
use capsid_disk::files as disk;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use rustix::fs::FileType;
use std::path::Path;

/// A file before and after a change: its mode, and its bytes or the target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePair {
    /// Its path in the tree.
    pub name: Name,
    /// What it was; none if it is new.
    pub before: FileContent,
    /// What it is; none if it is gone.
    pub after: FileContent,
}

/// Two trees in a scratch git directory.
#[derive(Debug)]
pub struct ChangeDiff {
    git: Git,
}

const BEFORE: &str = "refs/capsid/before";
const AFTER: &str = "refs/capsid/after";

/// What no blob or copy has is shown as this text.
const NOT_KNOWN: &[u8] = b"[This file was too large to be copied when the run started.]\n";

impl ChangePair {
    /// The files of a change layer, each with its content at the start of the run.
    pub fn from_layer(layer: &ChangeLayer, base: &TreeBase) -> Result<Vec<Self>> {
        let list: Vec<Name> = layer.files.iter().map(|file| file.name.clone()).collect();
        Self::from_view(&layer.folder, &list, base)
    }

    /// The same for named files of a view or of the tree itself.
    pub fn from_view(view: &Path, list: &[Name], base: &TreeBase) -> Result<Vec<Self>> {
        let mut contents = base.contents(list)?;
        list.iter()
            .map(|name| {
                let before = match contents.remove(name) {
                    Some(BaseContent::Known { mode, bytes }) => Some((mode, bytes)),
                    Some(BaseContent::Unknown) => Some((0o100_644, NOT_KNOWN.to_vec())),
                    Some(BaseContent::Absent) | None => None,
                };
                let after = read_content(view, name)
                    .map_err(|error| Problem::io("read", &names::place(view, name), &error))?;
                let after = after.map(|(identity, bytes)| (identity.mode, bytes));
                Ok(Self { name: name.clone(), before, after })
            })
            .collect()
    }
}

impl ChangeDiff {
    /// Builds both trees. The folder is made, or emptied first.
    pub fn create(folder: &Path, pairs: &[ChangePair]) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(folder).map_err(|error| Problem::io("remove", folder, &error))?;
        }
        disk::create_private_folder(folder)?;
        let git = Git::at(folder)
            .env("GIT_DIR", folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_COUNT", "0")
            .env("GIT_ATTR_NOSYSTEM", "1");
        git.run(&["init", "-q", "--bare", "--template=", "--initial-branch=none"])?;
        git.run_with_input(&["fast-import", "--quiet", "--force"], &import_stream(pairs))?;
        Ok(Self { git })
    }

    fn run(&self, options: &[&str]) -> Result<Vec<u8>> {
        let mut args = vec!["-c", "core.attributesFile=/dev/null", "diff-tree", "-r", "-M"];
        args.extend(["--no-ext-diff", "--no-textconv"]);
        args.extend(options);
        args.extend([BEFORE, AFTER]);
        self.git.run(&args)
    }

    /// What changed: renames, lines, binary and emptied files.
    pub fn changes(&self) -> Result<Changes> {
        let output = self.run(&["-z", "--raw", "--numstat"])?;
        let files = parse(&output, b"").ok_or_else(|| {
            Problem::new(Code::GitFailed, "`git diff-tree` printed something unexpected.")
                .fix("Check the version of git with `git --version`; 2.31 or newer is needed.")
        })?;
        Ok(Changes { files })
    }

    /// The changed files before and after, as trees.
    pub fn trees(&self) -> Result<(String, String)> {
        let names = [format!("{BEFORE}^{{tree}}"), format!("{AFTER}^{{tree}}")];
        let output = self.git.run(&["rev-parse", &names[0], &names[1]])?;
        let text = String::from_utf8_lossy(&output).into_owned();
        let mut lines = text.lines().map(str::to_owned);
        Ok((lines.next().unwrap_or_default(), lines.next().unwrap_or_default()))
    }

    /// The change as a patch.
    pub fn patch(&self, form: PatchForm) -> Result<Patch> {
        let mut options = vec!["-p", "--full-index", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];
        if form == PatchForm::Appliable {
            options.push("--binary");
        }
        Ok(Patch { bytes: self.run(&options)? })
    }
}

/// Two commits, one for each side, in the language of `git fast-import`.
fn import_stream(pairs: &[ChangePair]) -> Vec<u8> {
    let mut stream = Vec::new();
    for reference in [BEFORE, AFTER] {
        stream.extend(format!("commit {reference}\ncommitter c <c> 0 +0000\ndata 0\n").bytes());
        for pair in pairs {
            let side = if reference == BEFORE { &pair.before } else { &pair.after };
            let Some((mode, bytes)) = side else { continue };
            let mode = match file_type(*mode) {
                FileType::Symlink => "120000",
                _ if mode & 0o100 != 0 => "100755",
                _ => "100644",
            };
            stream.extend(format!("M {mode} inline ").bytes());
            quote(&mut stream, &pair.name);
            stream.extend(format!("\ndata {}\n", bytes.len()).bytes());
            stream.extend(bytes);
            stream.push(b'\n');
        }
        stream.push(b'\n');
    }
    stream.extend(b"done\n");
    stream
}

/// Writes a path as a quoted C string.
fn quote(stream: &mut Vec<u8>, name: &[u8]) {
    stream.push(b'"');
    for byte in name {
        match byte {
            b'"' | b'\\' => stream.extend([b'\\', *byte]),
            b' '..=b'~' => stream.push(*byte),
            _ => stream.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    stream.push(b'"');
}
