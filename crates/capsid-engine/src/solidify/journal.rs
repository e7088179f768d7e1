//! The journal: everything a settled cycle will write, written down before any of it is done.
//!
//! Settling touches several files. Once the journal is on disk the cycle counts as settled: if the program dies, the
//! next command that opens the store does what is left. Every step can be done twice with the effect of once.

use super::narrative;
use crate::cycle::learning;
use crate::files::phase;
use crate::memory::remote;
use crate::reuse::outbox;
use crate::sealed_log;
use crate::snapshot::{self, Audit, RollbackReport, Snapshot};
use crate::store::{self, FAILED_KEPT, FAILED_LIMIT};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Code, Object, Problem, Result, Value, json};

/// What is left to write.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// The run it settles.
    pub run_id: String,
    /// The work tree before the cycle and as the cycle left it, when the change is taken back.
    pub rollback: Option<(Snapshot, Snapshot)>,
    /// The gene, made or marked.
    pub gene: Option<Object>,
    /// The capsule, made, grown or broken.
    pub capsule: Option<Object>,
    /// The failed capsule.
    pub failed: Option<Object>,
    /// The report and the event.
    pub records: Vec<Object>,
    /// The logs that the run read.
    pub read_logs: Vec<String>,
    /// The event log as it was when the run began.
    pub audit: Value,
    /// What the memory graph learns.
    pub graph: Vec<Object>,
    /// The dials' file as it will be.
    pub personality: Option<Object>,
    /// The entry of the narrative.
    pub narrative: String,
    /// What the run state says of the settled run.
    pub settled: Object,
    /// What a hub is to be told of it.
    pub outgoing: Option<Object>,
}

impl Journal {
    fn to_value(&self) -> Value {
        json!({
            "run_id": self.run_id,
            "rollback": self.rollback.as_ref().map(|(before, rejected)| {
                json!({"before": before.to_value(), "rejected": rejected.to_value()})
            }),
            "gene": self.gene,
            "capsule": self.capsule,
            "failed": self.failed,
            "records": self.records,
            "read_logs": self.read_logs,
            "audit": self.audit,
            "graph": self.graph,
            "personality": self.personality,
            "narrative": self.narrative,
            "settled": self.settled,
            "outgoing": self.outgoing,
        })
    }

    fn read(value: &Value) -> Option<Self> {
        let object = |name: &str| value.get(name).and_then(Value::as_object).cloned();
        let list = |name: &str| -> Option<Vec<Object>> {
            value.get(name)?.as_array()?.iter().map(|item| item.as_object().cloned()).collect()
        };
        let rollback = match value.get("rollback") {
            Some(Value::Object(pair)) => {
                Some((Snapshot::read(pair.get("before")?)?, Snapshot::read(pair.get("rejected")?)?))
            }
            _ => None,
        };
        Some(Self {
            run_id: value.get("run_id")?.as_str()?.to_owned(),
            rollback,
            gene: object("gene"),
            capsule: object("capsule"),
            failed: object("failed"),
            records: list("records")?,
            read_logs: serde_json::from_value(value.get("read_logs")?.clone()).ok()?,
            audit: value.get("audit").cloned().unwrap_or_default(),
            graph: list("graph")?,
            personality: object("personality"),
            narrative: value.get("narrative")?.as_str()?.to_owned(),
            settled: object("settled")?,
            outgoing: object("outgoing"),
        })
    }

    /// Writes the journal down, then does what it says. The caller holds the store's lock.
    pub fn commit(&self, workspace: &Workspace) -> Result<Option<RollbackReport>> {
        phase::enter("journal");
        let text = serde_json::to_string(&self.to_value()).unwrap_or_default();
        files::replace_private(&workspace.journal(), text.as_bytes())?;
        self.apply(workspace)
    }

    fn apply(&self, workspace: &Workspace) -> Result<Option<RollbackReport>> {
        let (paths, store) = (&workspace.paths, &workspace.store);
        let mut report = None;
        if let Some((before, rejected)) = &self.rollback {
            phase::enter("rollback");
            report = Some(snapshot::rollback(
                &super::changed::shadow(workspace, &self.read_logs)?,
                before,
                rejected,
            )?);
        }
        if let Some(gene) = &self.gene {
            phase::enter("genes");
            store.genes.upsert(gene)?;
        }
        if let Some(capsule) = &self.capsule {
            phase::enter("capsules");
            store.capsules.upsert(capsule)?;
        }
        if let Some(failed) = &self.failed {
            phase::enter("failed_capsules");
            store.failed.push_bounded(failed, FAILED_LIMIT, FAILED_KEPT)?;
        }
        if !self.is_recorded(workspace)? {
            self.restore_log(workspace)?;
            store.events.append(&self.records)?;
        }
        workspace.graph().append_once(&self.graph)?;
        remote::queue(workspace, &self.graph);
        learning::close_action(workspace)?;
        if let Some(personality) = &self.personality {
            phase::enter("personality");
            store::write_state(&paths.personality(), personality)?;
        }
        let told = files::read_optional(&paths.narrative())?.unwrap_or_default();
        files::replace(&paths.narrative(), narrative::with_entry(&told, &self.narrative).as_bytes())?;
        if let Some(entry) = &self.outgoing {
            outbox::queue(workspace, entry)?;
        }
        phase::enter("solidify_state");
        let mut state = workspace.run_state()?;
        state.settle(self.settled.clone());
        store::write_state(&paths.run_state(), &state.file)?;
        files::remove(&workspace.journal())?;
        Ok(report)
    }

    /// What somebody else did to the log during the run is undone, and kept beside it.
    fn restore_log(&self, workspace: &Workspace) -> Result<()> {
        if let Some(audit) = Audit::read(&self.audit) {
            audit.restore(workspace.store.events.path(), &workspace.mirror(), workspace.now().0)?;
        }
        Ok(())
    }

    /// Whether an earlier try got as far as the log.
    fn is_recorded(&self, workspace: &Workspace) -> Result<bool> {
        let Some(last) = self.records.last().and_then(|record| record.get("id")) else {
            return Ok(true);
        };
        let recent = workspace.store.events.recent_documents(4)?;
        Ok(recent.iter().any(|record| record.get("id") == Some(last)))
    }
}

/// Finishes what an interrupted command began; says which run that was. The caller holds the store's lock.
pub fn finish(workspace: &Workspace) -> Result<Option<String>> {
    let path = workspace.journal();
    let Some(text) = files::read_optional(&path)? else {
        return Ok(None);
    };
    let journal =
        serde_json::from_str(&text).ok().and_then(|value| Journal::read(&value)).ok_or_else(|| {
            Problem::new(Code::StoreDamaged, format!("The journal `{}` cannot be read.", path.display()))
                .fix("Look at it, move it away, and check the last lines of events.jsonl by hand.")
        })?;
    journal.apply(workspace)?;
    // Whoever settles next is told what is wrong.
    let _ = sealed_log::after_settling(workspace);
    Ok(Some(journal.run_id))
}
