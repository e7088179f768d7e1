//! What follows from a moderator's decision on a case. The first rejection holds back what it is about, and one after an appeal
//! is for good.

use super::moderate::not_changed;
use crate::error::ApiResult;
use crate::ops::assets::revoke::not_found;
use capsid_model::time::Time;
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus};
use capsid_store::accounts::admin::{self, AdminAction, NodeStatus};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::{self, AssetRow};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::lifecycle::{self, StatusChangeOutcome};
use capsid_store::evaluation::moderation::arbitration::{Arbitration, arbitrate};
use capsid_store::evaluation::moderation::{CaseKind, ModerationCaseRow};
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::evaluation::{demotion, scoring};
use capsid_store::nodes;

/// What a moderator decided, and by which rules it is carried out.
pub struct CaseDecision<'a> {
    pub approves: bool,
    pub actor: &'a str,
    pub reason: Option<&'a str>,
    pub rule: &'a PromotionRule,
    pub rewards: &'a RewardRates,
    pub now: Time,
}

impl CaseDecision<'_> {
    /// Does what follows. A change that the asset cannot take is an error, so that the case stays open.
    pub fn carry_out(&self, tx: &mut dyn Tx, case: &ModerationCaseRow) -> ApiResult<()> {
        match case.kind {
            CaseKind::Publisher => self.judge_publisher(tx, case),
            CaseKind::Warning => self.judge_content(tx, case),
            CaseKind::Disagreement => self.arbitrate(tx, case),
            // It is decided with the bounty.
            CaseKind::Dispute => Ok(()),
        }
    }

    /// A publisher that is rejected is quarantined: what it publishes is held back. One that is approved after an appeal goes on.
    fn judge_publisher(&self, tx: &mut dyn Tx, case: &ModerationCaseRow) -> ApiResult<()> {
        let Some(node) = nodes::lock(tx, &case.subject)? else { return Ok(()) };
        let by = AdminAction { actor: self.actor, reason: self.reason, now: self.now };
        let change = match (self.approves, node.status.as_str()) {
            (false, "active") => Some((NodeStatus::Quarantined, "quarantine")),
            (true, "quarantined") => Some((NodeStatus::Active, "release")),
            _ => None,
        };
        if let Some((status, action)) = change {
            admin::set_node_status(tx, &node.node_id, status, action, by)?;
        }
        Ok(())
    }

    /// An asset with a warning that is approved goes on as a candidate. Nothing is said of whether it works, so no report is
    /// settled.
    fn judge_content(&self, tx: &mut dyn Tx, case: &ModerationCaseRow) -> ApiResult<()> {
        let asset = lock_subject(tx, case)?;
        match (self.approves, case.appealed_at, asset.status) {
            // What was withdrawn or rejected meanwhile needs no decision.
            (_, _, AssetStatus::Rejected | AssetStatus::Revoked) => Ok(()),
            (true, _, AssetStatus::Quarantined) => self.change(tx, &asset, AssetEvent::Release),
            (true, ..) | (false, None, AssetStatus::Quarantined) => Ok(()),
            (false, None, _) => self.change(tx, &asset, AssetEvent::Quarantine),
            (false, Some(_), status) => {
                if status.is_distributed() {
                    self.change(tx, &asset, AssetEvent::Quarantine)?;
                }
                self.change(tx, &asset, AssetEvent::Reject)
            }
        }
    }

    fn change(&self, tx: &mut dyn Tx, asset: &AssetRow, change: AssetEvent) -> ApiResult<()> {
        let id = &asset.asset_id;
        match lifecycle::change(tx, id, change, self.actor, self.reason, self.now)? {
            StatusChangeOutcome::Done { .. } => {
                scoring::rescore(tx, id, self.now)?;
                Ok(())
            }
            StatusChangeOutcome::NotFound => Err(not_found()),
            StatusChangeOutcome::Refused(refusal) => Err(not_changed(&refusal)),
        }
    }

    /// Where reports disagree, the moderator is the arbiter. What fails stays a candidate until an appeal is decided, unless
    /// nobody passed it.
    fn arbitrate(&self, tx: &mut dyn Tx, case: &ModerationCaseRow) -> ApiResult<()> {
        let asset = lock_subject(tx, case)?;
        if asset.status.is_terminal() {
            return Ok(());
        }
        let slash_percent = self.rewards.slash_percent;
        let decided = Arbitration { passed: self.approves, arbiter: self.actor, slash_percent };
        arbitrate(tx, &asset.asset_id, decided, self.now)?;
        demotion::reconsider(tx, &asset.asset_id, self.rule, self.now)?;
        let is_final = !self.approves && case.appealed_at.is_some();
        let asset = lock_subject(tx, case)?;
        if is_final && asset.status == AssetStatus::Candidate {
            self.change(tx, &asset, AssetEvent::Reject)?;
        }
        Ok(())
    }
}

fn lock_subject(tx: &mut dyn Tx, case: &ModerationCaseRow) -> ApiResult<AssetRow> {
    let id = AssetId::parse(&case.subject).ok_or_else(not_found)?;
    assets::lock(tx, &id)?.ok_or_else(not_found)
}
