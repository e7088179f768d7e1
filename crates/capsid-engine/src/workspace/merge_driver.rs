//! How git merges the store of two clones: attributes that `init` writes into the store, and a driver that each clone
//! names in its own configuration.

use super::Workspace;
use capsid_disk::files;
use capsid_model::Result;
use capsid_sandbox::git::Git;
use std::path::Path;

/// The attributes of the store's files. Lines are merged by git itself; lists by the driver.
pub const ATTRIBUTES: &str = "\
# How git merges what two clones learned. `capsid` sets up the driver in each clone.
*.jsonl -text merge=union
genes.json merge=capsid
capsules.json merge=capsid
failed_capsules.json merge=capsid
";

/// The attribute that asks for the driver.
const ATTRIBUTE: &str = "merge=capsid";

const KEY: &str = "merge.capsid.driver";

/// What follows the program in the driver's command.
const ARGUMENTS: &str = "merge-file %O %A %B %P";

/// Whether the repository asks for the driver.
pub fn is_wanted(workspace: &Workspace) -> bool {
    [&workspace.paths.assets, &workspace.repository.root].into_iter().any(|folder| asks_for_driver(folder))
}

pub(super) fn asks_for_driver(folder: &Path) -> bool {
    let text = files::read_optional(&folder.join(".gitattributes")).ok().flatten().unwrap_or_default();
    text.lines().any(|line| !line.starts_with('#') && line.split_whitespace().any(|word| word == ATTRIBUTE))
}

/// Whether this clone has a driver that can be started.
pub fn is_set_up(workspace: &Workspace) -> Result<bool> {
    let output = Git::at(&workspace.repository.root).try_run(&["config", "--get", KEY], b"")?;
    let command = String::from_utf8_lossy(&output.stdout);
    // A driver of the user's own is left alone. One of ours may name a program that was moved.
    Ok(match command.trim().strip_suffix(ARGUMENTS) {
        None => !command.trim().is_empty(),
        Some(program) => {
            let program = program.trim().trim_matches('\'').replace(r"'\''", "'");
            !program.contains('/') || Path::new(&program).exists()
        }
    })
}

/// Names the driver in the configuration of this clone, if the repository asks for it and it is missing; says whether it
/// did. `program` is how this program is started.
pub fn set_up(workspace: &Workspace, program: &str) -> Result<bool> {
    if !is_wanted(workspace) || is_set_up(workspace)? {
        return Ok(false);
    }
    let git = Git::at(&workspace.repository.root);
    let command = format!("'{}' {ARGUMENTS}", program.replace('\'', r"'\''"));
    git.run(&["config", "merge.capsid.name", "entries of the capsid store"])?;
    git.run(&["config", KEY, &command])?;
    Ok(true)
}
