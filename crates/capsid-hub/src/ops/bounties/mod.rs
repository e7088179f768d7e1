//! `/bounty/*`: credits for whoever solves a task. The same calls are under `/a2a/bounty/*`.

pub mod create;
pub mod decide;
pub mod list;
pub mod offer;
pub mod view;

use crate::error::{ApiError, HubCode};
use crate::state::SharedHub;
use capsid_store::work::bounties::BountyRow;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Every path.
pub fn paths() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(list::my))
        .routes(routes!(create::create))
        .routes(routes!(list::detail))
        .routes(routes!(decide::matched))
        .routes(routes!(decide::accept))
        .routes(routes!(decide::reject))
        .routes(routes!(decide::cancel))
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
pub fn wrong_state(bounty: &BountyRow, problem: &str, fix: &str) -> ApiError {
    ApiError::new(HubCode::BountyState, problem, fix).with("bounty_status", bounty.status.as_str())
}
