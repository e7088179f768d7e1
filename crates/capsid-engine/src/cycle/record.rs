//! `runs/<run>.json`: everything a selection was made from, so that `capsid explain` can make it again.

use super::evolve::Ready;
use crate::exchange::reuse::ReuseSearch;
use crate::memory::remote::ConsultOutcome;
use crate::rules::select::Selection;
use crate::run::state::RunState;
use crate::store;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Code, Object, Problem, Result, Value, json};

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
}

/// Writes the record of a run, and removes the oldest beyond the limit.
pub fn write(workspace: &Workspace, ready: &Ready, strategy: &str, sources: &Value) -> Result<()> {
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
    });
    let object = value.as_object().cloned().unwrap_or_default();
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
    })
}
