//! `capsid merge-file`: the driver with which git merges the lists of the store.

use crate::output;
use capsid_disk::files;
use capsid_engine::store::merge::{MergeVersions, list_of, merge_lists};
use capsid_model::text::inert_line;
use capsid_model::{Problem, Result};
use capsid_sandbox::git::Git;
use clap::Args;
use std::path::{Path, PathBuf};

/// Merge genes.json, capsules.json or failed_capsules.json entry by entry. git calls this.
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_help = "\
Examples:
  git config merge.capsid.driver \"capsid merge-file %O %A %B %P\"    as `capsid init` sets it up"
)]
pub struct MergeFileArgs {
    /// The version that both sides began from.
    base: PathBuf,
    /// Our version; the result takes its place.
    ours: PathBuf,
    /// The version of the other side.
    theirs: PathBuf,
    /// The path of the file in the repository.
    path: PathBuf,
}

/// Runs the command. Exits 1 when a conflict is left, as git expects it.
pub fn run(arguments: &MergeFileArgs) -> Result<u8> {
    let read = |path: &Path| files::read_bytes(path).map(Option::unwrap_or_default);
    let versions = MergeVersions {
        base: read(&arguments.base)?,
        ours: read(&arguments.ours)?,
        theirs: read(&arguments.theirs)?,
    };
    let shown = inert_line(&arguments.path.display().to_string());
    let Some(merged) = list_of(&arguments.path).and_then(|list| merge_lists(versions, list)) else {
        output::talk(format_args!("capsid: `{shown}` cannot be merged by its entries."));
        return merge_text(arguments);
    };
    replace(&arguments.ours, merged.text.as_bytes())?;
    for id in &merged.conflicts {
        output::talk(format_args!("capsid: both sides changed `{}` in `{shown}`.", inert_line(id)));
    }
    Ok(u8::from(!merged.conflicts.is_empty()))
}

/// Leaves the lines of both sides to the user, as git does without a driver.
fn merge_text(arguments: &MergeFileArgs) -> Result<u8> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| Problem::io("read", path, &error));
    let [ours, base, theirs] =
        [&arguments.ours, &arguments.base, &arguments.theirs].map(|path| absolute(path));
    let (ours, base, theirs) = (ours?, base?, theirs?);
    let labels = ["-L", "ours", "-L", "base", "-L", "theirs"].map(std::ffi::OsStr::new);
    let mut words = vec![std::ffi::OsStr::new("merge-file"), std::ffi::OsStr::new("-q")];
    words.extend(labels);
    words.extend([ours.as_os_str(), base.as_os_str(), theirs.as_os_str()]);
    let folder = ours.parent().unwrap_or(Path::new("/"));
    Git::at(folder).try_run(&words, b"")?;
    Ok(1)
}

/// git reads the very file that it named, so it is written in place.
fn replace(path: &Path, content: &[u8]) -> Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).truncate(true).create(true).open(path);
    opened.and_then(|mut file| file.write_all(content)).map_err(|error| Problem::io("write", path, &error))
}
