//! What the hub's runner found about an asset.

use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::runner_outcome::RunnerOutcome;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::runner_jobs;
use serde::Serialize;
use utoipa::ToSchema;

/// What the hub's runner found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RunnerResult)]
pub struct RunnerResultView {
    /// vacuous_empty, vacuous_base, reproduced, failed, flaky or inconclusive.
    outcome: &'static str,
    /// What that means, in a sentence.
    text: &'static str,
    /// What was missing, or how it failed; may be empty.
    reason: String,
    /// Where it ran.
    runtime: String,
    #[schema(required)]
    at: Option<String>,
}

impl RunnerResultView {
    /// What was found; nothing while the commands were not run.
    pub fn find(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<Self>> {
        let Some(row) = runner_jobs::find(tx, id)? else { return Ok(None) };
        Ok(row.outcome.as_deref().and_then(RunnerOutcome::parse).map(|outcome| Self {
            outcome: outcome.as_str(),
            text: outcome.text(),
            reason: row.reason.unwrap_or_default(),
            runtime: row.runtime.unwrap_or_default(),
            at: row.finished_at.map(|at| Time(at).iso()),
        }))
    }
}
