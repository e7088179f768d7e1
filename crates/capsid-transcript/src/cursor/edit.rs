//! What a tool changed in a file.

use crate::shape::{LineCounts, count_diff, first_text, replacement};
use capsid_model::exact::ExactJson;

const FILE_TOOLS: [&str; 9] = [
    "edit_file",
    "edit_file_v2",
    "write",
    "write_file",
    "create_file",
    "search_replace",
    "apply_patch",
    "reapply",
    "delete_file",
];
const DIFFS: [&str; 4] = ["diff", "patch", "unifiedDiff", "diffString"];
const OLD: [&str; 4] = ["oldString", "old_string", "oldText", "old_str"];
const NEW: [&str; 7] = ["newString", "new_string", "newText", "new_str", "code", "contents", "content"];
const PATHS: [&str; 5] = ["target_file", "file_path", "file", "path", "relativeWorkspacePath"];

/// Whether a tool changes files.
pub(super) fn is_file_tool(name: &str) -> bool {
    FILE_TOOLS.iter().any(|tool| tool.eq_ignore_ascii_case(name))
}

/// `edited <path>` or `deleted <path>`.
pub(super) fn side_effect(name: &str, arguments: &ExactJson) -> Option<String> {
    let verb = if name.eq_ignore_ascii_case("delete_file") { "deleted" } else { "edited" };
    first_text(arguments, &PATHS).map(|path| format!("{verb} {path}"))
}

/// The change as a diff: as the tool gave it, else made of the old and the new text.
pub(super) fn diff(arguments: &ExactJson, result: &ExactJson) -> Option<(String, LineCounts)> {
    if let Some(diff) = edited_text(arguments).or_else(|| edited_text(result)) {
        let counts = count_diff(&diff);
        return Some((diff, counts));
    }
    let text =
        |names: &[&str]| names.iter().find_map(|name| arguments.text(name).filter(|text| !text.is_empty()));
    let (old, new) = (text(&OLD), text(&NEW));
    (old.is_some() || new.is_some()).then(|| replacement(old.unwrap_or_default(), new.unwrap_or_default()))
}

/// A diff is a text, or an object whose chunks hold it in parts.
fn edited_text(value: &ExactJson) -> Option<String> {
    let text = |name: &&str| value.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
    DIFFS.iter().find_map(text).or_else(|| {
        let chunks = value.at(&["diff", "chunks"])?.as_array()?;
        let parts: Vec<&str> = chunks.iter().filter_map(|chunk| chunk.text("diffString")).collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    })
}
