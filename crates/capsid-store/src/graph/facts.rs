//! What a subject says just now, as far as it is kept. The statements follow from it and from the asset's body, which
//! never changes; so when the facts change, what was said can be withdrawn exactly.

use crate::damaged;
use capsid_model::problem::Result;
use capsid_rules::graph::{
    EntityKey, IngestedRelation, PublishedAssetFacts, ReportedOutcome, Statement, StatementSum,
    asset_statement, bundle_statement, report_statement, solution_statement, task_statement,
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
    pub node: String,
    /// The genes of its bundles, each with its event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<(String, Option<String>)>,
    /// The tasks that it solves, and since when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solves: Vec<(String, i64)>,
}

/// The part of an asset that never changes.
#[derive(Debug, Clone)]
pub(super) struct AssetBody {
    pub id: String,
    pub asset_type: AssetType,
    /// When it was published.
    pub at: i64,
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
    fn statements(&self, body: Option<&AssetBody>) -> Result<Vec<Statement>> {
        match self {
            Self::Asset(asset) => {
                let body = body.ok_or_else(|| damaged("An asset was read without its body."))?;
                Ok(asset.statements(body))
            }
            Self::Report(report) => Ok(report.statement()?.into_iter().collect()),
            Self::Task(task) => Ok(vec![task.statement()]),
            Self::Note(_) | Self::Relation(_) => Ok(Vec::new()),
        }
    }

    /// Adds what these facts say to a sum, or takes it away.
    pub fn count(&self, body: Option<&AssetBody>, sum: &mut StatementSum, by: i64) -> Result<()> {
        for statement in &self.statements(body)? {
            match by > 0 {
                true => sum.add_statement(statement),
                false => sum.unsay(statement),
            }
        }
        match self {
            Self::Note(note) => sum.count_note(&note.entity(), by),
            Self::Relation(relation) => relation.count(sum, by),
            Self::Asset(_) | Self::Report(_) | Self::Task(_) => {}
        }
        Ok(())
    }
}

fn asset_type(name: &str) -> Result<AssetType> {
    AssetType::parse(name).ok_or_else(|| damaged(format!("`{name}` is no type of asset.")))
}

impl AssetFacts {
    /// Everything that stands with the asset.
    fn statements(&self, body: &AssetBody) -> Vec<Statement> {
        let AssetBody { id, asset_type, at, .. } = body;
        let mut statements = vec![asset_statement(&PublishedAssetFacts {
            asset_id: id,
            asset_type: *asset_type,
            node_id: &self.node,
            created_at: *at,
            body: &body.text,
            origins: &body.origins,
        })];
        let bundle = |(gene, event): &(String, Option<String>)| {
            bundle_statement(id, &self.node, *at, gene, event.as_deref())
        };
        statements.extend(self.bundles.iter().map(bundle));
        let solution =
            |(task, at): &(String, i64)| solution_statement(task, (*asset_type, id), &self.node, *at);
        statements.extend(self.solves.iter().map(solution));
        statements
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
    fn count(&self, sum: &mut StatementSum, by: i64) {
        let end = |(kind, key): &(String, String)| EntityKey { kind: kind.clone(), key: key.clone() };
        let relation = IngestedRelation {
            source: &end(&self.source),
            kind: &self.kind,
            target: &end(&self.target),
            said_by: &self.by,
            said_at: self.at,
            confidence: self.confidence,
        };
        sum.count_relation(relation, by);
    }
}
