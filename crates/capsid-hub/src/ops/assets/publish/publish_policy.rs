//! What a publisher may store today, and whether a moderator looks at it first.

use crate::config::HoldWarned;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use capsid_model::time::Time;
use capsid_rules::assets::safety::SafetyVerdict;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::identity::owner_level::{LevelPolicy, by_level};
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::moderation::{self, CaseKind};
use capsid_store::evaluation::owners;
use capsid_store::evaluation::owners::owner_level;
use capsid_store::nodes::NodeRow;
use capsid_store::registry::batch::PublishingNode;
use capsid_store::registry::publish::{AWAITING_MODERATION, NewBundle, PublishOutcome};
use capsid_store::registry::quotas::{self, PublishQuota, QuotaExceeded};

/// How a bundle is let in.
#[derive(Debug)]
pub struct PublishPolicy {
    level: OwnerLevel,
    /// Whom the quota is counted for.
    owner: String,
    bytes: i64,
}

impl PublishPolicy {
    /// The policy for a bundle of a node.
    pub fn load(
        tx: &mut dyn Tx,
        context: &OperationContext,
        node: &NodeRow,
        bundle: &NewBundle,
    ) -> ApiResult<Self> {
        let levels = context.config.levels();
        let owner = match levels {
            LevelPolicy::Trusted => format!("node:{}", node.node_id),
            LevelPolicy::Earned => owners::owner_of(tx, node)?,
        };
        Ok(Self { level: owner_level::for_node(tx, node)?, owner, bytes: bundle.bytes() })
    }

    /// The same for a bundle of a batch, whose nodes were looked up together.
    pub fn of_node(context: &OperationContext, node: &PublishingNode, bundle: &NewBundle) -> Self {
        let owner = match context.config.levels() {
            LevelPolicy::Trusted => format!("node:{}", node.row.node_id),
            LevelPolicy::Earned => node.owner.clone(),
        };
        Self { level: node.level, owner, bytes: bundle.bytes() }
    }

    /// Whom the quota is counted for.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// What the owner may publish on one day; nothing is no limit.
    pub fn quota(&self, context: &OperationContext) -> Option<PublishQuota> {
        let limits = &context.config.quotas;
        let quota = PublishQuota {
            bytes: by_level(&limits.publish_bytes, self.level),
            bundles: by_level(&limits.publish_bundles, self.level),
        };
        (quota != PublishQuota { bytes: None, bundles: None }).then_some(quota)
    }

    /// Refuses a bundle that is new and exceeds what its owner may publish on one day.
    pub fn check_quota(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        bundle: &NewBundle,
    ) -> ApiResult<()> {
        let Some(quota) = self.quota(context) else { return Ok(()) };
        // Who sends again what is there takes no room.
        if assets::get(tx, &bundle.capsule.asset_id)?.is_some() {
            return Ok(());
        }
        match quotas::check(tx, &self.owner, &quota, self.bytes, context.now)? {
            Some(exceeded) => Err(quota_exceeded(&exceeded, context.now)),
            None => Ok(()),
        }
    }

    /// Whether a bundle waits for a moderator: one with a warning, of an owner that nobody knows, where the hub wants that.
    pub fn is_held(&self, context: &OperationContext, bundle: &NewBundle) -> bool {
        self.level < OwnerLevel::Known
            && context.config.hold_warned == HoldWarned::Level0
            && bundle.status == AssetStatus::Candidate
            && verdict(bundle) == SafetyVerdict::Warn
    }

    /// Whether a moderator is told of a bundle.
    pub fn needs_moderator(&self, context: &OperationContext, node: &NodeRow, bundle: &NewBundle) -> bool {
        context.config.levels() != LevelPolicy::Trusted
            && self.level < OwnerLevel::Known
            && (verdict(bundle) == SafetyVerdict::Warn || node.total_published == 0)
    }

    /// The bundle as it enters.
    pub fn admit(&self, context: &OperationContext, bundle: &NewBundle) -> NewBundle {
        let mut admitted = bundle.clone();
        if self.is_held(context, bundle) {
            admitted.status = AssetStatus::Quarantined;
            admitted.reason = Some(AWAITING_MODERATION.to_owned());
            admitted.gene_held |= bundle.gene.scanned == SafetyVerdict::Warn;
        }
        admitted
    }

    /// Counts what was stored, and tells moderators of it.
    pub fn record(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        node: &NodeRow,
        bundle: &NewBundle,
        outcome: &PublishOutcome,
    ) -> ApiResult<()> {
        let PublishOutcome::Kept { reason, .. } = outcome else { return Ok(()) };
        quotas::count(tx, &self.owner, self.bytes, context.now)?;
        if !self.needs_moderator(context, node, bundle) {
            return Ok(());
        }
        let capsule = bundle.capsule.asset_id.to_string();
        if verdict(bundle) == SafetyVerdict::Warn {
            let why = reason.as_deref().unwrap_or("content_safety_warning");
            moderation::open_case(tx, CaseKind::Warning, &capsule, &node.node_id, why, context.now)?;
        }
        if node.total_published == 0 {
            let why = format!("It published its first bundle: {capsule}.");
            moderation::open_case(tx, CaseKind::Publisher, &node.node_id, &node.node_id, &why, context.now)?;
        }
        Ok(())
    }
}

/// The worst verdict on an asset of a bundle.
fn verdict(bundle: &NewBundle) -> SafetyVerdict {
    let event = bundle.event.as_ref().map_or(SafetyVerdict::Clean, |event| event.scanned);
    bundle.gene.scanned.max(bundle.capsule.scanned).max(event)
}

fn quota_exceeded(exceeded: &QuotaExceeded, now: Time) -> ApiError {
    let QuotaExceeded { what, limit, used, until } = *exceeded;
    ApiError::new(
        HubCode::RateLimited,
        format!("The bundle exceeds what may be published on one day: {limit} {what}, and {used} are used."),
        format!("Wait until {} and publish it again.", Time(until).iso()),
    )
    .retry_after(until - now.0)
    .with(
        "policy",
        serde_json::json!({ "limit": limit, "unit": what, "used": used, "window_ms": 86_400_000 }),
    )
}
