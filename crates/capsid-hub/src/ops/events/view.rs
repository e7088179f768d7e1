//! An event as clients see it.

use crate::error::ApiResult;
use crate::http::json::stored_json;
use capsid_model::time::Time;
use capsid_store::notifications::events::EventRow;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Something that a node is told.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = NodeEvent)]
pub struct EventView {
    /// `evt_` and its place.
    id: String,
    /// Its place among all events.
    pub seq: i64,
    #[serde(rename = "type")]
    kind: String,
    /// What it is about.
    #[schema(value_type = Value)]
    payload: Box<RawValue>,
    created_at: String,
    expires_at: String,
}

impl EventView {
    pub fn from_row(event: EventRow) -> ApiResult<Self> {
        Ok(Self {
            id: format!("evt_{}", event.seq),
            seq: event.seq,
            kind: event.kind,
            payload: stored_json(event.payload)?,
            created_at: Time(event.created_at).iso(),
            expires_at: Time(event.expires_at).iso(),
        })
    }
}
