//! What independent owners show of an asset: their reports, fetches and votes, each owner with one voice.

use crate::assets::id::AssetId;
use crate::db::DAY_MS;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::{NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::weighted_reports::WeightedReport;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::{EvidenceGrade as Grade, GradeWeights};
use capsid_rules::evaluation::gdi::OwnerEvidence;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::proof::ProofLevel;
use std::collections::{BTreeMap, BTreeSet};

/// How many successes a pass of the hub's runner stands for.
const RUNNER_SUCCESSES: u32 = 3;
/// How many fetches of one owner count.
const FETCHES_EACH: i64 = 3;
/// What an owner of level 0 counts among fetchers, and what all of them count together.
const NEW_FETCHER: f64 = 0.1;
const NEW_FETCHERS_TOGETHER: f64 = 1.0;
/// How many nodes that fetched an asset are looked at; more make no difference to a score.
const MAX_FETCHERS: i64 = 1000;

/// Whether a report is about use: its sender was not asked, and had the asset.
pub fn is_use(grade: Grade, validation: ProofLevel) -> bool {
    match grade {
        Grade::Used => true,
        // Where there is nothing to run, whoever fetched the asset and reports can only have used it.
        Grade::Fetched | Grade::Unverified => validation != ProofLevel::Real,
        _ => false,
    }
}

/// What the reports that count show. The validation is as it is declared, and as reports show it: one that a control
/// showed to be vacuous makes no use of what was meant as a test.
pub fn add_reports(
    evidence: &mut OwnerEvidence,
    counted: &[&WeightedReport],
    (declared, validation): (ProofLevel, ProofLevel),
    grades: GradeWeights,
    now: Time,
) {
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    let mut ran: BTreeSet<&str> = BTreeSet::new();
    let mut runner_passed = false;
    for report in counted {
        let (ok, grade, owner) = (report.vote.ok, report.grade, report.vote.owner.as_str());
        let by_use = is_use(grade, declared);
        if by_use {
            let weight = match grade {
                // The weight of its owner: a report of use weighs only a share of that.
                Grade::Used => report.vote.weight / grades.weigh(Grade::Used),
                _ => report.vote.weight,
            };
            *(if ok { &mut evidence.used } else { &mut evidence.used_failed }) += weight;
        } else {
            *(if ok { &mut evidence.passes } else { &mut evidence.fails }) += report.vote.weight;
        }
        if matches!(grade, Grade::Reproduced | Grade::Hub) {
            *(if ok { &mut evidence.reproduced } else { &mut evidence.reproduced_failed }) +=
                report.vote.weight;
        }
        let is_run = by_use || matches!(grade, Grade::Applied | Grade::Fetched | Grade::Unverified);
        if ok && is_run && report.at > now.0 - 90 * DAY_MS {
            ran.insert(owner);
        }
        // A pass of a validation that cannot fail is no success.
        if ok && (by_use || validation == ProofLevel::Real) {
            runner_passed |= grade == Grade::Hub;
            if grade != Grade::Hub {
                passed.insert(owner);
            }
        }
    }
    evidence.runs_90d = ran.len() as f64;
    let owners = u32::try_from(passed.len()).unwrap_or(u32::MAX);
    evidence.successes = owners.saturating_add(if runner_passed { RUNNER_SUCCESSES } else { 0 });
}

row! {
    /// What one node fetched of an asset.
    #[derive(Debug)]
    struct FetchOfNode {
        calls: i64 = "f.calls",
        level: i64 = "COALESCE(o.level, 0)",
        node: NodeOwnership = OWNERSHIP_COLUMNS,
    }
}

/// Fetches within 30 days: at most three of each owner, and all new owners together count as one.
pub fn add_fetches(tx: &mut dyn Tx, evidence: &mut OwnerEvidence, id: &AssetId, now: Time) -> Result<()> {
    let policy = tx.trust().owners;
    let rows = tx.query_all::<FetchOfNode>(
        select!(
            FetchOfNode,
            "FROM fetches f JOIN nodes n ON n.node_id = f.node_id LEFT JOIN owners o ON o.owner = 'user:' || n.owner
             WHERE f.asset_id = $1 AND f.counts = 1 AND f.last_at > $2 ORDER BY f.last_at DESC, f.node_id LIMIT $3"
        ),
        params![id, now.0 - 30 * DAY_MS, MAX_FETCHERS],
    )?;
    let mut owners: BTreeMap<String, (i64, OwnerLevel)> = BTreeMap::new();
    for row in rows {
        let level = OwnerLevel::from_number(row.level).unwrap_or_default().max(policy.least_level);
        owners.entry(row.node.owner_key(&policy)).or_insert((0, level)).0 += row.calls;
    }
    let (mut new_fetches, mut new_fetchers) = (0.0, 0.0);
    for (calls, level) in owners.into_values() {
        let fetches = calls.clamp(1, FETCHES_EACH) as f64;
        if level == OwnerLevel::New {
            new_fetches += NEW_FETCHER;
            new_fetchers += NEW_FETCHER;
        } else {
            evidence.fetches_30d += fetches;
            evidence.fetchers_30d += 1.0;
        }
    }
    evidence.fetches_30d += f64::min(new_fetches, NEW_FETCHERS_TOGETHER);
    evidence.fetchers_30d += f64::min(new_fetchers, NEW_FETCHERS_TOGETHER);
    Ok(())
}

/// Votes of accounts that fetched the asset, by their levels.
pub fn add_votes(tx: &mut dyn Tx, evidence: &mut OwnerEvidence, id: &AssetId) -> Result<()> {
    let policy = tx.trust().owners;
    let rows = tx.query_all::<(i64, i64, i64)>(
        "SELECT v.value, COALESCE(o.level, 0), COUNT(*) FROM votes v
            LEFT JOIN owners o ON o.owner = 'user:' || v.user_id
         WHERE v.asset_id = $1 AND EXISTS (SELECT 1 FROM nodes n JOIN fetches f ON f.node_id = n.node_id
            WHERE n.owner = v.user_id AND f.asset_id = v.asset_id AND f.counts = 1)
         GROUP BY v.value, COALESCE(o.level, 0)",
        params![id],
    )?;
    for (value, level, count) in rows {
        let level = OwnerLevel::from_number(level).unwrap_or_default().max(policy.least_level);
        let weight = level.vote_weight() * count as f64;
        *(if value > 0 { &mut evidence.upvotes } else { &mut evidence.downvotes }) += weight;
    }
    Ok(())
}
