//! `/kg/*`: the knowledge graph: things, how they hang together, and who says so.

pub mod advice;
mod caller;
mod draw;
mod drawing;
mod filters;
mod forget;
mod hits;
mod ingest;
mod items;
mod list_own;
mod path;
mod price;
mod query;
mod status;
mod walk;

pub(crate) use caller::GraphSender;
pub use draw::{__path_draw_graph, draw_graph};
pub(crate) use filters::GraphFilters;
pub use forget::{__path_forget, forget};
pub use ingest::{__path_ingest, ingest};
pub use list_own::{__path_my_graph, my_graph};
pub use path::{__path_find_path, find_path};
pub(crate) use price::admit_free;
pub use query::{__path_query, query};
pub use status::{__path_status, GraphCountCache, status};

use crate::error::ApiResult;
use crate::http::envelope::JsonReply;
use crate::state::SharedHub;
use capsid_rules::credits;
use price::GraphCharge;
use serde_json::Value;

/// Pays for an answer and tells in it what it cost.
async fn with_charge(hub: &SharedHub, ticket: GraphCharge, mut told: Value) -> ApiResult<JsonReply> {
    let charged = ticket.charge(hub).await?;
    if let Some(members) = told.as_object_mut() {
        members.insert("credits_charged".to_owned(), credits::to_decimal(charged).into());
    }
    Ok(JsonReply::json(&told))
}
