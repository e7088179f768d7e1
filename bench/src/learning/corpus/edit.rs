//! Edits that turn one tree of files into another.

use crate::Result;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Files by path.
pub type FileTree = BTreeMap<String, String>;

/// One edit of a family; `bench/data/learning/README.md` describes the members.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TreeEdit {
    path: String,
    find: Option<String>,
    replace: Option<String>,
    all: bool,
    content: Option<String>,
    prepend: Option<String>,
    rename: Option<String>,
    remove: bool,
}

/// The tree after the edits. A text to find occurs exactly once unless `all` is set.
pub(super) fn apply_edits(tree: &FileTree, edits: &[TreeEdit], purpose: &str) -> Result<FileTree> {
    let mut tree = tree.clone();
    for edit in edits {
        let missing = || format!("{purpose}: no file {}", edit.path);
        if edit.remove {
            tree.remove(&edit.path).ok_or_else(missing)?;
        } else if let Some(content) = &edit.content {
            tree.insert(edit.path.clone(), content.clone());
        } else if let Some(text) = &edit.prepend {
            let file = tree.get_mut(&edit.path).ok_or_else(missing)?;
            file.insert_str(0, text);
        } else if let Some(target) = &edit.rename {
            let file = tree.remove(&edit.path).ok_or_else(missing)?;
            tree.insert(target.clone(), file);
        } else {
            let find = edit.find.as_deref().unwrap_or_default();
            let file = tree.get_mut(&edit.path).ok_or_else(missing)?;
            let count = file.matches(find).count();
            if count == 0 || (count > 1 && !edit.all) {
                return Err(format!("{purpose}: {}: {find:?} occurs {count} times", edit.path).into());
            }
            *file = file.replace(find, edit.replace.as_deref().unwrap_or_default());
        }
    }
    Ok(tree)
}
