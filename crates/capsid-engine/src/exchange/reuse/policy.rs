//! What may be made of solutions of others: the owner's settings, and what was promoted here.

use super::{DIRECT, REFERENCE, ReuseMode};
use crate::config::{ReuseConfig, TrialPolicy};
use crate::rules::foreign::{CONFIDENCE_FACTOR, confidence_factor};
use crate::run::ViewLevel;
use crate::workspace::Workspace;
use capsid_model::{Object, Value};
use std::collections::HashSet;

/// The rules by which a solution that a hub offers is scored and used.
#[derive(Debug, Clone)]
pub struct ReusePolicy {
    /// The most that the owner allows.
    pub bound: ReuseConfig,
    /// Whether the owner lets the hub's promotion stand for a promotion here.
    pub trusts_hub: bool,
    /// Whether candidates are tried, and whether that would be on an overlay without network; none where they are not.
    pub trial: Option<bool>,
    /// What a stranger's confidence is worth here.
    pub factor: f64,
    /// The ids at the hub of the capsules that were promoted here.
    pub promoted: HashSet<String>,
}

impl Default for ReusePolicy {
    fn default() -> Self {
        Self {
            bound: ReuseConfig::Direct,
            trusts_hub: false,
            trial: None,
            factor: CONFIDENCE_FACTOR,
            promoted: HashSet::new(),
        }
    }
}

impl ReusePolicy {
    /// The policy of a repository. A store that cannot be read has promoted nothing.
    pub fn load(workspace: &Workspace) -> Self {
        let hub = &workspace.config.hub;
        let capsules = workspace.store.capsules.documents().unwrap_or_default();
        Self {
            bound: hub.reuse,
            trusts_hub: hub.trust,
            trial: (hub.trial == TrialPolicy::Auto).then(|| is_isolated(workspace)),
            factor: confidence_factor(workspace.variable("A2A_EXTERNAL_CONFIDENCE_FACTOR").as_deref()),
            promoted: capsules.iter().filter_map(promoted_id).collect(),
        }
    }

    /// The score of a solution: the publisher's confidence as far as it counts here, times how often it worked in a row,
    /// times its publisher's reputation.
    pub fn score(&self, confidence: f64, streak: u64, reputation: Option<f64>) -> f64 {
        let confidence = confidence.clamp(0.0, 1.0) * self.factor;
        let streak = streak.clamp(1, 5) as f64;
        let reputation = reputation.filter(|value| *value != 0.0).unwrap_or(50.0).clamp(0.0, 100.0);
        (confidence * streak * (reputation / 100.0) * 1000.0).round() / 1000.0
    }

    /// What may be made of a solution with this score; nothing where it is too low. It becomes the task only after a
    /// promotion here, or where the owner trusts the hub.
    pub fn mode(&self, asset_id: &str, score: f64) -> Option<ReuseMode> {
        let is_released = self.trusts_hub || self.promoted.contains(asset_id);
        match self.bound {
            ReuseConfig::Off => None,
            ReuseConfig::Direct if score >= DIRECT && is_released => Some(ReuseMode::Direct),
            _ => (score >= REFERENCE).then_some(ReuseMode::Reference),
        }
    }
}

/// Whether the change of a run is made on an overlay, and checked without network.
fn is_isolated(workspace: &Workspace) -> bool {
    let level = crate::run::level::choose(workspace).map(|chosen| chosen.level);
    matches!(level, Ok(ViewLevel::Overlay)) && !workspace.config.validation.network
}

/// The id at the hub of a capsule that was promoted here.
fn promoted_id(capsule: &Object) -> Option<String> {
    let a2a = capsule.get("a2a")?;
    let text = |name: &str| a2a.get(name).and_then(Value::as_str);
    text("received_asset_id").filter(|_| text("status") == Some("promoted")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    fn policy(bound: ReuseConfig, trusts_hub: bool, promoted: &[&str]) -> ReusePolicy {
        let promoted = promoted.iter().map(|&id| id.to_owned()).collect();
        ReusePolicy { bound, trusts_hub, promoted, ..ReusePolicy::default() }
    }

    #[test]
    #[allow(clippy::float_cmp)]
    fn the_confidence_of_others_counts_for_six_tenths() {
        let score =
            |confidence, streak, reputation| ReusePolicy::default().score(confidence, streak, reputation);
        assert_eq!(score(0.85, 3, Some(80.0)), 1.224);
        assert_eq!(score(0.85, 0, None), 0.255);
        assert_eq!(score(0.85, 9, Some(0.0)), 1.275);
        assert_eq!(score(7.0, u64::MAX, Some(1e300)), 3.0, "nobody gets beyond the best");
        assert_eq!(score(-1.0, 1, Some(-5.0)), 0.0);
    }

    #[test]
    fn a_hub_s_capsule_that_was_never_promoted_here_does_not_become_the_task() {
        use ReuseMode::{Direct, Reference};
        for (score, bound, trusts_hub, promoted, mode) in [
            (5.0, ReuseConfig::Direct, false, "sha256:other", Some(Reference)),
            (5.0, ReuseConfig::Direct, false, "sha256:it", Some(Direct)),
            (5.0, ReuseConfig::Direct, true, "", Some(Direct)),
            (0.849, ReuseConfig::Direct, true, "sha256:it", Some(Reference)),
            (0.85, ReuseConfig::Direct, true, "", Some(Direct)),
            (0.72, ReuseConfig::Direct, false, "", Some(Reference)),
            (0.719, ReuseConfig::Direct, true, "sha256:it", None),
            (5.0, ReuseConfig::Reference, true, "sha256:it", Some(Reference)),
            (5.0, ReuseConfig::Off, true, "sha256:it", None),
        ] {
            let policy = policy(bound, trusts_hub, &[promoted]);
            assert_eq!(policy.mode("sha256:it", score), mode, "{score} {policy:?}");
        }
    }

    #[test]
    fn only_a_promotion_here_counts() {
        let id = |a2a: Value| promoted_id(json!({"a2a": a2a}).as_object().unwrap());
        assert_eq!(id(json!({"status": "promoted", "received_asset_id": "x"})).as_deref(), Some("x"));
        assert_eq!(id(json!({"status": "external_candidate", "received_asset_id": "x"})), None);
        assert_eq!(id(json!({"received_asset_id": "x"})), None);
        assert_eq!(id(json!(null)), None);
    }
}
