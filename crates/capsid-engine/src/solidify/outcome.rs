//! What a finished run amounts to.

use crate::run::facts::{Applied, ChangeFacts};
use crate::run::offer::CapsuleOffer;
use crate::run::verdict::Verdict;
use crate::tree::apply::ApplyOutcome;
use crate::workspace::journal::Journal;
use capsid_model::event::BlastRadius;
use capsid_model::{Object, Problem, Value, json};
use capsid_rules::learning::capsule_text::CapsuleText;
use capsid_rules::learning::proof::ProofGrade;
use capsid_rules::learning::reuse_outcome::PatchTrial;
use serde::Serialize;
use std::path::PathBuf;

/// A finished run, with every record it left.
#[derive(Debug, Clone)]
pub struct CycleOutcome {
    /// Whether the change is proven.
    pub ok: bool,
    pub run_id: String,
    /// What was decided and why.
    pub verdict: Verdict,
    /// How much changed.
    pub blast: BlastRadius,
    /// The gene that was applied.
    pub gene: Object,
    pub event: Object,
    /// The capsule of a success.
    pub capsule: Option<Object>,
    /// The failed capsule of a failure.
    pub failed: Option<Object>,
    /// The report of the validation.
    pub report: Object,
    /// How and where the change was made, and whether it is in the tree.
    pub facts: ChangeFacts,
    /// The files of the change.
    pub changed_files: Vec<ChangedFile>,
    /// What applying it did.
    pub applied: Option<ApplyOutcome>,
    /// Why a proven change is not in the tree.
    pub apply_problem: Option<Problem>,
    /// The patch of the change.
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
    /// What the change is called and why it was made.
    pub text: Option<CapsuleText>,
    /// The stored solution that solved the problem, with how often it is proven here.
    pub reused: Option<CapsuleOffer>,
}

/// A file of a change, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    pub path: String,
    /// `added`, `modified`, `deleted`, `renamed` or `type_changed`.
    pub kind: &'static str,
}

impl CycleOutcome {
    /// What a journal amounts to; `gene` is the gene as it was, in case the journal does not change it.
    pub(super) fn from_journal(
        journal: &Journal,
        verdict: &Verdict,
        gene: Object,
        blast: BlastRadius,
    ) -> Self {
        let record = |at: usize| journal.records.get(at).cloned().unwrap_or_default();
        Self {
            ok: verdict.ok,
            run_id: journal.run_id.clone(),
            verdict: verdict.clone(),
            blast,
            gene: journal.gene.clone().unwrap_or(gene),
            event: record(1),
            capsule: journal.capsule.clone().filter(|_| verdict.ok),
            failed: journal.failed.clone(),
            report: record(0),
            facts: ChangeFacts::default(),
            changed_files: Vec::new(),
            applied: None,
            apply_problem: None,
            patch: None,
            commit: None,
            commit_problem: None,
            seal_problem: None,
            new_key: None,
            dry_run: false,
            text: None,
            reused: None,
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

    /// Whether the change is in the tree although it is not proven: somebody else made it there.
    pub fn is_left_in_tree(&self) -> bool {
        !self.ok && self.facts.view.level == crate::run::ViewLevel::InPlace && !self.changed_files.is_empty()
    }

    /// Whether the change of a stored solution solved the problem as it is.
    pub fn is_solved_without_agent(&self) -> bool {
        self.reused.as_ref().is_some_and(|offer| offer.trial == PatchTrial::Applied)
    }

    /// Whether a proven change is in the tree.
    pub fn is_applied(&self) -> bool {
        self.facts.applied == Applied::Yes
    }

    /// The capsule's id, streak and confidence.
    pub fn capsule_line(&self) -> Option<(&str, u64, f64)> {
        let capsule = self.capsule.as_ref()?;
        let streak = capsule.get("success_streak").and_then(Value::as_u64)?;
        let confidence = capsule.get("confidence").and_then(Value::as_f64)?;
        Some((text(capsule, "id"), streak, confidence))
    }

    /// How strongly the change is proven.
    pub fn grade(&self) -> ProofGrade {
        self.verdict.grade()
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "ok": self.ok,
            "run_id": self.run_id,
            "title": self.text.as_ref().map(|text| text.title.as_str()),
            "explanation": self.text.as_ref().map(|text| text.explanation.as_str()),
            "problem": self.event.get("meta").and_then(|meta| meta.get("problem")),
            "proof": self.verdict.proof,
            "proof_missing": self.verdict.proof_gap,
            "reused_capsule": self.reused.as_ref().map(|offer| offer.capsule_id.as_str()),
            "gene": self.gene,
            "event": self.event,
            "capsule": self.capsule,
            "report": self.report,
            "applied": self.facts.applied,
            "changed_files": self.changed_files,
        });
        if let Some(failed) = &self.failed {
            value["failed_capsule"] = failed.clone().into();
        }
        if let Some(patch) = &self.patch {
            value["patch"] = patch.display().to_string().into();
        }
        if let Some(commit) = &self.commit {
            value["commit"] = commit.as_str().into();
        }
        let problems = [
            ("apply_problem", &self.apply_problem),
            ("seal_problem", &self.seal_problem),
            ("commit_problem", &self.commit_problem),
        ];
        for (name, problem) in problems {
            if let Some(problem) = problem {
                value[name] = problem.to_json();
            }
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
