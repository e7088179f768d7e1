//! What a settled run amounts to.

use super::journal::Journal;
use super::verdict::Verdict;
use crate::snapshot::RollbackReport;
use capsid_model::event::BlastRadius;
use capsid_model::{Object, Problem, Value, json};
use std::path::PathBuf;

/// A settled run, with every record it left.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// Whether the change is kept.
    pub ok: bool,
    /// What was decided and why.
    pub verdict: Verdict,
    /// How much changed.
    pub blast: BlastRadius,
    /// The gene that was applied.
    pub gene: Object,
    /// The event.
    pub event: Object,
    /// The capsule of a success.
    pub capsule: Option<Object>,
    /// The failed capsule of a failure.
    pub failed: Option<Object>,
    /// The report of the validation.
    pub report: Object,
    /// What was taken back.
    pub rollback: Option<RollbackReport>,
    /// Where the change is kept as a patch.
    pub patch: Option<PathBuf>,
    /// The commit that was made.
    pub commit: Option<String>,
    /// Why the commit that was asked for was not made.
    pub commit_problem: Option<Problem>,
    /// Why the records of the run could not be sealed. The next run seals them too.
    pub seal_problem: Option<Problem>,
    /// The fingerprint of the key that was made to seal them.
    pub new_key: Option<String>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

impl Settlement {
    /// What a journal amounts to; `gene` is the gene as it was, in case the journal does not change it.
    pub(super) fn of(journal: &Journal, verdict: &Verdict, gene: Object, blast: BlastRadius) -> Self {
        let record = |at: usize| journal.records.get(at).cloned().unwrap_or_default();
        Self {
            ok: verdict.ok,
            verdict: verdict.clone(),
            blast,
            gene: journal.gene.clone().unwrap_or(gene),
            event: record(1),
            capsule: journal.capsule.clone().filter(|_| verdict.ok),
            failed: journal.failed.clone(),
            report: record(0),
            rollback: None,
            patch: None,
            commit: None,
            commit_problem: None,
            seal_problem: None,
            new_key: None,
            dry_run: false,
        }
    }

    /// The event's id.
    pub fn event_id(&self) -> &str {
        text(&self.event, "id")
    }

    /// The gene's id.
    pub fn gene_id(&self) -> &str {
        text(&self.gene, "id")
    }

    /// The capsule's id, streak and confidence.
    pub fn capsule_line(&self) -> Option<(&str, u64, f64)> {
        let capsule = self.capsule.as_ref()?;
        let streak = capsule.get("success_streak").and_then(Value::as_u64)?;
        let confidence = capsule.get("confidence").and_then(Value::as_f64)?;
        Some((text(capsule, "id"), streak, confidence))
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "ok": self.ok,
            "gene": self.gene,
            "event": self.event,
            "capsule": self.capsule,
            "report": self.report,
        });
        if let Some(failed) = &self.failed {
            value["failed_capsule"] = failed.clone().into();
        }
        if let Some(report) = &self.rollback {
            value["rollback"] = json!({"restored": report.restored, "removed": report.removed, "left": report.kept, "lost": report.lost});
        }
        if let Some(patch) = &self.patch {
            value["patch"] = patch.display().to_string().into();
        }
        if let Some(commit) = &self.commit {
            value["commit"] = commit.as_str().into();
        }
        if let Some(problem) = &self.seal_problem {
            value["seal_problem"] = json!({"code": problem.code.as_str(), "message": problem.message});
        }
        if let Some(problem) = &self.commit_problem {
            value["commit_problem"] = json!({"code": problem.code.as_str(), "message": problem.message});
        }
        if self.dry_run {
            value["dry_run"] = true.into();
        }
        value
    }
}

fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}
