//! Commits exactly the files of a cycle, and nothing the user had under way.

use super::Settlement;
use super::changed::Changed;
use crate::snapshot::names;
use crate::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// Commits the cycle's files; gives the new commit's id.
pub(super) fn commit(workspace: &Workspace, changed: &Changed, settlement: &Settlement) -> Result<String> {
    let git = Git::at(&workspace.repository.root);
    let names = cycle_names(changed);
    refuse_mixed(&git, changed, &names)?;
    // Unlike `git add` it takes files that are already gone from the index, and those that the cycle itself ignores.
    let stage = ["update-index", "-z", "--add", "--remove", "--stdin"];
    git.run_with_input(&stage, &names::join(&names))?;
    let message = format!(
        "Evolve: {} ({})\n\nEvent: {}\n",
        inert_line(settlement.gene_id()),
        intent(settlement),
        settlement.event_id()
    );
    let mut args: Vec<OsString> =
        ["--literal-pathspecs", "commit", "--only", "-m", &message, "--"].map(OsString::from).to_vec();
    args.extend(names.iter().map(|name| names::to_path(name).into()));
    let output = git.run_with_hooks(&args)?;
    if output.status != 0 {
        return Err(refused(format!("`git commit` refused: {}", output.stderr.trim())));
    }
    let head = git.run(&["rev-parse", "HEAD"])?;
    Ok(String::from_utf8_lossy(&head).trim().to_owned())
}

/// Every name that the cycle touched, old names of renames included.
fn cycle_names(changed: &Changed) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::new();
    for file in &changed.changes.files {
        all.insert(file.name.clone());
        all.extend(file.old_path.as_ref().map(|path| path.as_bytes().to_vec()));
    }
    all
}

/// A file that already differed from the last commit when the run began holds edits of the user's own.
fn refuse_mixed(git: &Git, changed: &Changed, names: &BTreeSet<Vec<u8>>) -> Result<()> {
    let Some(head) = &changed.before.head else {
        return Ok(());
    };
    let committed = git.run(&["ls-tree", "-r", "-z", head])?;
    let before = entries(&changed.shadow.listing(&changed.before)?);
    let known = entries(&committed);
    let mixed: Vec<String> = names
        .iter()
        .filter(|name| before.get(*name) != known.get(*name))
        .map(|name| names::show(name))
        .collect();
    if mixed.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "`{}` held edits of yours before the cycle, so nothing was committed.",
        mixed.join("`, `")
    )))
}

/// The blob of each path in the output of `git ls-tree -r -z`.
fn entries(listing: &[u8]) -> std::collections::BTreeMap<Vec<u8>, Vec<u8>> {
    names::split(listing)
        .filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let blob = entry[..tab].rsplit(|byte| *byte == b' ').next()?;
            Some((entry[tab + 1..].to_vec(), blob.to_vec()))
        })
        .collect()
}

fn intent(settlement: &Settlement) -> &str {
    settlement.event.get("intent").and_then(capsid_model::Value::as_str).unwrap_or_default()
}

fn refused(message: String) -> Problem {
    Problem::new(Code::CommitRefused, message).fix(
        "The change is in the work tree and recorded; commit it by hand with `git add -p` and `git commit`.",
    )
}
