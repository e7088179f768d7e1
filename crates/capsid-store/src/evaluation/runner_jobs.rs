//! The queue of the hub's runner: what it is to run, and what it found. The hub itself never runs a command.

use crate::assets;
use crate::assets::id::AssetId;
use crate::db::DAY_MS;
use crate::db::row::{Json, row, select};
use crate::db::tx::Tx;
use crate::evaluation::moderation::arbitration::{Arbitration, RUNNER, arbitrate};
use crate::evaluation::owners::{NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::{assignments, scoring};
use crate::graph;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::{EvidenceGrade, GradeWeights};
use capsid_rules::evaluation::runner_job::{RunnerFile, RunnerJob, RunnerReport};
use capsid_rules::evaluation::runner_outcome::RunnerOutcome;

/// How often a bundle is given to a runner that does not report.
const MAX_ATTEMPTS: i64 = 2;
/// The hash of no secret.
const NO_SECRET: [u8; 32] = [0; 32];
/// How many capsules are queued in one transaction.
const BATCH: i64 = 50;

/// How jobs are handed out.
#[derive(Debug, Clone)]
pub struct RunnerTerms {
    /// How many jobs run at the same time.
    pub slots: i64,
    /// How long a runner may keep a job.
    pub lease_ms: i64,
    /// Seconds that an owner's bundles may take in a day before they go to the end of the queue, by the owner's level.
    pub seconds_by_level: [f64; 3],
    /// Where the runner that asks runs things, such as `linux x64, node v20.20.0`.
    pub runtime: Option<String>,
    pub command_seconds: u64,
    /// Programs that this hub allows beside the usual ones.
    pub programs: Vec<String>,
}

row! {
    /// What the runner found about an asset.
    pub struct RunnerResultRow {
        pub state: String = "state",
        pub outcome: Option<String> = "outcome",
        pub reason: Option<String> = "reason",
        pub runtime: Option<String> = "runtime",
        pub finished_at: Option<i64> = "finished_at",
    }
}

row! {
    /// A capsule that waits to be run, and who published it.
    struct RunnableCandidate {
        id: AssetId = "c.asset_id",
        publisher: NodeOwnership = OWNERSHIP_COLUMNS,
    }
}

/// What the runner found about an asset, or that it waits.
pub fn find(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<RunnerResultRow>> {
    tx.query_first(select!(RunnerResultRow, "FROM runner_jobs WHERE asset_id = $1"), params![id])
}

/// Queues candidates whose commands may prove something, a few at a time.
fn queue_candidates(tx: &mut dyn Tx, now: Time) -> Result<()> {
    let policy = tx.trust().owners;
    let candidates = tx.query_all::<RunnableCandidate>(
        select!(
            RunnableCandidate,
            "FROM assets c JOIN nodes n ON n.node_id = c.node_id
             WHERE c.status = 'candidate' AND c.asset_type = 'Capsule' AND c.proof NOT IN ('absent', 'vacuous')
                AND n.status = 'active' AND NOT EXISTS (SELECT 1 FROM runner_jobs j WHERE j.asset_id = c.asset_id)
             ORDER BY c.seq LIMIT $1"
        ),
        params![BATCH],
    )?;
    for RunnableCandidate { id, publisher } in candidates {
        let owner = publisher.owner_key(&policy);
        let job_id = job_id(&id, now);
        tx.run(
            "INSERT INTO runner_jobs (job_id, asset_id, owner, state, created_at) VALUES ($1, $2, $3, 'queued', $4)
             ON CONFLICT DO NOTHING",
            params![&job_id, &id, &owner, now],
        )?;
    }
    Ok(())
}

/// The id of a job from when it is queued, and from when it is given to a runner: each time it is another one, so that a runner
/// that comes too late cannot report in the place of the one that has the job now.
fn job_id(id: &AssetId, now: Time) -> String {
    format!("run_{}_{}", capsid_model::hash::hex(&id.0[..12]), now.0)
}

/// Gives the next job to a runner, if one waits and a slot is free.
pub fn lease(tx: &mut dyn Tx, terms: &RunnerTerms, now: Time) -> Result<Option<RunnerJob>> {
    requeue_lost(tx, now)?;
    queue_candidates(tx, now)?;
    requeue_demoted(tx, terms.runtime.as_deref())?;
    let running = tx.count("SELECT COUNT(*) FROM runner_jobs WHERE state = 'running'", params![])?;
    if running >= terms.slots {
        return Ok(None);
    }
    if running == 0
        && let Some(runtime) = &terms.runtime
    {
        requeue_outdated(tx, runtime)?;
    }
    // Owners that used up their day come last.
    let least = tx.trust().owners.least_level.number();
    let [new, known, trusted] = terms.seconds_by_level;
    let next = tx.query_first::<(String, AssetId)>(
        "SELECT j.job_id, j.asset_id FROM runner_jobs j LEFT JOIN owners o ON o.owner = j.owner
         WHERE j.state = 'queued'
         ORDER BY CASE WHEN (SELECT COALESCE(SUM(d.seconds), 0) FROM runner_jobs d
                WHERE d.owner = j.owner AND d.finished_at > $1)
            >= CASE WHEN COALESCE(o.level, 0) >= 2 OR $2 >= 2 THEN $3
                WHEN COALESCE(o.level, 0) = 1 OR $2 = 1 THEN $4 ELSE $5 END THEN 1 ELSE 0 END, j.seq LIMIT 1",
        params![now.0 - DAY_MS, least, trusted, known, new],
    )?;
    let Some((queued_as, id)) = next else { return Ok(None) };
    let job_id = job_id(&id, now);
    tx.run(
        "UPDATE runner_jobs SET job_id = $3, state = 'running', attempts = attempts + 1, lease_until = $2
         WHERE job_id = $1",
        params![&queued_as, now.0 + terms.lease_ms, &job_id],
    )?;
    let body =
        tx.query_first::<Json<RunnableCapsule>>("SELECT body FROM assets WHERE asset_id = $1", params![&id])?;
    let Json(capsule) = body.unwrap_or_default();
    let (files, commands) = match capsule.reproduction {
        Some(BundledProject { files, command }) if !files.is_empty() => (files, vec![command]),
        _ => (Vec::new(), assignments::validation_of(tx, &id)?),
    };
    Ok(Some(RunnerJob {
        job_id,
        asset_id: id.to_string(),
        diff: capsule.diff,
        commands,
        programs: terms.programs.clone(),
        files,
        command_seconds: terms.command_seconds,
    }))
}

/// Lets one promoted capsule wait again that was last run elsewhere: with another runtime its test may fail. It is one at a
/// time, and only while nothing else waits.
fn requeue_outdated(tx: &mut dyn Tx, runtime: &str) -> Result<()> {
    tx.run(
        "UPDATE runner_jobs SET state = 'queued', attempts = 0 WHERE seq = (
            SELECT j.seq FROM runner_jobs j JOIN assets a ON a.asset_id = j.asset_id
            WHERE j.state = 'done' AND j.runtime <> $1 AND a.status = 'promoted'
                AND NOT EXISTS (SELECT 1 FROM runner_jobs w WHERE w.state = 'queued')
            ORDER BY j.finished_at, j.seq LIMIT 1)",
        params![runtime],
    )?;
    Ok(())
}

/// Lets capsules wait again that were demoted since they were run: what was found before does not count any more. Where the
/// runner itself failed one, it would find the same again unless it runs elsewhere now.
fn requeue_demoted(tx: &mut dyn Tx, runtime: Option<&str>) -> Result<()> {
    tx.run(
        "UPDATE runner_jobs SET state = 'queued', attempts = 0 WHERE seq IN (
            SELECT j.seq FROM runner_jobs j JOIN assets a ON a.asset_id = j.asset_id
                JOIN nodes n ON n.node_id = a.node_id
            WHERE j.state = 'done' AND a.status = 'candidate' AND n.status = 'active'
                AND a.proof NOT IN ('absent', 'vacuous') AND a.demoted_at > j.finished_at
                AND (j.outcome <> 'failed' OR j.runtime <> $1) ORDER BY j.seq LIMIT $2)",
        params![runtime, BATCH],
    )?;
    Ok(())
}

/// Jobs of a runner that is gone wait once more; the second time they end. What was found before stands.
fn requeue_lost(tx: &mut dyn Tx, now: Time) -> Result<()> {
    tx.run(
        "UPDATE runner_jobs SET state = 'queued' WHERE state = 'running' AND lease_until <= $1 AND attempts < $2",
        params![now, MAX_ATTEMPTS],
    )?;
    tx.run(
        "UPDATE runner_jobs SET state = 'done', finished_at = $1,
            reason = CASE WHEN outcome IS NULL THEN 'The runner ended twice before it reported.' ELSE reason END,
            outcome = COALESCE(outcome, 'inconclusive')
         WHERE state = 'running' AND lease_until <= $1 AND attempts >= $2",
        params![now, MAX_ATTEMPTS],
    )?;
    Ok(())
}

/// What became of a report of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerReportOutcome {
    Kept(AssetId),
    /// No runner has this job now.
    JobNotRunning,
}

/// Keeps what the runner found, lets it count, and scores the asset anew. A verdict is the outcome of the asset: the runner is
/// an arbiter.
pub fn finish(
    tx: &mut dyn Tx,
    hub_id: &str,
    report: &RunnerReport,
    outcome: RunnerOutcome,
    slash_percent: i64,
    now: Time,
) -> Result<RunnerReportOutcome> {
    let job = tx.query_first::<AssetId>(
        "SELECT asset_id FROM runner_jobs WHERE job_id = $1 AND state = 'running' AND lease_until > $2 FOR UPDATE",
        params![&report.job_id, now],
    )?;
    let Some(id) = job else { return Ok(RunnerReportOutcome::JobNotRunning) };
    tx.run(
        "UPDATE runner_jobs SET state = 'done', outcome = $2, reason = $3, runtime = $4, seconds = $5,
            finished_at = $6 WHERE job_id = $1",
        params![&report.job_id, outcome.as_str(), &report.reason, &report.runtime, report.seconds, now],
    )?;
    if assets::lock(tx, &id)?.is_none() {
        return Ok(RunnerReportOutcome::Kept(id));
    }
    if outcome.is_vacuous() || outcome == RunnerOutcome::Flaky {
        // What it found before, perhaps with another runtime, does not hold any more.
        tx.run(
            "UPDATE reports SET weight = 0 WHERE asset_id = $1 AND node_id = $2 AND label = 'hub'",
            params![&id, hub_id],
        )?;
    }
    if let Some(passed) = outcome.verdict() {
        record_verdict(tx, hub_id, &id, report, passed, now)?;
    }
    graph::membership::report_changed(tx, &id, hub_id, now)?;
    if let Some(passed) = outcome.verdict() {
        arbitrate(tx, &id, Arbitration { passed, arbiter: RUNNER, slash_percent }, now)?;
    }
    scoring::rescore(tx, &id, now)?;
    Ok(RunnerReportOutcome::Kept(id))
}

/// The runner's report stands among those of nodes, under the hub's own id, with which nobody can sign in.
fn record_verdict(
    tx: &mut dyn Tx,
    hub_id: &str,
    id: &AssetId,
    report: &RunnerReport,
    passed: bool,
    now: Time,
) -> Result<()> {
    tx.run(
        "INSERT INTO nodes (node_id, secret_state, secret_hash, name, created_at, last_seen_at)
         VALUES ($1, 'bound', $2, 'hub runner', $3, $3) ON CONFLICT (node_id) DO NOTHING",
        params![hub_id, &NO_SECRET[..], now],
    )?;
    let report_id = format!("report_{}", report.job_id);
    let body = serde_json::to_string(report).unwrap_or_default();
    tx.run(
        "INSERT INTO reports (report_id, asset_id, node_id, overall_ok, weight, label, grade, env_fingerprint_key,
            reward, body, created_at)
         VALUES ($1, $2, $3, $4, $5, 'hub', $6, $7, 0, $8, $9)
         ON CONFLICT (node_id, asset_id) DO UPDATE SET overall_ok = excluded.overall_ok, weight = excluded.weight,
            body = excluded.body, env_fingerprint_key = excluded.env_fingerprint_key, created_at = excluded.created_at",
        params![
            &report_id,
            id,
            hub_id,
            passed,
            GradeWeights::Public.weigh(EvidenceGrade::Hub),
            EvidenceGrade::Hub.as_str(),
            &report.runtime,
            &body,
            now
        ],
    )?;
    Ok(())
}

/// The parts of a capsule that can be run.
#[derive(Debug, Default, serde::Deserialize)]
struct RunnableCapsule {
    #[serde(default)]
    diff: String,
    #[serde(default)]
    reproduction: Option<BundledProject>,
}

/// A small project in which the problem shows.
#[derive(Debug, Default, serde::Deserialize)]
struct BundledProject {
    #[serde(default)]
    files: Vec<RunnerFile>,
    #[serde(default)]
    command: String,
}
