//! What a search by meaning asks of the index, and what the index gives.

use super::SemanticQuery;
use crate::search::expression::{self, TermExpression};
use capsid_rules::lifecycle::AssetType;

/// How many assets one term names at most, of each type.
pub const EACH: usize = 120;

/// Where is searched.
pub struct SemanticScope<'w> {
    pub wanted: &'w SemanticQuery,
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
        let kind = wanted.asset_type.map(|kind| expression::type_term(kind).to_owned());
        Self {
            wanted,
            texts,
            required: kind.into_iter().chain(node).chain(category).map(TermExpression::Term).collect(),
        }
    }

    /// How many assets one term names at most.
    pub fn each(&self) -> usize {
        if self.wanted.asset_type.is_some() { EACH } else { EACH * AssetType::ALL.len() }
    }

    /// An expression that also asks for what the filters do.
    pub fn with(&self, wanted: TermExpression) -> TermExpression {
        match self.required.is_empty() {
            true => wanted,
            false => TermExpression::All([wanted].into_iter().chain(self.required.iter().cloned()).collect()),
        }
    }
}

/// What is read of an asset; `$1` is the environment that is asked for.
macro_rules! candidates {
    ($rest:literal) => {
        concat!(
            "SELECT a.seq, a.asset_id, a.gdi, a.asset_type, a.status, a.trust_tier, a.node_id, a.category, a.created_at,
                CASE WHEN $1 IS NULL OR ",
            crate::assets::environments::works_there!(),
            " THEN 1 ELSE 0 END
             FROM assets a WHERE ",
            $rest
        )
    };
}

/// Candidates by a list of their sequences or their ids, as JSON. Each reads a row for each of them.
pub(super) const BY_SEQ_SQLITE: &str = candidates!("a.seq IN (SELECT value FROM json_each($2))");
pub(super) const BY_ID_SQLITE: &str = candidates!("a.asset_id IN (SELECT unhex(value) FROM json_each($2))");
pub(super) const BY_SEQ_POSTGRES: &str = candidates!(
    "a.seq = ANY (ARRAY(SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($2 AS JSON))))"
);
pub(super) const BY_ID_POSTGRES: &str = candidates!(
    "a.asset_id = ANY (ARRAY(SELECT decode(value, 'hex') FROM json_array_elements_text(CAST($2 AS JSON))))"
);
