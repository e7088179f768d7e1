//! What a search by meaning asks of the index of either database, and what the index gives.

use super::SemanticQuery;
use crate::search::expression::{self, TermExpression};
use capsid_rules::lifecycle::AssetType;

/// How many assets one term names at most, of each type.
pub const EACH: usize = 120;

/// Where is searched.
pub struct SemanticScope<'w> {
    pub wanted: &'w SemanticQuery,
    pub types: Vec<AssetType>,
    /// How many assets there are.
    pub texts: u64,
    required: Vec<TermExpression>,
}

/// What the index names for an expression, the best first.
#[derive(Debug, Default)]
pub struct CandidateBatch {
    pub seqs: Vec<i64>,
    /// Whether there are no more.
    pub is_all: bool,
    /// About how many there are.
    pub about: f64,
}

impl<'w> SemanticScope<'w> {
    pub fn new(wanted: &'w SemanticQuery, texts: u64) -> Self {
        let node = wanted.node_id.as_deref().map(expression::node_term);
        let category = wanted.category.as_deref().map(expression::category_term);
        Self {
            wanted,
            types: wanted.asset_type.map_or_else(|| AssetType::ALL.to_vec(), |kind| vec![kind]),
            texts,
            required: node.into_iter().chain(category).map(TermExpression::Term).collect(),
        }
    }

    /// An expression that also asks for what the filters do.
    pub fn with(&self, wanted: TermExpression) -> TermExpression {
        match self.required.is_empty() {
            true => wanted,
            false => TermExpression::All([wanted].into_iter().chain(self.required.iter().cloned()).collect()),
        }
    }
}

/// What both databases read of an asset; `$1` is the environment that is asked for.
macro_rules! candidates {
    ($rest:literal) => {
        concat!(
            "SELECT a.seq, a.asset_id, a.gdi, a.asset_type, a.status, a.trust_tier, a.node_id, a.category,
                a.created_at, COALESCE(a.meaning, ''),
                CASE WHEN $1 IS NULL OR ",
            crate::assets::environments::works_there!(),
            " THEN 1 ELSE 0 END
             FROM assets a WHERE ",
            $rest
        )
    };
}
pub(super) use candidates;
