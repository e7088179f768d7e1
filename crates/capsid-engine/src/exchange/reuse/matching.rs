//! Whether a solution of a hub is about the problem at hand, and what may be done with it. Pure.

use crate::rules::problem_ids::{StoredProblemIds, capsule_problem_ids, find_message_id};
use capsid_model::signal::normalise_errsig;
use capsid_model::{Object, Value};
use capsid_rules::diagnosis::{ProblemRecord, parse_errsig};
use capsid_rules::learning::capsule_text::change_facts::DiffFacts;
use capsid_rules::learning::foreign_patch::{ForeignPatch, ForeignPatchRefusal, check_foreign_patch};
use capsid_rules::learning::match_level::MatchLevel;
use capsid_rules::learning::proof::ProofGrade;
use std::collections::BTreeSet;

/// The problem that a solution is looked for.
#[derive(Debug, Clone)]
pub struct WantedProblem {
    ids: StoredProblemIds,
    /// The normal forms of its signatures: hubs and engines without ids group by them.
    signatures: BTreeSet<String>,
}

impl WantedProblem {
    /// The problem that was diagnosed, or the one that the signatures among the signals name. None if there is neither:
    /// then no solution can be about it.
    pub fn from_run(problem: Option<&ProblemRecord>, signals: &[String]) -> Option<Self> {
        let ids = match problem {
            Some(problem) => StoredProblemIds::from(problem),
            None => {
                let message = find_message_id(signals.iter().map(String::as_str))?;
                StoredProblemIds { message: Some(message), ..StoredProblemIds::default() }
            }
        };
        Some(Self {
            ids,
            signatures: signals.iter().filter_map(|signal| normalise_signature(signal)).collect(),
        })
    }

    /// The best level at which a capsule solved the same problem.
    pub fn match_capsule(&self, capsule: &Object) -> Option<MatchLevel> {
        let ids = capsule_problem_ids(capsule);
        let by_ids = ids.and_then(|ids| MatchLevel::find(&self.ids.as_ids(), &ids.as_ids()));
        let by_signature = || self.has_signature(read_triggers(capsule)).then_some(MatchLevel::Message);
        by_ids.or_else(by_signature)
    }

    /// The best level that a row of a hub lets one hope for: a row tells triggers at most. None if the row shows that the
    /// capsule solved another problem.
    pub fn match_row(&self, row: &Object) -> Option<MatchLevel> {
        if self.has_signature(read_triggers(row)) {
            return Some(MatchLevel::Message);
        }
        if !row.contains_key("trigger") && !row.contains_key("signals") {
            return Some(MatchLevel::Template);
        }
        let signatures = read_triggers(row).filter(|trigger| trigger.starts_with("errsig:"));
        let ids = signatures.filter_map(|signature| Some(parse_errsig(signature)?.ids()));
        let levels = ids.filter_map(|ids| {
            let stored = StoredProblemIds {
                message: Some(ids.message),
                template: Some(ids.template),
                ..StoredProblemIds::default()
            };
            MatchLevel::find(&self.ids.as_ids(), &stored.as_ids())
        });
        levels.min()
    }

    fn has_signature<'a>(&self, triggers: impl Iterator<Item = &'a str>) -> bool {
        triggers.filter_map(normalise_signature).any(|signature| self.signatures.contains(&signature))
    }
}

fn normalise_signature(signal: &str) -> Option<String> {
    if signal.starts_with("errsig:") { normalise_errsig(signal) } else { None }
}

/// What a capsule answers to. Rows of some hubs call it `signals`.
fn read_triggers(document: &Object) -> impl Iterator<Item = &str> {
    let list = document.get("trigger").or_else(|| document.get("signals")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a capsule says how it solved the problem. One summary line is no solution.
pub fn is_solution(capsule: &Object) -> bool {
    let has_text = |name: &str| match capsule.get(name) {
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Array(items)) => {
            items.iter().any(|item| item.as_str().is_some_and(|text| !text.trim().is_empty()))
        }
        _ => false,
    };
    ["diff", "content", "code_snippet", "strategy"].into_iter().any(has_text)
}

/// Whether the patch of a promoted capsule may be tried before an agent is called. No hub names counted passes of other
/// owners yet, so it is shown as a reference.
pub fn check_patch(capsule: &Object) -> Result<(), ForeignPatchRefusal> {
    check(capsule, true, false)
}

/// The same for a candidate that was taken on trial, where nobody has to have passed it.
pub fn check_trial_patch(capsule: &Object, is_isolated: bool) -> Result<(), ForeignPatchRefusal> {
    check(capsule, false, is_isolated)
}

fn check(capsule: &Object, is_promoted: bool, is_isolated: bool) -> Result<(), ForeignPatchRefusal> {
    let grade = capsule.get("proof").and_then(|proof| proof.get("grade")).and_then(Value::as_str);
    let diff = capsule.get("diff").and_then(Value::as_str).unwrap_or_default();
    let paths: Vec<String> = DiffFacts::parse(diff).files;
    let patch = ForeignPatch {
        is_promoted,
        is_on_trial: !is_promoted,
        grade: grade.and_then(ProofGrade::parse),
        has_pass_of_others: false,
        is_isolated,
        paths: &paths,
        review_paths: &[],
    };
    check_foreign_patch::<&str>(&patch, &[])
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
