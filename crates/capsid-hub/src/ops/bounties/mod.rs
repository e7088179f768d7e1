//! `/bounty/*`: credits for whoever solves a task. The same calls are under `/a2a/bounty/*`.

pub mod bounty_row;
pub mod deciding;
pub mod listing;
pub mod offering;
pub mod offers;

use crate::error::{ApiError, HubCode};
use crate::state::Shared;
use capsid_store::work::bounties::Bounty;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Every path.
pub fn paths() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(listing::list))
        .routes(routes!(listing::my))
        .routes(routes!(offering::create))
        .routes(routes!(listing::detail))
        .routes(routes!(deciding::matched))
        .routes(routes!(deciding::accept))
        .routes(routes!(deciding::reject))
        .routes(routes!(deciding::cancel))
}

/// The refusal of a call about a bounty that is not there.
pub fn not_found(bounty_id: &str) -> ApiError {
    let shown = capsid_model::text::inert_line(capsid_model::text::cut(bounty_id, 100));
    ApiError::new(
        HubCode::BountyNotFound,
        format!("There is no bounty `{shown}`."),
        "List the bounties that there are with GET /bounty/list.",
    )
}

/// The refusal of something that cannot be done as a bounty stands.
pub fn wrong_state(bounty: &Bounty, problem: &str, fix: &str) -> ApiError {
    ApiError::new(HubCode::BountyState, problem, fix).with("bounty_status", bounty.status.as_str())
}
