//! What older versions kept in `.git/capsid`, brought over once. The old folder stays, with a note in it.

use super::Workspace;
use super::journal::{Journal, StateFile};
use super::outbox::OutboxFile;
use crate::store;
use crate::tree::private_tree::file_state::read_content;
use crate::tree::private_tree::{BaseManifest, BaseScope, ChangeDiff, ChangePair};
use crate::tree::{PatchForm, names};
use capsid_disk::files;
use capsid_model::{Object, Problem, Result, Value, json};
use capsid_sandbox::git::Git;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files that are the same in both places.
const SAME: [&str; 7] = [
    "chain",
    "hub_outbox.jsonl",
    "memory_outbox.jsonl",
    "task_work.json",
    "task_budget.json",
    "hub_sync.json",
    "published.jsonl",
];

const NOTE: &str = "MOVED.txt";

/// What an older version wrote before it finished a run.
#[derive(Debug, Deserialize)]
struct OldJournal {
    run_id: String,
    gene: Option<Object>,
    capsule: Option<Object>,
    failed: Option<Object>,
    #[serde(default)]
    records: Vec<Object>,
    #[serde(default)]
    graph: Vec<Object>,
    personality: Option<Object>,
    #[serde(default)]
    narrative: String,
    settled: Object,
    outgoing: Option<Object>,
}

/// Copies the files that are the same in both places, when the new folder is made.
pub(super) fn copy_files(workspace: &Workspace, new: &Path) -> Result<()> {
    let old = old_folder(workspace);
    for name in SAME {
        if let Some(bytes) = files::read_bytes(&old.join(name))? {
            files::replace_secret(&new.join(name), &bytes)?;
        }
    }
    Ok(())
}

/// Ends what an older version had under way, once. The caller holds the lock.
pub(super) fn adopt(workspace: &Workspace) -> Result<()> {
    let (old, new) = (old_folder(workspace), workspace.state_dir()?);
    if !old.join("run.json").exists() || old.join(NOTE).exists() {
        return Ok(());
    }
    finish_journal(workspace, &old)?;
    abandon_run(workspace, &old)?;
    let note = format!(
        "Capsid keeps its state in\n{}\nsince version 0.2. This folder is not used any more and can be removed.\n",
        new.display()
    );
    files::replace(&old.join(NOTE), note.as_bytes())
}

/// Where older versions kept their state.
pub fn old_folder(workspace: &Workspace) -> PathBuf {
    workspace.repository.git_dir.join("capsid")
}

/// The records of a run that was being finished are written; no file of the tree is touched.
fn finish_journal(workspace: &Workspace, old: &Path) -> Result<()> {
    let Some(text) = files::read_optional(&old.join("solidify_journal.json"))? else { return Ok(()) };
    let Ok(journal) = serde_json::from_str::<OldJournal>(&text) else { return Ok(()) };
    let paths = &workspace.paths;
    let mut states = Vec::new();
    if let Some(document) = journal.personality {
        states.push(StateFile { path: paths.personality(), document });
    }
    let mut state = store::read_state(&paths.run_state())?;
    state.insert("last_solidify".to_owned(), journal.settled.into());
    states.push(StateFile { path: paths.run_state(), document: state });
    let mut narrative = files::read_optional(&paths.narrative())?.unwrap_or_default();
    if !narrative.contains(journal.narrative.trim()) {
        narrative.push('\n');
        narrative.push_str(&journal.narrative);
    }
    Journal {
        run_id: journal.run_id,
        gene: journal.gene,
        capsule: journal.capsule,
        failed: journal.failed,
        records: journal.records,
        graph: journal.graph,
        states,
        narrative: Some(narrative),
        outgoing: journal.outgoing.map(|entry| (OutboxFile::HubReports, vec![entry])).into_iter().collect(),
        ..Journal::default()
    }
    .commit(workspace)?;
    Ok(())
}

/// A run that waited is marked as abandoned. Its files stay where they are: nobody can tell any more whose edits they
/// hold.
fn abandon_run(workspace: &Workspace, old: &Path) -> Result<()> {
    let run = store::read_state(&old.join("run.json"))?;
    let path = workspace.paths.run_state();
    let mut state = store::read_state(&path)?;
    let id = |object: &Object, member: &str| {
        object.get(member).and_then(|run| run.get("run_id")).and_then(Value::as_str).map(str::to_owned)
    };
    let pending = id(&state, "last_run").filter(|run_id| {
        run.get("run_id").and_then(Value::as_str) == Some(run_id)
            && id(&state, "last_solidify").as_ref() != Some(run_id)
    });
    let Some(run_id) = pending else { return Ok(()) };
    save_patch(workspace, old, &run, &run_id);
    let record = json!({"run_id": run_id, "abandoned": true, "timestamp": workspace.now().iso()});
    state.insert("last_solidify".to_owned(), record);
    store::write_state(&path, &state)
}

/// What changed since the run began, as a patch beside the other ones.
fn save_patch(workspace: &Workspace, old: &Path, run: &Object, run_id: &str) {
    // A patch is a convenience here: the files themselves are untouched whether it can be made or not.
    if let Ok(Some(patch)) = patch_since(workspace, old, run) {
        let _ = files::replace_private(&workspace.paths.patch(run_id), &patch);
    }
}

/// Compares the tree with the old snapshot. The objects of the snapshot are only read, through a git directory of our
/// own: the settings of the old one may not be the ones that we wrote.
fn patch_since(workspace: &Workspace, old: &Path, run: &Object) -> Result<Option<Vec<u8>>> {
    let snapshot = run.get("snapshot").and_then(|snapshot| snapshot.get("tree")).and_then(Value::as_str);
    let Some(tree) = snapshot.filter(|tree| tree.bytes().all(|byte| byte.is_ascii_hexdigit())) else {
        return Ok(None);
    };
    let root = &workspace.repository.root;
    let scratch = workspace.state_dir()?.join("old");
    let objects = old.join("shadow").join("objects");
    let git =
        Git::at(root).env("GIT_DIR", &workspace.repository.git_dir).env("GIT_OBJECT_DIRECTORY", &objects);
    let listing = git.run(&["ls-tree", "-r", "-z", tree])?;
    let mut before: BTreeMap<Vec<u8>, (u32, Vec<u8>)> = BTreeMap::new();
    for line in names::split(&listing) {
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
        let fields = String::from_utf8_lossy(&line[..tab]).into_owned();
        let mut fields = fields.split(' ');
        let (Some(mode), Some("blob"), Some(blob)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let mode = u32::from_str_radix(mode, 8).unwrap_or(0o100_644);
        before.insert(line[tab + 1..].to_vec(), (mode, git.run(&["cat-file", "blob", blob])?));
    }
    let now =
        BaseManifest::record(root, &BaseScope { own: own_names(workspace), ..git_scope(workspace) }, None)?;
    let listed: BTreeSet<Vec<u8>> =
        now.files().iter().map(|file| file.name.clone()).chain(before.keys().cloned()).collect();
    let mut pairs = Vec::new();
    for name in listed {
        let after = read_content(root, &name).map_err(|error| Problem::io("read", root, &error))?;
        let after = after.map(|(identity, bytes)| (identity.mode, bytes));
        pairs.push(ChangePair { before: before.remove(&name), name, after });
    }
    let patch = ChangeDiff::create(&scratch, &pairs)?.patch(PatchForm::Appliable)?;
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(Some(patch.bytes))
}

fn own_names(workspace: &Workspace) -> Vec<Vec<u8>> {
    workspace.paths.own().into_iter().map(|path| names::of_path(&path)).collect()
}

fn git_scope(workspace: &Workspace) -> BaseScope {
    let repository = &workspace.repository;
    BaseScope {
        git_dir: repository.git_dir.clone(),
        common_dir: repository.common_dir.clone(),
        ..BaseScope::default()
    }
}
