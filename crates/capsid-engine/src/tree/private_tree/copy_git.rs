//! The git directory of a copy of the tree.

use super::rules::BaseScope;
use crate::tree::names;
use capsid_disk::files as disk;
use capsid_model::Result;
use capsid_sandbox::git::Git;
use std::path::Path;

/// Settings of the user's repository that change what git does in a work tree; no hooks, no programs, no secrets.
const COPIED_SETTINGS: [&str; 9] = [
    "user.name",
    "user.email",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.precomposeunicode",
    "core.sharedrepository",
];

/// Makes a git directory that borrows the objects of the user's and has its refs, HEAD and index.
pub(super) fn create_git_directory(root: &Path, destination: &Path, scope: &BaseScope) -> Result<()> {
    let folder = destination.join(".git");
    let user = Git::at(root);
    let format = names::show(user.run(&["rev-parse", "--show-object-format"])?.trim_ascii());
    disk::create_private_folder(&folder)?;
    let git = Git::at(destination)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_DIR", &folder);
    let format = format!("--object-format={format}");
    git.run(&["init", "-q", "--template=", &format, "--initial-branch=main"])?;
    let mut alternates = names::of_path(&scope.common_dir.join("objects"));
    alternates.push(b'\n');
    disk::replace(&folder.join("objects/info/alternates"), &alternates)?;
    for setting in COPIED_SETTINGS {
        let value = user.try_run(&["config", "--get", setting], b"")?;
        if value.status == 0 {
            git.run(&["config", setting, names::show(value.stdout.trim_ascii_end()).as_str()])?;
        }
    }
    // Inodes and change times of the copies differ from what the copied index says.
    git.run(&["config", "core.checkStat", "minimal"])?;
    git.run(&["config", "core.trustctime", "false"])?;
    let refs = user.run(&["for-each-ref", "--format=%(objectname) %(refname)"])?;
    disk::replace(&folder.join("packed-refs"), &refs)?;
    for name in ["HEAD", "index"] {
        if let Some(bytes) = disk::read_bytes(&scope.git_dir.join(name))? {
            disk::replace(&folder.join(name), &bytes)?;
        }
    }
    let exclude = disk::read_bytes(&scope.common_dir.join("info/exclude"))?.unwrap_or_default();
    disk::replace(&folder.join("info/exclude"), &exclude)
}
