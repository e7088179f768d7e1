//! Whether the id of an asset is that of what the hub keeps.

use super::id_in_path;
use super::revoke::not_found;
use crate::error::{ApiError, ApiResult};
use crate::http::json;
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::{Object, asset};
use capsid_rules::assets::traits::id_holds;
use capsid_store::assets::id::AssetId;
use serde::Serialize;
use utoipa::ToSchema;

/// Whether the id of an asset is that of what the hub keeps.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetVerified)]
pub struct VerifyAssetResponse {
    #[schema(value_type = String)]
    asset_id: AssetId,
    computed_asset_id: String,
    content_hash: String,
    valid: bool,
}

/// Computes an asset's id again from what is kept.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id)))]
pub async fn verify_asset(hub: &SharedHub, id: &str) -> ApiResult<VerifyAssetResponse> {
    let id = id_in_path(id)?;
    let body = hub
        .store
        .find_replicated::<_, ApiError, _>(move |tx| Ok(capsid_store::assets::body(tx, &id)?))
        .await?
        .ok_or_else(not_found)?;
    let object: Object = json::read(&body, "asset")?;
    let valid = id_holds(&body, &object, &id.to_string());
    let content_hash = asset::asset_id(&object);
    // An id may leave out what clients disagree on. Then the hash of the whole is another, and the id still holds.
    let computed_asset_id = if valid { id.to_string() } else { content_hash.clone() };
    Ok(VerifyAssetResponse { asset_id: id, computed_asset_id, content_hash, valid })
}
