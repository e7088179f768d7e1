//! Commits exactly the files of a cycle, and nothing that the user had under way. The user's index keeps what was staged.

use super::CycleOutcome;
use super::change::CycleChange;
use crate::run::Run;
use crate::tree::names::{self, Name};
use crate::tree::private_tree::{BaseContent, LayerFile, file_state};
use crate::workspace::Workspace;
use capsid_model::hash::hex;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value};
use capsid_rules::learning::capsule_text::commit_message::{CommitFacts, render_commit_message};
use capsid_rules::learning::proof::ProofRecord;
use capsid_sandbox::git::Git;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// What git knows of a path: its mode and its blob.
type Entry = Vec<u8>;

/// Commits the cycle's files; gives the new commit's id.
pub(super) fn commit(workspace: &Workspace, change: &CycleChange, outcome: &CycleOutcome) -> Result<String> {
    let git = Git::at(&workspace.repository.root);
    let touched = touched_names(change);
    let head = head(&git)?;
    let committed = match &head {
        Some(head) => entries(&git, &["ls-tree", "-r", "-z", head], &touched)?,
        None => BTreeMap::new(),
    };
    refuse_mixed(&git, change, &touched, &committed)?;
    let message = message(outcome);
    if workspace.config.cycle.commit_hooks {
        return commit_with_hooks(&git, &touched, &message);
    }
    let scratch = ScratchIndex::new(&git, &change.folder.path, head.as_deref())?;
    // Unlike `git add` it takes files that are already gone from the index, and those that the cycle itself ignores.
    scratch
        .git
        .run_with_input(&["update-index", "-z", "--add", "--remove", "--stdin"], &names::join(&touched))?;
    let commit = scratch.commit(&git, head.as_deref(), &message)?;
    let old = head.unwrap_or_else(|| "0".repeat(commit.len()));
    let subject = message.lines().next().unwrap_or_default();
    git.run(&["update-ref", "-m", &format!("commit: {subject}"), "HEAD", &commit, &old])?;
    update_index(&git, &touched, &committed, &commit)?;
    Ok(commit)
}

/// Commits a change to a new branch that starts at the commit of its run. Neither tree nor index is touched.
pub(super) fn commit_to_branch(
    workspace: &Workspace,
    run: &Run,
    change: &CycleChange,
    branch: &str,
) -> Result<String> {
    let git = Git::at(&workspace.repository.root);
    let Some(base) = &run.head else {
        return Err(refused(
            "the run began before the first commit, so there is nothing a branch could start from."
                .to_owned(),
        ));
    };
    if git.try_run(&["check-ref-format", "--branch", branch], b"")?.status != 0 {
        return Err(Problem::new(
            Code::InputInvalid,
            format!("`{}` cannot be the name of a branch.", inert_line(branch)),
        )
        .fix("Choose another name, such as `fix-upload`."));
    }
    let scratch = ScratchIndex::new(&git, &change.folder.path, Some(base))?;
    for file in change.layer.iter().flat_map(|layer| &layer.files) {
        scratch.set(&git, &change.folder.change(), file)?;
    }
    let commit = scratch.commit(&git, Some(base), &format!("Evolve: {}\n", inert_line(&run.run_id)))?;
    let reference = format!("refs/heads/{branch}");
    let made = git.try_run(&["update-ref", &reference, &commit, &"0".repeat(commit.len())], b"")?;
    if made.status != 0 {
        return Err(refused(format!(
            "the branch `{}` could not be created: {}",
            inert_line(branch),
            made.stderr.trim()
        )));
    }
    Ok(commit)
}

fn head(git: &Git) -> Result<Option<String>> {
    let output = git.try_run(&["rev-parse", "--verify", "--quiet", "HEAD"], b"")?;
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok((output.status == 0).then_some(id))
}

/// The title, the explanation, and what shows where the change comes from.
fn message(outcome: &CycleOutcome) -> String {
    let problem = outcome.event.get("meta").and_then(|meta| meta.get("problem"));
    let problem = problem.and_then(|problem| problem.get("text")).and_then(Value::as_str).map(inert_line);
    let proof = outcome.verdict.proof.as_ref().map(ProofRecord::success_reason);
    let capsule = outcome.capsule.as_ref().and_then(|capsule| capsule.get("id")).and_then(Value::as_str);
    let facts = CommitFacts { problem: problem.as_deref(), proof: proof.as_deref(), capsule_id: capsule };
    let message = outcome.text.as_ref().map(|text| render_commit_message(text, &facts)).unwrap_or_default();
    format!("{}\nEvent: {}\n", message.trim_end(), outcome.event_id())
}

/// Every name that the cycle touched, old names of renames included.
fn touched_names(change: &CycleChange) -> BTreeSet<Name> {
    let mut all: BTreeSet<Name> = change.names().cloned().collect();
    for file in &change.changes.files {
        all.insert(file.name.clone());
        all.extend(file.old_path.as_ref().map(|path| path.as_bytes().to_vec()));
    }
    all
}

/// An index of our own, in which a commit is put together.
struct ScratchIndex {
    git: Git,
    _folder: tempfile::TempDir,
}

impl ScratchIndex {
    /// An index with the entries of a commit.
    fn new(git: &Git, folder: &Path, commit: Option<&str>) -> Result<Self> {
        let scratch = tempfile::Builder::new()
            .prefix("index-")
            .tempdir_in(folder)
            .map_err(|error| Problem::io("make a folder in", folder, &error))?;
        let git = git.clone().env("GIT_INDEX_FILE", scratch.path().join("index"));
        match commit {
            Some(commit) => git.run(&["read-tree", commit])?,
            None => git.run(&["read-tree", "--empty"])?,
        };
        Ok(Self { git, _folder: scratch })
    }

    /// Sets the entry of one changed path from a change layer.
    fn set(&self, git: &Git, layer: &Path, file: &LayerFile) -> Result<()> {
        let name = names::show(&file.name);
        let content = file_state::read_content(layer, &file.name)
            .map_err(|error| Problem::io("read", &names::place(layer, &file.name), &error))?;
        let Some((identity, bytes)) =
            content.filter(|(identity, _)| identity.is_file() || identity.is_link())
        else {
            self.git.run(&["update-index", "--force-remove", "--", &name])?;
            return Ok(());
        };
        let path = format!("--path={name}");
        let (mode, filters) = match () {
            () if identity.is_link() => ("120000", "--no-filters"),
            () if identity.is_executable() => ("100755", path.as_str()),
            () => ("100644", path.as_str()),
        };
        let blob = git.run_with_input(&["hash-object", "-w", filters, "--stdin"], &bytes)?;
        let entry = format!("{mode},{},{name}", String::from_utf8_lossy(&blob).trim());
        self.git.run(&["update-index", "--add", "--cacheinfo", &entry])?;
        Ok(())
    }

    fn commit(&self, git: &Git, parent: Option<&str>, message: &str) -> Result<String> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
        let tree = text(self.git.run(&["write-tree"])?);
        let mut args = vec!["commit-tree", &tree];
        if let Some(parent) = parent {
            args.extend(["-p", parent]);
        }
        let signed = git.try_run(&["config", "--type=bool", "--get", "commit.gpgsign"], b"")?;
        if signed.stdout.starts_with(b"true") {
            args.push("-S");
        }
        let made = git.try_run(&args, message.as_bytes())?;
        match made.status {
            0 => Ok(text(made.stdout)),
            _ => Err(refused(format!("`git commit-tree` failed: {}", made.stderr.trim()))),
        }
    }
}

/// The user's index gets the new entry of each path where it still had the entry of the old commit.
fn update_index(
    git: &Git,
    touched: &BTreeSet<Name>,
    old: &BTreeMap<Name, Entry>,
    commit: &str,
) -> Result<()> {
    let new = entries(git, &["ls-tree", "-r", "-z", commit], touched)?;
    let staged = entries(git, &["ls-files", "-z", "--stage"], touched)?;
    let mut info = Vec::new();
    for name in touched.iter().filter(|name| staged.get(*name) == old.get(*name)) {
        match new.get(name) {
            Some(entry) => info.extend_from_slice(entry),
            None => info.extend_from_slice(b"0 0000000000000000000000000000000000000000"),
        }
        info.push(b'\t');
        info.extend_from_slice(name);
        info.push(0);
    }
    if !info.is_empty() {
        git.run_with_input(&["update-index", "-z", "--index-info"], &info)?;
    }
    Ok(())
}

/// The entries of paths in a listing of git, as `mode blob`.
fn entries(git: &Git, args: &[&str], wanted: &BTreeSet<Name>) -> Result<BTreeMap<Name, Entry>> {
    let listing = git.run(args)?;
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let name = line[tab + 1..].to_vec();
        let fields: Vec<&[u8]> = line[..tab].split(|byte| *byte == b' ').collect();
        // `ls-tree` prints mode, type and blob, `ls-files` mode, blob and stage.
        let blob = fields.iter().skip(1).find(|field| field.len() >= 40)?;
        wanted.contains(&name).then(|| (name, [fields[0], b" ", blob].concat()))
    };
    Ok(names::split(&listing).filter_map(entry).collect())
}

/// A file that differed from the last commit when the run began holds edits of the user's own.
fn refuse_mixed(
    git: &Git,
    change: &CycleChange,
    touched: &BTreeSet<Name>,
    committed: &BTreeMap<Name, Entry>,
) -> Result<()> {
    let list: Vec<Name> = touched.iter().cloned().collect();
    let contents = change.base.contents(&list)?;
    let mut mixed = Vec::new();
    for name in touched {
        let before =
            match (change.base.manifest.file(name).and_then(|file| file.blob.as_ref()), contents.get(name)) {
                (Some(blob), _) => Some(hex(blob.as_bytes()).into_bytes()),
                (None, Some(BaseContent::Known { bytes, .. })) => {
                    let path = format!("--path={}", names::show(name));
                    Some(git.run_with_input(&["hash-object", &path, "--stdin"], bytes)?.trim_ascii().to_vec())
                }
                (None, Some(BaseContent::Unknown)) => Some(Vec::new()),
                (None, Some(BaseContent::Absent) | None) => None,
            };
        let known = committed.get(name).and_then(|entry| entry.split(|byte| *byte == b' ').nth(1));
        if before.as_deref() != known {
            mixed.push(names::show(name));
        }
    }
    if mixed.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "`{}` held edits of yours before the cycle, so nothing was committed.",
        mixed.join("`, `")
    )))
}

/// The same by `git commit`, for owners who want their hooks to run.
fn commit_with_hooks(git: &Git, touched: &BTreeSet<Name>, message: &str) -> Result<String> {
    git.run_with_input(&["update-index", "-z", "--add", "--remove", "--stdin"], &names::join(touched))?;
    let mut args: Vec<OsString> =
        ["--literal-pathspecs", "commit", "--only", "-m", message, "--"].map(OsString::from).to_vec();
    args.extend(touched.iter().map(|name| names::to_path(name).into()));
    let output = git.run_with_hooks(&args)?;
    if output.status != 0 {
        return Err(refused(format!("`git commit` refused: {}", output.stderr.trim())));
    }
    let head = git.run(&["rev-parse", "HEAD"])?;
    Ok(String::from_utf8_lossy(&head).trim().to_owned())
}

fn refused(message: String) -> Problem {
    Problem::new(Code::CommitRefused, message).fix(
        "The change is in the work tree and recorded; commit it by hand with `git add -p` and `git commit`.",
    )
}
