//! One bounty.

use super::view::BountyDetailView;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use serde::Deserialize;

/// How a bounty is looked at.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GetBountyParams {
    /// Whether the creator wants to read the answer in full; the hub records it.
    open: Option<bool>,
    /// The node that asked, where it was a node.
    node_id: Option<String>,
}

impl GetBountyParams {
    /// Whether the answer is to be opened.
    pub fn is_opening(&self) -> bool {
        self.open.unwrap_or(false)
    }

    /// The node that asks.
    pub fn node(&self) -> Option<&str> {
        self.node_id.as_deref()
    }
}

/// Shows a bounty, what was handed in for it, and what became of the credits.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id)))]
pub async fn get_bounty(
    hub: &SharedHub,
    credentials: &Credentials,
    bounty_id: String,
) -> ApiResult<BountyDetailView> {
    hub.limit_reads(credentials).await?;
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| BountyDetailView::load(tx, &bounty_id, now)).await
}
