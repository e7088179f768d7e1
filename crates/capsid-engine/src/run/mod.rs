//! A run: one cycle from its prompt until its outcome is recorded. What `cycle` and `solidify` share.

pub mod agent_facts;
pub mod agent_permit;
pub mod base;
pub mod credit;
pub mod facts;
pub mod folder;
pub mod learning;
pub mod level;
pub mod narrative;
pub mod offer;
pub mod pending;
pub mod records;
pub mod reproduction;
pub mod state;
pub mod tree_after;
pub mod validation;
pub mod verdict;

use capsid_model::event::BlastRadius;
use capsid_model::{Object, Time, Value};
use capsid_rules::diagnosis::ProblemRecord;
use offer::CapsuleOffer;
use reproduction::Reproduction;
use serde::{Deserialize, Serialize};

/// Everything that solidify needs to know of how a cycle began, with the names that existing tools know.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Its name, `run_<ms>`.
    pub run_id: String,
    #[serde(with = "iso_time")]
    pub created_at: Time,
    /// The number of the cycle.
    pub cycle: u64,
    /// The last event when it began.
    pub parent_event_id: Option<String>,
    /// The other heads of a merged event log when it began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merge_parents: Vec<String>,
    pub selected_gene_id: Option<String>,
    /// The capsule to apply again.
    pub selected_capsule_id: Option<String>,
    /// How much of the capsule's trigger was seen, from 0 to 1.
    #[serde(default = "full_match")]
    pub match_quality: f64,
    /// Why this gene and this capsule.
    pub selector: Value,
    pub selected_by: String,
    pub signals: Vec<String>,
    pub signal_key: String,
    /// The hash of what was read.
    pub inputs_digest: String,
    /// What the cycle means to change.
    pub mutation: Value,
    #[serde(rename = "personality_state")]
    pub personality: Value,
    pub personality_key: String,
    /// Whether that key has a history.
    pub personality_known: bool,
    /// How the dials were moved for this cycle.
    pub personality_mutations: Value,
    /// How chance took part: its seed and what it drew; null without.
    pub drift: Value,
    /// The gene as it was when the run began: the change is evaluated by this, whatever the store says later.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub gene: Value,
    /// `generated`, `reused` or `reference`.
    #[serde(default = "generated")]
    pub source_type: String,
    /// The foreign asset it builds on.
    pub reused_asset_id: Option<String>,
    /// Where that came from: mode, score, publisher, hub; null without.
    pub reuse: Value,
    /// The commit when it began.
    #[serde(rename = "baseline_git_head")]
    pub head: Option<String>,
    /// Logs inside the repository that it read: they grow by themselves, and are no part of the change.
    pub read_logs: Vec<String>,
    /// How much the gene may change.
    #[serde(rename = "blast_radius_estimate", with = "blast_radius")]
    pub blast_estimate: BlastRadius,
    /// The owner's policy when it began.
    pub config_digest: String,
    /// The open action of the memory graph.
    pub action_id: String,
    /// Where the change is made.
    pub level: ViewLevel,
    /// The hash of the manifest of the tree when it began.
    pub manifest_sha256: String,
    /// The problem that it is to solve; none for a cycle without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemRecord>,
    /// The command that decides whether the problem is solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<Reproduction>,
    /// Stored solutions of the same or a similar problem, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<CapsuleOffer>,
}

/// Where the change of a run is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewLevel {
    /// In a private view mounted over the repository's own path.
    Overlay,
    /// In a copy of the repository.
    Copy,
    /// In the user's tree, by an agent that the user runs.
    #[default]
    InPlace,
}

impl ViewLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Copy => "copy",
            Self::InPlace => "in_place",
        }
    }
}

impl Run {
    /// The signals that the memory graph keeps: those of the run and the id of its problem.
    pub fn learning_signals(&self) -> Vec<String> {
        let problem = self.problem.as_ref().map(|problem| problem.ids.message.as_str());
        capsid_model::signal::with_problem(&self.signals, problem)
    }

    /// The part of a run that the state file in the repository shows. The gene, the reproduction and the offers are left
    /// out: whoever writes that file must not choose by what a change is evaluated.
    pub fn public(&self) -> Object {
        let mut shown = match serde_json::to_value(self) {
            Ok(Value::Object(shown)) => shown,
            _ => Object::new(),
        };
        for private in ["gene", "reproduction", "offers"] {
            shown.remove(private);
        }
        let member = |value: &Value, name: &str| value.get(name).cloned().unwrap_or_default();
        shown.insert("mutation_id".to_owned(), member(&self.mutation, "id"));
        shown.insert("reused_source_node".to_owned(), member(&self.reuse, "source_node_id"));
        shown.insert("reused_chain_id".to_owned(), member(&self.reuse, "chain_id"));
        shown
    }

    /// Reads what the state file shows of a run; other tools write it too, so a part that cannot be read is left empty.
    pub fn read_public(shown: &Object) -> Self {
        let mut run = Self::default();
        let text = |name: &str| shown.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Ok(whole) = serde_json::from_value::<Self>(shown.clone().into()) {
            run = whole;
        } else {
            run.run_id = text("run_id").unwrap_or_default();
            run.signal_key = text("signal_key").unwrap_or_default();
            run.inputs_digest = text("inputs_digest").unwrap_or_default();
            run.source_type = generated();
            run.match_quality = full_match();
            let signals = shown.get("signals").and_then(Value::as_array).into_iter().flatten();
            run.signals = signals.filter_map(Value::as_str).map(str::to_owned).collect();
        }
        run.gene = Value::Null;
        run.reproduction = None;
        run.offers.clear();
        run
    }
}

fn full_match() -> f64 {
    1.0
}

fn generated() -> String {
    "generated".to_owned()
}

mod iso_time {
    use capsid_model::Time;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&time.iso())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        Time::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no time")))
    }
}

mod blast_radius {
    use capsid_model::Value;
    use capsid_model::event::BlastRadius;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(blast: &BlastRadius, serializer: S) -> Result<S::Ok, S::Error> {
        blast.to_value().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BlastRadius, D::Error> {
        Ok(BlastRadius::read(Some(&Value::deserialize(deserializer)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_the_names_that_other_tools_know() {
        let run = Run { run_id: "run_1".into(), head: Some("abc".into()), ..Run::default() };
        let shown = run.public();
        for name in
            ["run_id", "created_at", "baseline_git_head", "personality_state", "blast_radius_estimate"]
        {
            assert!(shown.contains_key(name), "{name}");
        }
        assert!(!shown.contains_key("gene"));
        assert_eq!(Run::read_public(&shown).head.as_deref(), Some("abc"));
    }

    #[test]
    fn a_foreign_state_file_is_read_as_far_as_it_goes() {
        let shown: Object = serde_json::from_str(
            r#"{"run_id":"run_2","created_at":7,"signals":["log_error"],"gene":{"id":"g"}}"#,
        )
        .unwrap();
        let run = Run::read_public(&shown);
        assert_eq!((run.run_id.as_str(), run.signals.len()), ("run_2", 1));
        assert!(run.gene.is_null(), "the gene of a run is never read from the repository");
    }
}
