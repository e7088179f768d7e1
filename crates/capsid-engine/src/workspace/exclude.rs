//! Keeps the engine's state out of `git status`, by the list of ignored files that belongs to this clone alone.

use super::Workspace;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::path::Path;

const HEADER: &str = "# The state of `capsid`, which belongs to this clone alone.";

/// Adds what is missing to `info/exclude` of the git directory. The user's own `.gitignore` is never touched, and wins.
pub(super) fn exclude_state(workspace: &Workspace) -> Result<()> {
    let wanted = patterns(workspace);
    let path = workspace.repository.common_dir.join("info").join("exclude");
    let bytes = files::read_bytes(&path)?.unwrap_or_default();
    let is_there =
        |pattern: &String| bytes.split(|byte| *byte == b'\n').any(|line| line == pattern.as_bytes());
    let missing: Vec<String> = wanted.into_iter().filter(|pattern| !is_there(pattern)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut text = bytes.clone();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    if !is_there(&HEADER.to_owned()) {
        text.extend_from_slice(HEADER.as_bytes());
        text.push(b'\n');
    }
    for pattern in missing {
        text.extend_from_slice(pattern.as_bytes());
        text.push(b'\n');
    }
    match write(&path, &text) {
        // A git directory that may only be read is no reason to do without a cycle.
        Err(problem) if problem.code == Code::PermissionDenied => Ok(()),
        written => written,
    }
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Problem::io("create", folder, &error))?;
    }
    files::replace(path, text)
}

/// The state inside the repository that nothing else hides: `init` puts a `.gitignore` into the folders that it creates.
fn patterns(workspace: &Workspace) -> Vec<String> {
    let paths = &workspace.paths;
    let mut state = paths.state();
    if hides_everything(&paths.evolution) {
        state.retain(|path| !path.starts_with(&paths.evolution));
    }
    if !paths.assets.join(".gitignore").exists() {
        state.push(paths.assets.join(".store.lock"));
    }
    let root = &workspace.repository.root;
    let inside = |path: &Path| path.strip_prefix(root).ok().and_then(pattern);
    let prompts = inside(&paths.memory).map(|memory| format!("{memory}/distill_prompt_*.txt"));
    state.iter().filter_map(|path| inside(path)).chain(prompts).collect()
}

fn hides_everything(folder: &Path) -> bool {
    let text = files::read_optional(&folder.join(".gitignore")).ok().flatten().unwrap_or_default();
    text.lines().any(|line| line.trim() == "*")
}

/// The pattern for exactly this path; none for the repository itself and for a name that no line can hold.
fn pattern(path: &Path) -> Option<String> {
    let is_line = |name: &&str| !name.is_empty() && !name.contains(['\n', '\r', '\\']);
    let name = path.to_str().filter(is_line)?;
    let mut pattern = String::from("/");
    for char in name.chars() {
        if "*?[ ".contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_one_path_alone() {
        assert_eq!(pattern(Path::new("memory/evolution")).as_deref(), Some("/memory/evolution"));
        assert_eq!(pattern(Path::new("a b/[x]*")).as_deref(), Some("/a\\ b/\\[x]\\*"));
        assert_eq!(pattern(Path::new("a\nb")), None);
        assert_eq!(pattern(Path::new("")), None);
    }
}
