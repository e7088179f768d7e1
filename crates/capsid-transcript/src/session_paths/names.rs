//! Which sessions there are, by the names of files alone: quick enough for a glance.

use super::SessionPaths;
use super::find::{conversations_of, rollouts, stem, tasks, texts};
use super::walk::{files, name_of};
use crate::Tool;
use std::collections::BTreeSet;
use std::path::Path;

/// The characters of a UUID.
const UUID_LEN: usize = 36;

/// A session of a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionName {
    pub tool: Tool,
    pub session: String,
}

/// Every session of the user that has a transcript with something in it, in the order of the tools. No transcript is
/// opened, so a Codex rollout goes by the id at the end of its name.
pub fn list_by_name(paths: &SessionPaths) -> Vec<SessionName> {
    let mut sessions = BTreeSet::new();
    for tool in Tool::ALL {
        let names: Vec<String> = match tool {
            Tool::ClaudeCode => files(&paths.claude_projects, 2, &super::find::is_claude_session)
                .iter()
                .filter(|path| is_filled(path))
                .map(|path| stem(path))
                .collect(),
            Tool::Codex => {
                rollouts(paths).filter(|path| is_filled(path)).map(|path| rollout_name(&path)).collect()
            }
            Tool::Cursor => conversations_of(paths).into_iter().chain(texts(paths).into_keys()).collect(),
            Tool::Cline => tasks(paths).map(|path| name_of(&path)).collect(),
        };
        sessions.extend(names.into_iter().map(|session| SessionName { tool, session }));
    }
    sessions.into_iter().collect()
}

fn is_filled(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.len() > 0)
}

/// `rollout-2026-02-07T15-20-54-ID` holds the session's id at its end.
fn rollout_name(path: &Path) -> String {
    let stem = stem(path);
    let at = stem.len().saturating_sub(UUID_LEN);
    match stem.get(at..).filter(|id| id.len() == UUID_LEN && id.matches('-').count() == 4) {
        Some(id) => id.to_owned(),
        None => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_named_by_the_id_at_the_end_of_its_name() {
        let named = |name: &str| rollout_name(Path::new(name));
        assert_eq!(
            named("/x/rollout-2026-02-07T15-20-54-5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01.jsonl"),
            "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01"
        );
        assert_eq!(named("/x/rollout-1.jsonl"), "rollout-1");
    }
}
