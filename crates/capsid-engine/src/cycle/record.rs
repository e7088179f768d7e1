//! `runs/<run>.json`: everything a selection was made from, so that `capsid explain` can make it again.

use super::evolve::Ready;
use super::observation::Observation;
use crate::exchange::reuse::ReuseSearch;
use crate::memory::remote::ConsultOutcome;
use crate::rules::select::Selection;
use crate::run::offer::CapsuleOffer;
use crate::run::reproduction::Reproduction;
use crate::run::state::RunState;
use crate::store;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Code, Object, Problem, Result, Value, json};
use capsid_rules::diagnosis::{Diagnostic, LogWindow};
use capsid_rules::learning::history::RuleFinding;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The records kept; older ones are removed.
const KEPT: usize = 200;

/// A recorded selection.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// The run.
    pub run_id: String,
    /// When it began.
    pub at: String,
    /// Where signals came from, with sizes.
    pub sources: Value,
    /// What was seen.
    pub signals: Vec<String>,
    /// The mutation that followed.
    pub mutation: Value,
    /// The dials.
    pub personality: Value,
    /// The strategy preset.
    pub strategy: String,
    /// The selection with every score.
    pub selection: Selection,
    /// How the search of the hub ended; null where none was asked.
    pub reuse: Value,
    /// What the shared memory advised; null where none was asked.
    pub memory: Value,
    /// What the logs showed and what earlier cycles meant for it; empty in an older record.
    pub evidence: RunEvidence,
    /// The command that decides, and its runs before the change.
    pub reproduction: Option<Reproduction>,
    /// Stored solutions of the same or a similar problem.
    pub offers: Vec<CapsuleOffer>,
}

/// What a cycle saw and decided by, as its record keeps it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEvidence {
    pub problem: Option<Diagnostic>,
    /// The log that shows the problem.
    pub problem_source: Option<String>,
    /// The lines around the problems.
    pub windows: Vec<LogWindow>,
    /// The other problems.
    pub also: Vec<Diagnostic>,
    /// The history rules that fired.
    pub history: Vec<FiredRule>,
}

/// A history rule that fired, and what became of the signals that it would have dropped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FiredRule {
    pub rule: String,
    pub reason: String,
    pub added: Vec<String>,
    /// Signal and fate, such as `kept: live`.
    pub would_drop: Vec<(String, String)>,
}

impl FiredRule {
    fn from_finding(finding: &RuleFinding) -> Self {
        let rule = serde_json::to_value(finding.rule).unwrap_or_default();
        let would_drop = finding.would_drop.iter();
        Self {
            rule: rule.as_str().unwrap_or_default().to_owned(),
            reason: finding.reason.clone(),
            added: finding.added.clone(),
            would_drop: would_drop.map(|(name, fate)| (name.clone(), fate.describe().to_owned())).collect(),
        }
    }
}

impl RunEvidence {
    pub fn from_observation(seen: &Observation) -> Self {
        Self {
            problem: seen.diagnosis.problem.clone(),
            problem_source: seen.inputs.problem_source.clone(),
            windows: seen.diagnosis.windows.clone(),
            also: seen.diagnosis.also.clone(),
            history: seen.decision.findings.iter().map(FiredRule::from_finding).collect(),
        }
    }
}

/// Writes the record of a run, and removes the oldest beyond the limit.
pub fn write(
    workspace: &Workspace,
    ready: &Ready,
    strategy: &str,
    sources: &Value,
    evidence: &RunEvidence,
) -> Result<()> {
    let run = &ready.run;
    let value = json!({
        "run_id": run.run_id,
        "at": run.created_at.iso(),
        "sources": sources,
        "signals": run.signals,
        "mutation": run.mutation,
        "personality": run.personality,
        "strategy": strategy,
        "selection": ready.selection.to_value(),
        "reuse": ready.search.as_ref().map(ReuseSearch::to_json),
        "memory": ready.consulted.as_ref().map(ConsultOutcome::to_json),
        "reproduction": run.reproduction,
        "offers": run.offers,
    });
    let mut object = value.as_object().cloned().unwrap_or_default();
    if let Ok(Value::Object(evidence)) = serde_json::to_value(evidence) {
        object.extend(evidence);
    }
    store::write_state(&workspace.paths.run_record(&run.run_id), &object)?;
    files::truncate_to_newest(&workspace.paths.evolution.join("runs"), "run_", KEPT)
}

/// Reads the record of a run, or of the last one.
pub fn read(workspace: &Workspace, run_id: Option<&str>) -> Result<RunRecord> {
    let run_id = match run_id {
        Some(id) => id.to_owned(),
        None => RunState::load(workspace)?.last_run().map(|run| run.run_id).ok_or_else(|| {
            Problem::new(Code::NotFound, "No cycle has run here yet.").fix("Run `capsid evolve` first.")
        })?,
    };
    let object = store::read_state(&workspace.paths.run_record(&run_id))?;
    of_object(&object).ok_or_else(|| {
        Problem::new(Code::NotFound, format!("No recorded selection is kept for `{run_id}`."))
            .fix(format!("The newest {KEPT} runs are kept; `capsid explain` without a name shows the last."))
    })
}

fn of_object(object: &Object) -> Option<RunRecord> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let signals = object.get("signals")?.as_array()?;
    Some(RunRecord {
        run_id: text("run_id")?,
        at: text("at")?,
        sources: object.get("sources").cloned().unwrap_or_default(),
        signals: signals.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        mutation: object.get("mutation").cloned().unwrap_or_default(),
        personality: object.get("personality").cloned().unwrap_or_default(),
        strategy: text("strategy").unwrap_or_default(),
        selection: Selection::read(object.get("selection")?)?,
        reuse: object.get("reuse").cloned().unwrap_or_default(),
        memory: object.get("memory").cloned().unwrap_or_default(),
        evidence: RunEvidence {
            problem: member(object, "problem"),
            problem_source: member(object, "problem_source"),
            windows: member(object, "windows"),
            also: member(object, "also"),
            history: member(object, "history"),
        },
        reproduction: member(object, "reproduction"),
        offers: member(object, "offers"),
    })
}

/// A member that older records lack.
fn member<T: DeserializeOwned + Default>(object: &Object, name: &str) -> T {
    object.get(name).and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
}
