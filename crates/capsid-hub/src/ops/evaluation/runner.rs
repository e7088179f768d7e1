//! The runner that an operator may start beside the hub takes jobs and reports what it found.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::validate;
use crate::state::SharedHub;
use capsid_rules::evaluation::runner_job::{RunnerJob, RunnerReport};
use capsid_rules::evaluation::runner_outcome::RunnerOutcome;
use capsid_store::evaluation::runner_jobs::{self, RunnerReportOutcome, RunnerTerms};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

/// How many runs a job has: the empty folder, the base, and the change twice.
const FOLDERS: i64 = 4;
/// One folder may take as long as two commands.
const COMMANDS_PER_FOLDER: i64 = 2;
/// What a runner may need besides.
const LEASE_MARGIN_MS: i64 = 60_000;
/// The longest reason and the longest runtime that are kept.
const TEXT_LIMIT: usize = 2_000;

/// What a runner says of itself when it asks for a job.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub struct NextJobRequest {
    /// Where it runs things, such as `linux x64, node v20.20.0`.
    runtime: Option<String>,
}

/// The next job, if one waits.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunnerJobResponse {
    #[schema(required)]
    job: Option<RunnerJob>,
}

/// What became of a report.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunnerReportResponse {
    /// Always `kept`.
    status: &'static str,
    asset_id: String,
    /// What the hub makes of it, in a sentence.
    text: &'static str,
}

/// Gives the next job to the runner.
#[tracing::instrument(skip_all)]
pub async fn next_job(
    hub: &SharedHub,
    token: Option<&str>,
    request: NextJobRequest,
) -> ApiResult<RunnerJobResponse> {
    check_token(hub, token)?;
    validate::text_or(request.runtime.as_deref(), "runtime", TEXT_LIMIT)?;
    let terms = RunnerTerms { runtime: request.runtime.filter(|text| !text.is_empty()), ..terms(hub) };
    let clock = Arc::clone(&hub.clock);
    let job =
        hub.store.write::<_, ApiError, _>(move |tx| Ok(runner_jobs::lease(tx, &terms, clock.now())?)).await?;
    Ok(RunnerJobResponse { job })
}

/// Keeps what the runner found.
#[tracing::instrument(skip_all)]
pub async fn report(
    hub: &SharedHub,
    token: Option<&str>,
    report: RunnerReport,
) -> ApiResult<RunnerReportResponse> {
    check_token(hub, token)?;
    let outcome = RunnerOutcome::parse(&report.outcome).ok_or_else(|| {
        let known = RunnerOutcome::ALL.map(RunnerOutcome::as_str).join(", ");
        ApiError::field("outcome", format!("one of {known}"), "another text")
    })?;
    for (name, text) in [("reason", &report.reason), ("runtime", &report.runtime)] {
        if text.len() > TEXT_LIMIT {
            return Err(ApiError::field(name, format!("at most {TEXT_LIMIT} bytes"), "more"));
        }
    }
    validate::name(&report.job_id, "job_id", 100)?;
    if !report.seconds.is_finite() || report.seconds < 0.0 {
        return Err(ApiError::field("seconds", "a number from 0 up", "another number"));
    }
    let hub_id = hub.hub_id.clone();
    let (clock, slash_percent) = (Arc::clone(&hub.clock), hub.config.rewards().slash_percent);
    let kept = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            Ok(runner_jobs::finish(tx, &hub_id, &report, outcome, slash_percent, clock.now())?)
        })
        .await?;
    match kept {
        RunnerReportOutcome::Kept(id) => {
            Ok(RunnerReportResponse { status: "kept", asset_id: id.to_string(), text: outcome.text() })
        }
        RunnerReportOutcome::JobNotRunning => Err(ApiError::new(
            HubCode::RunnerJobNotOpen,
            "No runner has this job now: it ended, or it was given to another one.",
            "Ask for the next job.",
        )),
    }
}

fn terms(hub: &SharedHub) -> RunnerTerms {
    let runner = &hub.config.runner;
    let command_ms = runner.command_seconds as i64 * 1000;
    RunnerTerms {
        slots: runner.slots,
        lease_ms: FOLDERS * COMMANDS_PER_FOLDER * command_ms + LEASE_MARGIN_MS,
        seconds_by_level: runner.seconds_by_level.map(|seconds| seconds as f64),
        runtime: None,
        command_seconds: runner.command_seconds,
        programs: hub.config.extra_programs.clone(),
    }
}

/// Only the runner knows the token. A hub without a runner knows none.
fn check_token(hub: &SharedHub, token: Option<&str>) -> ApiResult<()> {
    let runner = &hub.config.runner;
    let own = runner.token.0.as_bytes();
    let is_right = token.is_some_and(|token| bool::from(token.as_bytes().ct_eq(own)));
    if runner.is_on && !own.is_empty() && is_right {
        return Ok(());
    }
    Err(ApiError::new(
        HubCode::RunnerTokenInvalid,
        "The request does not show the token of this hub's runner.",
        "Set `validation.runner = \"on\"`, and start the runner with `--token-file`; the hub writes the file \
         `runner-token` into its data folder.",
    ))
}
