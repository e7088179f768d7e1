//! What a subject says just now, as far as it is kept. The statements follow from it and from the asset's body, which
//! never changes; so when the facts change, what was said can be withdrawn exactly.

use crate::damaged;
use capsid_model::problem::Result;
use capsid_rules::graph::sum::relation_id;
use capsid_rules::graph::{
    CountedRelation, EntityKey, PublishedAssetFacts, ReportedOutcome, Statement, asset_statement,
    bundle_statement, report_statement, solution_statement, task_statement,
};
use capsid_rules::lifecycle::AssetType;
use serde::{Deserialize, Serialize};

/// The facts of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Facts {
    Asset(AssetFacts),
    Report(ReportFacts),
    Task(TaskFacts),
    Note(NoteFacts),
    Relation(RelationFacts),
}

/// An asset that is in the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AssetFacts {
    pub id: String,
    #[serde(rename = "type")]
    pub asset_type: String,
    pub node: String,
    pub at: i64,
    /// The genes of its bundles, each with its event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<(String, Option<String>)>,
    /// The tasks that it solves, and since when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solves: Vec<(String, i64)>,
}

/// The part of an asset that never changes.
#[derive(Debug, Clone, Default)]
pub(super) struct AssetBody {
    pub text: String,
    /// The assets that it says it comes from, and that were there before it.
    pub origins: Vec<(AssetType, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReportFacts {
    pub asset: String,
    #[serde(rename = "type")]
    pub asset_type: String,
    pub node: String,
    pub label: String,
    pub ok: bool,
    pub weight: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    pub at: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskFacts {
    pub id: String,
    /// What it is about, with commas between.
    pub signals: String,
    pub at: i64,
}

/// What somebody told of a thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NoteFacts {
    pub kind: String,
    pub key: String,
    pub by: String,
    /// The terms of its properties.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
}

/// A relation that somebody told of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RelationFacts {
    pub source: (String, String),
    pub kind: String,
    pub target: (String, String),
    pub by: String,
    pub at: i64,
    pub confidence: f64,
}

impl Facts {
    /// What the hub says by these facts. What was told is no statement of the hub.
    pub fn statements(&self, body: &AssetBody) -> Result<Vec<Statement>> {
        match self {
            Self::Asset(asset) => asset.statements(body),
            Self::Report(report) => Ok(report.statement()?.into_iter().collect()),
            Self::Task(task) => Ok(vec![task.statement()]),
            Self::Note(_) | Self::Relation(_) => Ok(Vec::new()),
        }
    }

    /// The things that were told of by these facts, each as often as it is named.
    pub fn ingested_entities(&self) -> Vec<EntityKey> {
        match self {
            Self::Note(note) => vec![note.entity()],
            Self::Relation(relation) => vec![relation.source(), relation.target()],
            Self::Asset(_) | Self::Report(_) | Self::Task(_) => Vec::new(),
        }
    }
}

fn asset_type(name: &str) -> Result<AssetType> {
    AssetType::parse(name).ok_or_else(|| damaged(format!("`{name}` is no type of asset.")))
}

impl AssetFacts {
    /// Everything that stands with the asset.
    fn statements(&self, body: &AssetBody) -> Result<Vec<Statement>> {
        let asset_type = asset_type(&self.asset_type)?;
        let mut statements = vec![asset_statement(&PublishedAssetFacts {
            asset_id: &self.id,
            asset_type,
            node_id: &self.node,
            created_at: self.at,
            body: &body.text,
            origins: &body.origins,
        })];
        let bundle = |(gene, event): &(String, Option<String>)| {
            bundle_statement(&self.id, &self.node, self.at, gene, event.as_deref())
        };
        statements.extend(self.bundles.iter().map(bundle));
        let solution =
            |(task, at): &(String, i64)| solution_statement(task, (asset_type, &self.id), &self.node, *at);
        statements.extend(self.solves.iter().map(solution));
        Ok(statements)
    }
}

impl ReportFacts {
    fn statement(&self) -> Result<Option<Statement>> {
        let outcome = ReportedOutcome {
            node_id: &self.node,
            label: &self.label,
            ok: self.ok,
            weight: self.weight,
            environment: self.environment.as_deref(),
            created_at: self.at,
        };
        Ok(report_statement(asset_type(&self.asset_type)?, &self.asset, &outcome))
    }
}

impl TaskFacts {
    fn statement(&self) -> Statement {
        task_statement(&self.id, &self.signals, self.at)
    }
}

impl NoteFacts {
    pub fn entity(&self) -> EntityKey {
        EntityKey { kind: self.kind.clone(), key: self.key.clone() }
    }
}

impl RelationFacts {
    fn source(&self) -> EntityKey {
        let (kind, key) = self.source.clone();
        EntityKey { kind, key }
    }

    fn target(&self) -> EntityKey {
        let (kind, key) = self.target.clone();
        EntityKey { kind, key }
    }

    /// The relation with its number.
    pub fn to_relation(&self) -> (i64, CountedRelation) {
        let relation = CountedRelation {
            source: self.source().id(),
            kind: self.kind.clone(),
            target: self.target().id(),
            said_by: self.by.clone(),
            said_at: self.at,
            asset: None,
            confidence: self.confidence,
        };
        (relation_id(relation.source, &relation.kind, relation.target, &relation.said_by, true), relation)
    }
}
