//! What was learned lately: the newest solutions and the newest attempts that failed.

use crate::exchange::history;
use crate::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::id::stamp_of;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Result, Time, Value};
use capsid_rules::learning::capsule_text::old_asset::find_old_title;
use capsid_rules::learning::proof::ProofGrade;
use serde::Serialize;

/// How many of each are shown.
const SHOWN: usize = 5;
/// The most that is shown of a reason.
const MAX_REASON: usize = 160;

/// A solution that worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LearnedSolution {
    pub capsule_id: String,
    pub title: String,
    /// What it solved, in one line.
    pub problem: String,
    /// How it is proven, and by whom.
    pub grade: &'static str,
    /// Successes in a row, as the event log shows them.
    pub streak: u64,
    pub at: Option<String>,
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedCycle {
    pub id: String,
    pub problem: String,
    pub reason: String,
    pub at: Option<String>,
}

/// The newest solutions of the store.
pub(super) fn list_learned(workspace: &Workspace) -> Result<Vec<LearnedSolution>> {
    let counted = history::read(&workspace.store.events)?;
    let newest = find_newest(workspace.store.capsules.documents()?);
    Ok(newest
        .into_iter()
        .map(|document| {
            let capsule = Capsule::read(&document);
            let record = counted.get(&capsule.id);
            LearnedSolution {
                title: find_title(&document, &capsule),
                problem: find_problem(&document),
                grade: describe_grade(&document, record.is_some()),
                streak: record.map_or(0, |record| record.streak),
                at: created_at(&document).map(Time::iso),
                capsule_id: capsule.id,
            }
        })
        .collect())
}

/// The newest failed attempts of the store.
pub(super) fn list_failed(workspace: &Workspace) -> Result<Vec<FailedCycle>> {
    let newest = find_newest(workspace.store.failed.documents()?);
    Ok(newest
        .iter()
        .map(|document| FailedCycle {
            id: text(document, "id").to_owned(),
            problem: find_problem(document),
            reason: cut(&inert_line(text(document, "failure_reason")), MAX_REASON).to_owned(),
            at: created_at(document).map(Time::iso),
        })
        .collect())
}

fn find_newest(mut documents: Vec<Object>) -> Vec<Object> {
    documents.sort_by_key(|document| std::cmp::Reverse(created_at(document).map_or(0, |time| time.0)));
    documents.truncate(SHOWN);
    documents
}

fn find_title(document: &Object, capsule: &Capsule) -> String {
    match text(document, "title").trim() {
        "" => find_old_title(&capsule.summary, &capsule.trigger),
        title => inert_line(title),
    }
}

/// The problem that a document names, or the error in its trigger.
fn find_problem(document: &Object) -> String {
    let problem = document.get("problem");
    let member = |name: &str| problem.and_then(|problem| problem.get(name)).and_then(Value::as_str);
    match (member("code"), member("text")) {
        (Some(code), Some(named)) => inert_line(&format!("{code} {named}")),
        (None, Some(named)) => inert_line(named),
        (_, None) => find_old_title("", &Capsule::read(document).trigger),
    }
}

/// "Proven" always says by whom: a capsule that no event of this store concerns was proven elsewhere.
fn describe_grade(document: &Object, is_own: bool) -> &'static str {
    let grade = document.get("proof").and_then(|proof| proof.get("grade")).cloned().unwrap_or_default();
    match serde_json::from_value(grade).unwrap_or_default() {
        ProofGrade::None => "not proven",
        ProofGrade::Passes => "passes",
        ProofGrade::FailToPass | ProofGrade::FailToPassReverts if is_own => "proven here",
        ProofGrade::FailToPass | ProofGrade::FailToPassReverts => "the publisher's proof",
    }
}

/// When a document was made: the stamp of its id, or what it says itself.
fn created_at(document: &Object) -> Option<Time> {
    // A number as small as in `capsule_2` counts capsules, not milliseconds.
    const FIRST_STAMP: i64 = 1_000_000_000_000;
    let stamp = stamp_of(text(document, "id")).filter(|stamp| *stamp >= FIRST_STAMP);
    stamp.map(Time).or_else(|| Time::parse(text(document, "created_at")))
}

fn text<'a>(document: &'a Object, name: &str) -> &'a str {
    document.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    fn object(value: &Value) -> Object {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_grade_says_by_whom_it_was_proven() {
        let graded = |grade: &str| object(&json!({"proof": {"grade": grade}}));
        assert_eq!(describe_grade(&graded("fail_to_pass_reverts"), true), "proven here");
        assert_eq!(describe_grade(&graded("fail_to_pass"), false), "the publisher's proof");
        assert_eq!(describe_grade(&graded("passes"), true), "passes");
        for document in [graded("none"), graded("surely"), Object::new()] {
            assert_eq!(describe_grade(&document, true), "not proven");
        }
    }

    #[test]
    fn an_old_capsule_is_named_by_the_error_that_it_solved() {
        let old = object(&json!({
            "id": "capsule_1770477654236", "summary": "固化：gene_x 命中信号 log_error，变更 1 文件 / 2 行。",
            "trigger": ["log_error", "errsig:TypeError: x is not a function"],
        }));
        assert_eq!(find_title(&old, &Capsule::read(&old)), "TypeError: x is not a function");
        assert_eq!(find_problem(&old), "TypeError: x is not a function");
        let new = object(
            &json!({"title": "Parse the id", "problem": {"code": "E0308", "text": "mismatched types"}}),
        );
        assert_eq!(find_title(&new, &Capsule::read(&new)), "Parse the id");
        assert_eq!(find_problem(&new), "E0308 mismatched types");
    }
}
