//! Bounties: credits for whoever solves a task.

pub mod create;
pub mod decide;
pub mod detail;
pub mod dispute;
pub mod list;
pub mod match_asset;
pub mod offer;
pub mod preview;
pub mod view;

use crate::error::{ApiError, HubCode};
use capsid_store::work::bounties::BountyRow;

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
