//! Decisions: an admin's are carried out, a validator's is one vote beside the reports, everybody else's is only
//! recorded. A sender has one decision on an asset; a later one takes the place of the earlier.

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::row::{column_enums, row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::{self, NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::{stakes, weighted_reports};
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::text_enum;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ReportSource, ReportVote, weight};
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::reputation::SENIOR;
use capsid_rules::lifecycle::AssetEvent;

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetDecision {
    Accept,
    Reject,
    Quarantine,
}

text_enum!(AssetDecision {
    Accept = "accept",
    Reject = "reject",
    Quarantine = "quarantine",
});

column_enums!(AssetDecision);

impl AssetDecision {
    /// Every decision, as it is sent.
    pub const WORDS: [&'static str; 3] = ["accept", "reject", "quarantine"];

    /// What it does to an asset when it binds.
    pub fn change(self) -> AssetEvent {
        match self {
            Self::Accept => AssetEvent::Promote,
            Self::Reject => AssetEvent::Reject,
            Self::Quarantine => AssetEvent::Quarantine,
        }
    }
}

/// What a node's decision on an asset is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DecisionWeight {
    /// It is about the node's own asset, or that of its owner.
    Own,
    /// A vote of this weight: the node has a stake or a good reputation.
    Validator(f64),
    Other,
}

impl DecisionWeight {
    /// How much the decision weighs.
    pub fn weight(self) -> f64 {
        match self {
            Self::Validator(weight) => weight,
            Self::Own | Self::Other => 0.0,
        }
    }

    /// The word that is sent.
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "self",
            Self::Validator(_) => "validator",
            Self::Other => "no_authority",
        }
    }
}

/// What a node's decision on an asset is worth.
pub fn decision_weight(tx: &mut dyn Tx, asset: &AssetRow, node: &NodeRow) -> Result<DecisionWeight> {
    if weighted_reports::is_own(tx, asset, node)? {
        return Ok(DecisionWeight::Own);
    }
    let staked = stakes::is_validator(tx, &node.node_id)?;
    let owner = owners::owner_of(tx, node)?;
    let standing = owners::load_standing(tx, &owner)?;
    let is_validator = (staked || node.reputation >= SENIOR) && standing.level >= OwnerLevel::Known;
    let weight = weight(ReportSource::Unsolicited, node.reputation) * standing.weight;
    Ok(if is_validator && weight > 0.0 { DecisionWeight::Validator(weight) } else { DecisionWeight::Other })
}

/// Records a decision. The asset is locked, so that a sender has one at a time.
pub fn record(
    tx: &mut dyn Tx,
    id: &AssetId,
    actor: &str,
    decision: AssetDecision,
    reason: Option<&str>,
    weight: f64,
    now: Time,
) -> Result<()> {
    let earlier = tx.query_first::<String>(
        "SELECT decision FROM decisions WHERE asset_id = $1 AND actor = $2",
        params![id, actor],
    )?;
    let Some(earlier) = earlier else {
        tx.run(
            "INSERT INTO decisions (asset_id, actor, decision, reason, weight, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![id, actor, decision.as_str(), reason, weight, now],
        )?;
        return Ok(());
    };
    tx.run(
        "UPDATE decisions SET decision = $3, reason = $4, weight = $5, created_at = $6
         WHERE asset_id = $1 AND actor = $2",
        params![id, actor, decision.as_str(), reason, weight, now],
    )?;
    if earlier == decision.as_str() {
        return Ok(());
    }
    let change = AuditChange {
        kind: "asset",
        subject: &id.to_string(),
        action: "decision_replaced",
        before: Some(&earlier),
        after: Some(decision.as_str()),
        reason,
    };
    audit::add_hourly(tx, actor, change, now)
}

/// The decisions of validators on an asset as votes, each with its time: an acceptance passes, the others fail.
pub fn votes(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<(i64, ReportVote)>> {
    let policy = tx.trust().owners;
    let publisher = owners::find_publisher(tx, id)?;
    let decisions = tx.query_all::<DecisionOfNode>(
        select!(
            DecisionOfNode,
            "FROM decisions d JOIN nodes n ON n.node_id = SUBSTR(d.actor, 6)
                JOIN assets a ON a.asset_id = d.asset_id
             WHERE d.asset_id = $1 AND d.weight > 0 AND d.actor LIKE 'node:%'
                AND (a.demoted_at IS NULL OR d.created_at > a.demoted_at)
             ORDER BY d.created_at, d.seq"
        ),
        params![id],
    )?;
    let vote = |made: DecisionOfNode| {
        let (owner, ok) = (made.node.owner_key(&policy), made.decision == AssetDecision::Accept);
        (made.at, ReportVote { weight: made.weight, ok, assigned: false, owner })
    };
    let votes = decisions.into_iter().map(vote);
    Ok(votes.filter(|(_, vote)| Some(&vote.owner) != publisher.as_ref()).collect())
}

row! {
    /// A decision of a validator.
    #[derive(Debug)]
    struct DecisionOfNode {
        at: i64 = "d.created_at",
        weight: f64 = "d.weight",
        decision: AssetDecision = "d.decision",
        node: NodeOwnership = OWNERSHIP_COLUMNS,
    }
}
