//! `/kg/*`: the knowledge graph: things, how they hang together, and who says so.

mod drawing;
mod filters;
mod forget;
pub mod graph_advice;
mod hits;
mod ingest;
mod items;
mod mine;
mod path;
mod picture;
mod price;
mod query;
mod status;
mod walk;
mod who;

pub use drawing::{__path_draw, draw};
pub(crate) use filters::Filters;
pub use forget::{__path_forget, forget};
pub use ingest::{__path_ingest, ingest};
pub use mine::{__path_my_graph, my_graph};
pub use path::{__path_way, way};
pub(crate) use price::admit_free;
pub use query::{__path_query, query};
pub use status::{__path_status, Counted, status};
pub(crate) use who::Sender;

use crate::error::Result;
use crate::http::envelope::Reply;
use crate::state::Shared;
use capsid_rules::credits;
use price::Ticket;
use serde_json::Value;

/// Pays for an answer and tells in it what it cost.
async fn with_charge(hub: &Shared, ticket: Ticket, mut told: Value) -> Result<Reply> {
    let charged = ticket.pay(hub).await?;
    if let Some(members) = told.as_object_mut() {
        members.insert("credits_charged".to_owned(), credits::shown(charged).into());
    }
    Ok(Reply::json(&told))
}
