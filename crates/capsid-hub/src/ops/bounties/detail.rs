//! One bounty.

use super::view::BountyDetailView;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;

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
