//! A run: one cycle from its prompt until it is settled, as kept in `evolution_solidify_state.json`.

use capsid_model::event::BlastRadius;
use capsid_model::{Object, Time, Value, json};

/// Everything that solidify needs to know of how a cycle began.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Its name, `run_<ms>`.
    pub run_id: String,
    /// When it began.
    pub created_at: Time,
    /// The number of the cycle.
    pub cycle: u64,
    /// The last event when it began.
    pub parent_event_id: Option<String>,
    /// The gene to apply.
    pub selected_gene_id: Option<String>,
    /// The capsule to apply again.
    pub selected_capsule_id: Option<String>,
    /// How much of the capsule's trigger was seen, from 0 to 1.
    pub match_quality: f64,
    /// The selector's words.
    pub selector: Value,
    /// Who chose.
    pub selected_by: String,
    /// What was seen.
    pub signals: Vec<String>,
    /// The key of what was seen.
    pub signal_key: String,
    /// The hash of what was read.
    pub inputs_digest: String,
    /// What the cycle means to change.
    pub mutation: Value,
    /// The dials.
    pub personality: Value,
    /// Their key.
    pub personality_key: String,
    /// Whether that key has a history.
    pub personality_known: bool,
    /// How the dials were moved for this cycle.
    pub personality_mutations: Value,
    /// How chance took part: its seed and what it drew; null without.
    pub drift: Value,
    /// The gene as it was when the run began: the change is judged by this, whatever the store says later.
    pub gene: Value,
    /// `generated`, `reused` or `reference`.
    pub source_type: String,
    /// The foreign asset it builds on.
    pub reused_asset_id: Option<String>,
    /// How that was come by: mode, score, publisher, hub; null without.
    pub reuse: Value,
    /// The commit when it began.
    pub head: Option<String>,
    /// What HEAD pointed at when it began: a branch, or a commit.
    pub head_file: String,
    /// The work tree when it began.
    pub snapshot: Value,
    /// Logs inside the repository that it read: they grow by themselves, and are no part of the change.
    pub read_logs: Vec<String>,
    /// The event log when it began.
    pub audit: Value,
    /// How much the gene may change.
    pub blast_estimate: BlastRadius,
    /// The owner's policy when it began.
    pub config_digest: String,
    /// The open action of the memory graph.
    pub action_id: String,
}

impl Run {
    /// The form kept on disk, with the names that existing tools know.
    pub fn to_object(&self) -> Object {
        let value = json!({
            "run_id": self.run_id,
            "created_at": self.created_at.iso(),
            "cycle": self.cycle,
            "parent_event_id": self.parent_event_id,
            "selected_gene_id": self.selected_gene_id,
            "selected_capsule_id": self.selected_capsule_id,
            "match_quality": self.match_quality,
            "selector": self.selector,
            "selected_by": self.selected_by,
            "signals": self.signals,
            "signal_key": self.signal_key,
            "inputs_digest": self.inputs_digest,
            "mutation": self.mutation,
            "mutation_id": self.mutation.get("id"),
            "personality_state": self.personality,
            "personality_key": self.personality_key,
            "personality_known": self.personality_known,
            "personality_mutations": self.personality_mutations,
            "drift": self.drift,
            "gene": self.gene,
            "source_type": self.source_type,
            "reused_asset_id": self.reused_asset_id,
            "reused_source_node": self.reuse.get("source_node_id"),
            "reused_chain_id": self.reuse.get("chain_id"),
            "reuse": self.reuse,
            "baseline_git_head": self.head,
            "head_file": self.head_file,
            "snapshot": self.snapshot,
            "read_logs": self.read_logs,
            "audit": self.audit,
            "blast_radius_estimate": self.blast_estimate.to_value(),
            "config_digest": self.config_digest,
            "action_id": self.action_id,
        });
        match value {
            Value::Object(object) => object,
            _ => Object::new(),
        }
    }

    /// Reads what [`Run::to_object`] wrote.
    pub fn read(object: &Object) -> Self {
        let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        let value = |name: &str| object.get(name).cloned().unwrap_or_default();
        Self {
            run_id: text("run_id").unwrap_or_default(),
            created_at: text("created_at").as_deref().and_then(Time::parse).unwrap_or_default(),
            cycle: value("cycle").as_u64().unwrap_or_default(),
            parent_event_id: text("parent_event_id"),
            selected_gene_id: text("selected_gene_id"),
            selected_capsule_id: text("selected_capsule_id"),
            match_quality: value("match_quality").as_f64().unwrap_or(1.0),
            selector: value("selector"),
            selected_by: text("selected_by").unwrap_or_default(),
            signals: strings(object.get("signals")),
            signal_key: text("signal_key").unwrap_or_default(),
            inputs_digest: text("inputs_digest").unwrap_or_default(),
            mutation: value("mutation"),
            personality: value("personality_state"),
            personality_key: text("personality_key").unwrap_or_default(),
            personality_known: value("personality_known").as_bool().unwrap_or_default(),
            personality_mutations: value("personality_mutations"),
            drift: value("drift"),
            gene: value("gene"),
            source_type: text("source_type").unwrap_or_else(|| "generated".to_owned()),
            reused_asset_id: text("reused_asset_id"),
            reuse: value("reuse"),
            head: text("baseline_git_head"),
            head_file: text("head_file").unwrap_or_default(),
            snapshot: value("snapshot"),
            read_logs: strings(object.get("read_logs")),
            audit: value("audit"),
            blast_estimate: BlastRadius::read(object.get("blast_radius_estimate")),
            config_digest: text("config_digest").unwrap_or_default(),
            action_id: text("action_id").unwrap_or_default(),
        }
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The state file: the run that was begun last and the one that was settled last.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    /// The file as it is, so that members we do not know stay.
    pub file: Object,
}

impl RunState {
    /// The run that was begun last.
    pub fn last_run(&self) -> Option<Run> {
        self.file
            .get("last_run")
            .and_then(Value::as_object)
            .map(Run::read)
            .filter(|run| !run.run_id.is_empty())
    }

    /// The run that waits to be settled.
    pub fn pending(&self) -> Option<Run> {
        self.last_run().filter(|run| self.settled_id() != Some(run.run_id.as_str()))
    }

    /// The id of the run that was settled or rejected last.
    pub fn settled_id(&self) -> Option<&str> {
        self.file.get("last_solidify")?.get("run_id")?.as_str()
    }

    /// What kind of failure the run that was settled last ended in.
    pub fn settled_class(&self) -> Option<&str> {
        self.file.get("last_solidify")?.get("failure_class")?.as_str()
    }

    /// Begins a run. What could be misused if somebody else wrote it is kept in the private file only.
    pub fn begin(&mut self, run: &Run) {
        let mut public = run.to_object();
        public.retain(|name, _| !matches!(name.as_str(), "snapshot" | "audit" | "gene"));
        self.file.insert("last_run".to_owned(), public.into());
    }

    /// Settles the run that was begun last.
    pub fn settle(&mut self, record: Object) {
        self.file.insert("last_solidify".to_owned(), record.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_pending_until_its_id_is_settled() {
        let mut state = RunState::default();
        assert!(state.pending().is_none());
        let run = Run { run_id: "run_1".into(), signals: vec!["log_error".into()], ..Run::default() };
        state.begin(&run);
        assert_eq!(state.pending().unwrap().signals, run.signals);
        state.settle(Object::from_iter([("run_id".to_owned(), "run_1".into())]));
        assert!(state.pending().is_none());
        assert_eq!(state.last_run().unwrap().run_id, "run_1");
    }
}
