//! What an asset, a bundle, a report and a task say.
//!
//! A statement follows from what is kept, and from nothing else. Whatever two statements say of the same relation by the
//! same word they say alike, time and confidence included, so that it does not matter which of them came first.

use super::names::{self, normal};
use super::{EntityKey, kind, link};
use crate::lifecycle::AssetType;
use serde::Deserialize;
use serde_json::Value;

/// How many signals of a statement are paired.
const PAIRED: usize = 6;
/// How much a gene's word counts that it answers a signal: it was not proven yet.
const GENE_CONFIDENCE: f64 = 0.7;
/// How much a report counts that the hub asked for, and one that it did not.
const ASSIGNED_CONFIDENCE: f64 = 0.9;
const UNSOLICITED_CONFIDENCE: f64 = 0.7;

/// A relation within a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementLink {
    pub source: EntityKey,
    pub kind: &'static str,
    pub target: EntityKey,
    /// 0 to 1.
    pub confidence: f64,
}

/// What something says.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// `node:…`, or `hub`.
    pub said_by: String,
    pub said_at: i64,
    /// The asset that says so.
    pub asset: Option<String>,
    pub things: Vec<EntityKey>,
    pub links: Vec<StatementLink>,
    pub pairs: Vec<(EntityKey, EntityKey)>,
}

impl Statement {
    fn new(said_by: String, said_at: i64, asset: Option<&str>) -> Self {
        Self {
            said_by,
            said_at,
            asset: asset.map(str::to_owned),
            things: Vec::new(),
            links: Vec::new(),
            pairs: Vec::new(),
        }
    }

    fn name(&mut self, thing: &EntityKey) {
        if !self.things.contains(thing) {
            self.things.push(thing.clone());
        }
    }

    fn link(&mut self, source: &EntityKey, kind: &'static str, target: &EntityKey, confidence: f64) {
        if source == target {
            return;
        }
        self.name(source);
        self.name(target);
        let known =
            |link: &StatementLink| link.kind == kind && link.source == *source && link.target == *target;
        if !self.links.iter().any(known) {
            let (source, target) = (source.clone(), target.clone());
            self.links.push(StatementLink { source, kind, target, confidence: rounded(confidence) });
        }
    }

    fn pair(&mut self, signals: &[EntityKey]) {
        let paired: Vec<&EntityKey> = signals.iter().take(PAIRED).collect();
        for (at, one) in paired.iter().enumerate() {
            for other in paired.iter().skip(at + 1) {
                self.pairs.push(((*one).clone(), (*other).clone()));
            }
        }
    }
}

/// Thousandths are enough, and every database keeps them alike.
fn rounded(confidence: f64) -> f64 {
    let bounded = if confidence.is_finite() { confidence.clamp(0.0, 1.0) } else { 0.0 };
    (bounded * 1000.0).round() / 1000.0
}

/// A published asset.
#[derive(Debug, Clone, Copy)]
pub struct PublishedAssetFacts<'a> {
    pub asset_id: &'a str,
    pub asset_type: AssetType,
    pub node_id: &'a str,
    /// When it was published, in milliseconds.
    pub created_at: i64,
    pub body: &'a str,
    /// The assets that it says it comes from, as far as they were there before it.
    pub origins: &'a [(AssetType, String)],
}

/// The members of a body that say something, whatever they hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatementBody {
    signals_match: Value,
    trigger: Value,
    confidence: Value,
    outcome: Value,
    env_fingerprint: Value,
    reused_asset_id: Value,
    parent: Value,
    anti_pattern: Value,
}

impl StatementBody {
    fn read(body: &str) -> Self {
        serde_json::from_str(body).unwrap_or_default()
    }

    fn signals(&self, asset_type: AssetType) -> Vec<EntityKey> {
        let list = match asset_type {
            AssetType::Gene => &self.signals_match,
            AssetType::Capsule => &self.trigger,
            AssetType::EvolutionEvent => return Vec::new(),
        };
        let texts: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        names::signal_keys(&texts)
    }

    fn environment(&self) -> Option<EntityKey> {
        let part = |key: &str| self.env_fingerprint.get(key).and_then(Value::as_str);
        environment(&format!("{}_{}", part("platform")?, part("arch")?))
    }

    fn failed(&self) -> bool {
        self.outcome.get("status").and_then(Value::as_str).is_some_and(|status| status != "success")
    }
}

/// The ids of assets that a body says it comes from.
pub fn origins_named(body: &str) -> Vec<String> {
    // Most bodies name none; they need not be read for it.
    if !body.contains("\"reused_asset_id\"") && !body.contains("\"parent\"") {
        return Vec::new();
    }
    let body = StatementBody::read(body);
    let named = [body.reused_asset_id, body.parent].into_iter();
    let mut ids: Vec<String> = named.filter_map(|value| value.as_str().map(str::to_owned)).collect();
    ids.retain(|id| id.starts_with("sha256:"));
    ids.dedup();
    ids
}

/// What an asset says: which signals it answers, who made it, where it worked, and what it comes from.
pub fn asset_statement(asset: &PublishedAssetFacts<'_>) -> Statement {
    let body = StatementBody::read(asset.body);
    let mut said = Statement::new(format!("node:{}", asset.node_id), asset.created_at, Some(asset.asset_id));
    let thing = EntityKey::new(kind::kind_of_asset(asset.asset_type), asset.asset_id);
    said.name(&thing);
    said.link(&thing, link::MADE_BY, &EntityKey::new(kind::NODE, asset.node_id), 1.0);
    let answers = match asset.asset_type {
        AssetType::Gene if body.anti_pattern == Value::Bool(true) => None,
        AssetType::Gene => Some((link::TRIGGERS, GENE_CONFIDENCE)),
        AssetType::Capsule if body.failed() => None,
        AssetType::Capsule => Some((link::SOLVED_BY, body.confidence.as_f64().unwrap_or_default())),
        AssetType::EvolutionEvent => None,
    };
    let signals = body.signals(asset.asset_type);
    for signal in &signals {
        said.name(signal);
        if let Some((kind, confidence)) = answers {
            said.link(signal, kind, &thing, confidence);
        }
    }
    said.pair(&signals);
    if let (AssetType::Capsule, Some(environment)) = (asset.asset_type, body.environment()) {
        let kind = if body.failed() { link::FAILS_ON } else { link::VALIDATED_ON };
        said.link(&thing, kind, &environment, UNSOLICITED_CONFIDENCE);
    }
    for (asset_type, id) in asset.origins {
        said.link(
            &thing,
            link::DERIVED_FROM,
            &EntityKey::new(kind::kind_of_asset(*asset_type), id.as_str()),
            1.0,
        );
    }
    said
}

/// What a bundle says: a capsule comes from a gene, and an event tells of it. It is the capsule's word.
pub fn bundle_statement(
    capsule: &str,
    node_id: &str,
    created_at: i64,
    gene: &str,
    event: Option<&str>,
) -> Statement {
    let mut said = Statement::new(format!("node:{node_id}"), created_at, Some(capsule));
    let capsule = EntityKey::new(kind::CAPSULE, capsule);
    said.link(&capsule, link::DERIVED_FROM, &EntityKey::new(kind::GENE, gene), 1.0);
    if let Some(event) = event {
        said.link(&capsule, link::RECORDED_IN, &EntityKey::new(kind::EVENT, event), 1.0);
    }
    said
}

/// How a report went.
#[derive(Debug, Clone, Copy)]
pub struct ReportedOutcome<'a> {
    pub node_id: &'a str,
    pub label: &'a str,
    pub ok: bool,
    /// How much it weighs; nothing where the validation could not be run.
    pub weight: f64,
    pub environment: Option<&'a str>,
    /// When it was given, in milliseconds.
    pub created_at: i64,
}

/// What a report on an asset says: who used it, and where it worked or failed. Nobody vouches for what is their own.
pub fn report_statement(
    asset_type: AssetType,
    asset_id: &str,
    report: &ReportedOutcome<'_>,
) -> Option<Statement> {
    let confidence = match report.label {
        "self" => return None,
        "assigned" => ASSIGNED_CONFIDENCE,
        _ => UNSOLICITED_CONFIDENCE,
    };
    if report.weight <= 0.0 {
        return None;
    }
    let mut said = Statement::new(format!("node:{}", report.node_id), report.created_at, Some(asset_id));
    let asset = EntityKey::new(kind::kind_of_asset(asset_type), asset_id);
    said.link(&asset, link::REUSED_BY, &EntityKey::new(kind::NODE, report.node_id), confidence);
    if let Some(environment) = report.environment.and_then(environment) {
        let kind = if report.ok { link::VALIDATED_ON } else { link::FAILS_ON };
        said.link(&asset, kind, &environment, confidence);
    }
    Some(said)
}

/// What a task says: which signals it asks about. Who asks is not told.
pub fn task_statement(task_id: &str, signals: &str, created_at: i64) -> Statement {
    let mut said = Statement::new("hub".to_owned(), created_at, None);
    let task = EntityKey::new(kind::TASK, task_id);
    said.name(&task);
    let listed: Vec<&str> = signals.split(',').collect();
    for signal in names::signal_keys(&listed) {
        said.link(&task, link::ASKS_ABOUT, &signal, 1.0);
    }
    said
}

/// What the result of a task says: that it solves it. It is the word of whoever published the result.
pub fn solution_statement(
    task_id: &str,
    (asset_type, asset_id): (AssetType, &str),
    node_id: &str,
    completed_at: i64,
) -> Statement {
    let mut said = Statement::new(format!("node:{node_id}"), completed_at, Some(asset_id));
    let (task, asset) =
        (EntityKey::new(kind::TASK, task_id), EntityKey::new(kind::kind_of_asset(asset_type), asset_id));
    said.link(&task, link::SOLVED_BY, &asset, UNSOLICITED_CONFIDENCE);
    said
}

fn environment(name: &str) -> Option<EntityKey> {
    let key = normal(name);
    // Some clients send the hash of a fingerprint, which names no place that anybody could look for.
    let is_hash = key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!key.is_empty() && !is_hash).then(|| EntityKey::new(kind::ENVIRONMENT, key))
}

#[cfg(test)]
mod tests;
