//! Files that run by themselves: an editor, a shell or git executes them without being asked. A change to one waits for
//! a person.

/// Folders and files that need a review, by the first part of their path or by their name anywhere.
const FOLDERS: [&str; 9] =
    [".vscode", ".idea", ".devcontainer", ".husky", ".githooks", ".claude", ".codex", ".cursor", ".gemini"];
const FILES: [&str; 9] = [
    ".envrc",
    ".npmrc",
    ".gitattributes",
    ".gitmodules",
    ".mcp.json",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
];

/// The paths of a change that need a review: those that run by themselves, without those that the owner allowed.
/// `hooks` is the folder that `core.hooksPath` names, if it is in the tree.
pub fn needing_review<'a>(
    paths: impl IntoIterator<Item = &'a str>,
    allowed: &[String],
    hooks: Option<&str>,
) -> Vec<String> {
    let is_allowed = |path: &str| allowed.iter().any(|entry| is_below(path, entry));
    let in_hooks = |path: &str| hooks.is_some_and(|hooks| is_below(path, hooks));
    let runs = |path: &&str| (runs_by_itself(path) || in_hooks(path)) && !is_allowed(path);
    paths.into_iter().filter(runs).map(str::to_owned).collect()
}

fn runs_by_itself(path: &str) -> bool {
    let folded = path.to_lowercase();
    let mut parts = folded.split('/').rev();
    let name = parts.next().unwrap_or_default();
    FILES.contains(&name) || name.starts_with(".yarnrc") || parts.any(|part| FOLDERS.contains(&part))
}

fn is_below(path: &str, entry: &str) -> bool {
    let entry = entry.trim_start_matches("./").trim_end_matches('/');
    path == entry || path.strip_prefix(entry).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_run_by_themselves_need_a_review_unless_the_owner_allows_them() {
        for path in [
            ".vscode/tasks.json",
            "web/.vscode/settings.json",
            ".envrc",
            "sub/.npmrc",
            ".yarnrc.yml",
            ".husky/pre-commit",
            ".VSCode/tasks.json",
            "hooks/pre-commit",
            ".claude/settings.json",
            ".gemini/settings.json",
        ] {
            assert_eq!(needing_review([path], &[], Some("hooks")), [path]);
        }
        for path in ["src/main.rs", "vscode/a", ".envrc.example", "hooks.md", "docs/.npmrc.md"] {
            assert!(needing_review([path], &[], Some("hooks")).is_empty(), "{path}");
        }
        assert!(needing_review([".vscode/tasks.json"], &[".vscode/".to_owned()], None).is_empty());
    }
}
