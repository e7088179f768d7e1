//! The calls of the hub's runner.

use crate::error::{ApiError, ApiResult};
use crate::http::json::JsonBody;
use crate::ops::evaluation::runner::{self, NextJobRequest, RunnerJobResponse, RunnerReportResponse};
use crate::state::SharedHub;
use axum::extract::{FromRequestParts, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::routing::post;
use axum::{Json, Router};
use capsid_rules::evaluation::runner_job::RunnerReport;

/// The paths of the runner.
pub fn routes() -> Router<SharedHub> {
    Router::new().route("/runner/next", post(next_job)).route("/runner/report", post(report))
}

/// What a runner shows.
pub struct RunnerToken(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for RunnerToken {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self> {
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        Ok(Self(value.and_then(|value| value.strip_prefix("Bearer ")).map(|token| token.trim().to_owned())))
    }
}

/// Takes the next bundle that is to be run, if one waits. For the hub's runner only.
async fn next_job(
    State(hub): State<SharedHub>,
    token: RunnerToken,
    JsonBody(request): JsonBody<NextJobRequest>,
) -> ApiResult<Json<RunnerJobResponse>> {
    Ok(Json(runner::next_job(&hub, token.0.as_deref(), request).await?))
}

/// Reports what the runs of a bundle showed. For the hub's runner only.
async fn report(
    State(hub): State<SharedHub>,
    token: RunnerToken,
    JsonBody(found): JsonBody<RunnerReport>,
) -> ApiResult<Json<RunnerReportResponse>> {
    Ok(Json(runner::report(&hub, token.0.as_deref(), found).await?))
}
