//! The id that a person means: the whole one, the first digits of it, or `last`.

use crate::commands::workspace;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use clap_complete::CompletionCandidate;
use std::path::Path;

/// Fewer digits could mean anything.
const MIN_DIGITS: usize = 8;
/// How many events a shell offers.
const MAX_EVENTS: usize = 50;
/// How many of several matches are named.
const MAX_NAMED: usize = 3;

/// Completes what was given from the ids there are, oldest first. What fits none is left as it is: whoever looks it up
/// says that it is not there.
pub(crate) fn complete_id(given: &str, ids: &[String]) -> Result<String> {
    if ids.iter().any(|id| id == given) {
        return Ok(given.to_owned());
    }
    if given == "last" {
        return Ok(ids.last().cloned().unwrap_or_else(|| given.to_owned()));
    }
    let digits = given.strip_prefix("sha256:").unwrap_or(given);
    if digits.len() < MIN_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(given.to_owned());
    }
    let mut matches: Vec<&String> = ids.iter().filter(|id| digits_of(id).starts_with(digits)).collect();
    matches.dedup();
    match matches[..] {
        [] => Ok(given.to_owned()),
        [only] => Ok(only.clone()),
        _ => {
            let named: Vec<String> =
                matches.iter().take(MAX_NAMED).map(|id| format!("`{}`", inert_line(id))).collect();
            let message =
                format!("{} ids begin with `{}`: {}.", matches.len(), inert_line(given), named.join(", "));
            Err(Problem::new(Code::UsageError, message).fix("Give more digits."))
        }
    }
}

/// The ids of the store around the current folder, for a shell that completes a command line.
pub(crate) fn list_candidates() -> Vec<CompletionCandidate> {
    let Ok(workspace) = workspace(Path::new(".")) else { return Vec::new() };
    let store = &workspace.store;
    let mut ids = vec!["last".to_owned()];
    for list in [&store.capsules, &store.genes, &store.failed] {
        let documents = list.documents().unwrap_or_default();
        ids.extend(documents.iter().filter_map(|one| Some(one.get("id")?.as_str()?.to_owned())));
    }
    ids.extend(store.events.recent(MAX_EVENTS).unwrap_or_default().into_iter().map(|event| event.id));
    ids.into_iter().map(CompletionCandidate::new).collect()
}

/// The digits of `sha256:2f6c...`, `capsule_1770477654236` or `evt_1770477654236`.
fn digits_of(id: &str) -> &str {
    let rest = id.rsplit(':').next().unwrap_or(id);
    rest.rsplit('_').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_eight_digits_of_an_id_and_last_are_completed() {
        let ids = ["evt_1770477654236", "evt_1770477999999", "sha256:2f6c0a11ff"].map(str::to_owned);
        let complete = |given: &str| complete_id(given, &ids);
        assert_eq!(complete("evt_1770477654236").unwrap(), "evt_1770477654236");
        assert_eq!(complete("17704776").unwrap(), "evt_1770477654236");
        assert_eq!(complete("2f6c0a11").unwrap(), "sha256:2f6c0a11ff");
        assert_eq!(complete("sha256:2f6c0a11").unwrap(), "sha256:2f6c0a11ff");
        assert_eq!(complete("last").unwrap(), "sha256:2f6c0a11ff");
        for unknown in ["2f6c0a1", "ffffffff", "evt_177047", "gene_retry"] {
            assert_eq!(complete(unknown).unwrap(), unknown);
        }
        let problem =
            complete_id("17704770", &["evt_177047701", "evt_177047702"].map(str::to_owned)).unwrap_err();
        assert_eq!(problem.code, Code::UsageError);
        assert!(problem.message.contains("evt_177047702"), "{}", problem.message);
        assert_eq!(complete_id("last", &[]).unwrap(), "last");
    }
}
