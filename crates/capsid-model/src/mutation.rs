//! A Mutation: what a cycle means to change, and how much it may risk. The rules that build one live in the engine.

use crate::gene::{text, texts};
use crate::{Object, Value, json};

/// What a cycle means to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// Its name, `mut_<ms>`.
    pub id: String,
    /// `repair`, `optimize`, `innovate` or `explore`.
    pub category: String,
    /// The signals it answers.
    pub trigger_signals: Vec<String>,
    /// What it aims at, such as `gene:gene_gep_repair_from_errors`.
    pub target: String,
    /// What should get better.
    pub expected_effect: String,
    /// `low`, `medium` or `high`.
    pub risk_level: String,
    /// Why, in the agent's or the engine's words.
    pub rationale: Option<String>,
}

impl Mutation {
    /// Reads a stored mutation; nothing unless every required field is there and well formed.
    pub fn read_strict(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let mutation = Self {
            id: text(object.get("id")),
            category: text(object.get("category")),
            trigger_signals: texts(object.get("trigger_signals")),
            target: text(object.get("target")),
            expected_effect: text(object.get("expected_effect")),
            risk_level: text(object.get("risk_level")),
            rationale: object.get("rationale").and_then(Value::as_str).map(str::to_owned),
        };
        let known_category =
            matches!(mutation.category.as_str(), "repair" | "optimize" | "innovate" | "explore");
        let known_risk = matches!(mutation.risk_level.as_str(), "low" | "medium" | "high");
        let complete = !mutation.id.is_empty()
            && !mutation.target.is_empty()
            && !mutation.expected_effect.is_empty()
            && object.get("trigger_signals").is_some_and(Value::is_array);
        (known_category && known_risk && complete && text(object.get("type")) == "Mutation")
            .then_some(mutation)
    }

    /// The record's form.
    pub fn to_object(&self) -> Object {
        let mut value = json!({
            "type": "Mutation",
            "id": self.id,
            "category": self.category,
            "trigger_signals": self.trigger_signals,
            "target": self.target,
            "expected_effect": self.expected_effect,
            "risk_level": self.risk_level,
        });
        if let Some(rationale) = &self.rationale {
            value["rationale"] = Value::from(rationale.as_str());
        }
        match value {
            Value::Object(object) => object,
            _ => Object::new(),
        }
    }
}
