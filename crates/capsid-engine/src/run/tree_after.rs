//! How a run left the tree, so that a later cycle with the same inputs knows whether anything changed since.

use super::folder::RunFolder;
use crate::tree::names::{self, Name};
use crate::tree::private_tree::{BaseManifest, FileState, beneath, file_state};
use crate::workspace::Workspace;
use capsid_model::{Problem, Result, Value};
use std::collections::BTreeMap;

/// A larger change is not noted: then the tree counts as changed.
const MAX_FILES: usize = 200;

/// The files that a run changed in the tree, as it left them.
pub type FilesAfter = BTreeMap<String, FileState>;

/// What a record notes of the files; null where there are too many.
pub fn to_value(files: &[(Name, FileState)]) -> Value {
    if files.len() > MAX_FILES {
        return Value::Null;
    }
    let noted: FilesAfter = files.iter().map(|(name, state)| (names::show(name), state.clone())).collect();
    serde_json::to_value(noted).unwrap_or_default()
}

/// Whether the tree is as a finished run left it. Where that is not known, it is not.
pub fn is_as_left(workspace: &Workspace, run_id: &str, noted: Option<&Value>) -> Result<bool> {
    let after = noted.and_then(|noted| serde_json::from_value::<FilesAfter>(noted.clone()).ok());
    let manifest = RunFolder::of_run(workspace, run_id)?.manifest();
    let (Some(after), true) = (after, manifest.exists()) else { return Ok(false) };
    let root = &workspace.repository.root;
    let drift = BaseManifest::read(&manifest)?.compare(root)?;
    let is_known = |name: &&Name| after.contains_key(&names::show(name));
    if !drift.names().iter().all(is_known) {
        return Ok(false);
    }
    let handle = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
    for (path, state) in &after {
        let now = file_state::inspect_beneath(&handle, path.as_bytes())
            .map_err(|error| Problem::io("read", &root.join(path), &error))?;
        if now.state != *state {
            return Ok(false);
        }
    }
    Ok(true)
}
