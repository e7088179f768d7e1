//! Who reported on a candidate, as the rules of promotion ask.

use crate::assets::AssetRow;
use crate::db::row::joined;
use crate::db::tx::Tx;
use crate::evaluation::evidence::validation::load_validation;
use crate::evaluation::owners::owner_evidence::is_use;
use crate::evaluation::owners::{self, NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::voices;
use crate::evaluation::weighted_reports::{WeightedReport, add_reviews, counted_reports, load_others};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade as Grade;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::evaluation::quorum::{ArbiterRule, QuorumFacts, QuorumRule};
use capsid_rules::evaluation::report_evidence::counts_for_promotion;
use std::collections::BTreeSet;

const HOUR_MS: f64 = 3_600_000.0;
/// How many validators are looked at; more make no difference to a rule.
const MAX_VALIDATORS: i64 = 1000;

/// Who reported on a candidate, with reports that count for a promotion and came after the last demotion.
pub fn load_quorum(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    promotion: &PromotionRule,
    now: Time,
) -> Result<QuorumFacts> {
    let rule = &promotion.quorum;
    let mut current = load_others(tx, &asset.asset_id)?;
    let validation = load_validation(tx, asset, &current)?;
    current.retain(|report| report.is_current);
    let counts = |report: &&WeightedReport| counts_for_promotion(report.grade, promotion.lowest_grade);
    let reports: Vec<WeightedReport> = current.iter().filter(counts).cloned().collect();
    let counted = counted_reports(&reports);
    let runner_passed = counted.iter().any(|report| report.grade == Grade::Hub && report.vote.ok);
    let voices = voices::load(tx, &asset.asset_id)?;
    let tally = voices.tally_for_promotion(promotion.lowest_grade);
    let mut facts = QuorumFacts {
        is_testable: validation.shown == ProofLevel::Real,
        owners_passed: voices.count_passed(promotion.lowest_grade),
        owners_failed: voices.count_owners(false),
        passes: tally.passes,
        fails: tally.fails,
        runner_passed,
        arbiter_passed: voices.arbiter.is_some_and(|arbiter| arbiter.passed),
        arbiter_failed: voices.arbiter.is_some_and(|arbiter| !arbiter.passed),
        ..QuorumFacts::default()
    };
    if !facts.is_testable && rule.use_owners > 0 {
        // What can only be used is promoted by use, whatever grade a test would have to have.
        let uses = add_reviews(tx, &asset.asset_id, &current)?;
        let uses: Vec<WeightedReport> = uses.into_iter().filter(|report| report.is_current).collect();
        add_users(tx, &mut facts, asset, &counted_reports(&uses), rule, now)?;
    }
    if rule.arbiter != ArbiterRule::Off {
        add_draw(tx, &mut facts, asset)?;
    }
    Ok(facts)
}

/// Owners that had the asset for long enough, and for whom it works.
fn add_users(
    tx: &mut dyn Tx,
    facts: &mut QuorumFacts,
    asset: &AssetRow,
    counted: &[&WeightedReport],
    rule: &QuorumRule,
    now: Time,
) -> Result<()> {
    let since = now.0 - (rule.use_hours * HOUR_MS) as i64;
    let (mut users, mut trusted) = (BTreeSet::new(), BTreeSet::new());
    for report in counted {
        let uses = is_use(report.grade, ProofLevel::Absent) || report.grade == Grade::Applied;
        if !report.vote.ok || !uses {
            continue;
        }
        let had_it = tx.exists(
            "SELECT 1 FROM fetches WHERE asset_id = $1 AND node_id = $2 AND first_at <= $3",
            params![&asset.asset_id, &report.node_id, since],
        )?;
        let level = owners::load_standing(tx, &report.vote.owner)?.level;
        if had_it && level >= OwnerLevel::Known {
            users.insert(report.vote.owner.as_str());
        }
        if had_it && level >= OwnerLevel::Trusted {
            trusted.insert(report.vote.owner.as_str());
        }
    }
    facts.users = small(users.len());
    facts.trusted_users = small(trusted.len());
    Ok(())
}

/// What says whether an arbiter is needed.
fn add_draw(tx: &mut dyn Tx, facts: &mut QuorumFacts, asset: &AssetRow) -> Result<()> {
    let (policy, least) = (tx.trust().owners, tx.trust().validator_stake);
    let publisher = owners::find_ownership(tx, &asset.node_id)?.map(|node| node.owner_key(&policy));
    facts.promoted_before = u32::try_from(tx.count(
        "SELECT COUNT(*) FROM nodes n JOIN assets a ON a.node_id = n.node_id
         WHERE (n.node_id = $1 OR n.owner = (SELECT m.owner FROM nodes m WHERE m.node_id = $1))
            AND a.asset_type = 'Capsule' AND a.promoted_at IS NOT NULL",
        params![&asset.node_id],
    )?)
    .unwrap_or_default();
    let validators = tx.query_all::<NodeOwnership>(
        joined!(
            " ",
            "SELECT",
            OWNERSHIP_COLUMNS,
            "FROM stakes s JOIN nodes n ON n.node_id = s.node_id
             WHERE s.status = 'active' AND s.amount >= $2 AND n.status = 'active' ORDER BY n.node_id LIMIT $1"
        ),
        params![MAX_VALIDATORS, least],
    )?;
    let mut assignable = BTreeSet::new();
    for owner in validators.iter().map(|node| node.owner_key(&policy)) {
        if Some(&owner) != publisher.as_ref() && owners::load_standing(tx, &owner)?.level >= OwnerLevel::Known
        {
            assignable.insert(owner);
        }
    }
    facts.assignable_owners = small(assignable.len());
    Ok(())
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
