//! `GET /openapi.json`: the description of every path, made from the same list as the router.

use crate::state::SharedHub;
use axum::Extension;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use std::sync::Arc;

/// The description, shared by the routes that show it or a part of it.
#[derive(Debug, Clone)]
pub struct OpenApiDocument(pub Arc<Value>);

/// Describes every call of this hub.
#[utoipa::path(get, path = "/openapi.json", tag = "hub", responses((status = 200, body = crate::http::openapi::Object)))]
pub async fn openapi(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
) -> Json<Value> {
    let mut document = (*described.0).clone();
    if let Some(members) = document.as_object_mut() {
        members.insert("servers".to_owned(), json!([{ "url": hub.config.base_url() }]));
    }
    Json(document)
}
