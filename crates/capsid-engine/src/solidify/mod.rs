//! Settles a run: validates the change, checks its limits, and keeps and records it or takes it back exactly.

pub(crate) mod changed;
mod commit;
pub mod journal;
mod judge;
pub mod learn;
pub mod narrative;
pub mod records;
pub mod review;
mod settle;
pub mod settlement;
mod stray;
pub(crate) mod undo;
pub mod validation;
pub mod verdict;

pub use settlement::Settlement;

use crate::cycle::run::Run;
use crate::snapshot::Audit;
use crate::store;
use crate::workspace::Workspace;
use capsid_model::gene::Gene;
use capsid_model::{Code, Object, Problem, Result, Value};
use changed::changes_of;

/// How to settle.
#[derive(Debug, Clone, Default)]
pub struct SolidifyRequest {
    /// Decide, but write nothing.
    pub dry_run: bool,
    /// Leave a failed change in the work tree.
    pub keep_on_failure: bool,
    /// The intent to record.
    pub intent: Option<String>,
    /// A summary for the capsule.
    pub summary: Option<String>,
    /// Commit the cycle's files.
    pub commit: bool,
    /// Go on although the owner's policy changed since the run began.
    pub accept_config: bool,
    /// What the agent did wrong, if one ran and did.
    pub host_failure: Option<String>,
    /// Files of the engine that an agent changed while this program ran it; they are as they were again.
    pub restored_store: Vec<String>,
    /// The run to settle; whichever waits otherwise.
    pub run_id: Option<String>,
    /// Whether this program ran the agent, so that every change since the start is the agent's.
    pub unattended: bool,
}

/// Settles the run that waits.
pub fn solidify(workspace: &Workspace, request: &SolidifyRequest) -> Result<Settlement> {
    let _lock = workspace.lock()?;
    let run = pending(workspace)?;
    check_run(&run, request)?;
    check_config(workspace, &run, request)?;
    let gene = gene_of(workspace, &run, request.intent.as_deref())?;
    let changed = changes_of(workspace, &run)?;
    let verdict = judge::judge(workspace, request, &run, &gene, &changed)?;
    settle::settle(workspace, request, &run, &gene, &changed, verdict)
}

/// The run that waits, or a problem that says what to do.
pub(crate) fn pending(workspace: &Workspace) -> Result<Run> {
    let waiting = workspace.run_state()?.pending().ok_or_else(|| {
        Problem::new(Code::NothingPending, "No run waits to be settled.")
            .fix("Begin one with `capsid evolve`, make the change, then settle it.")
    })?;
    let private = Run::read(&store::read_state(&workspace.private_run())?);
    if private.run_id == waiting.run_id {
        return Ok(private);
    }
    Err(Problem::new(Code::NothingPending, format!("`{}` was not begun in this clone.", waiting.run_id))
        .fix("Begin a run of your own with `capsid evolve --force`; your files are left as they are."))
}

/// Another command may have begun a run of its own meanwhile; its change is not ours to judge.
fn check_run(run: &Run, request: &SolidifyRequest) -> Result<()> {
    match &request.run_id {
        Some(wanted) if *wanted != run.run_id => Err(Problem::new(
            Code::RunPending,
            format!("`{wanted}` was replaced by `{}` meanwhile.", run.run_id),
        )
        .fix("Settle the newer run with `capsid solidify`, or take it back with `capsid review --reject`.")),
        _ => Ok(()),
    }
}

/// A policy that changed during the run may have been changed by the run.
fn check_config(workspace: &Workspace, run: &Run, request: &SolidifyRequest) -> Result<()> {
    if request.accept_config || run.config_digest == workspace.config.digest {
        return Ok(());
    }
    Err(Problem::new(Code::ConfigInvalid, "`capsid.toml` changed since the run began.")
        .fix("Look at what changed; if you changed it yourself, run `capsid solidify --accept-config`."))
}

/// The gene of a run and how it was come by.
struct GeneUsed {
    /// As it is stored now, to be marked.
    document: Object,
    /// As it was when the run began, to judge by.
    view: Gene,
    created: bool,
    reason: &'static str,
}

fn gene_of(workspace: &Workspace, run: &Run, intent: Option<&str>) -> Result<GeneUsed> {
    if let (Some(id), Value::Object(recorded)) = (&run.selected_gene_id, &run.gene) {
        let stored = workspace.store.genes.find(id)?;
        return Ok(GeneUsed {
            view: Gene::read(recorded),
            document: stored.unwrap_or_else(|| recorded.clone()),
            created: false,
            reason: "selected_gene_id_present",
        });
    }
    let used = |document: Object, created, reason| GeneUsed {
        view: Gene::read(&document),
        document,
        created,
        reason,
    };
    let intent = intent.or_else(|| run.mutation.get("category").and_then(Value::as_str));
    let validation = &workspace.config.validation.commands;
    let made = learn::auto_gene(&run.signals, &run.signal_key, intent, validation);
    let id = made.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    match workspace.store.genes.find(&id)? {
        Some(existing) => Ok(used(existing, false, "reselected_from_existing")),
        None => Ok(used(made, true, "no_match_create_new")),
    }
}
/// Tells a waiting run that this program itself appended to the event log, so that it is not taken for tampering.
pub fn own_append(workspace: &Workspace) -> Result<()> {
    let _lock = workspace.lock()?;
    let Ok(mut run) = pending(workspace) else {
        return Ok(());
    };
    run.audit = Audit::start(workspace.store.events.path(), &workspace.mirror())?.to_value();
    store::write_private(&workspace.private_run(), &run.to_object())
}
