//! The knowledge graph: things, how they hang together, and who says so.

pub mod advice;
mod caller;
pub mod draw;
pub mod drawing;
mod filters;
pub mod forget;
mod hits;
pub mod ingest;
mod items;
pub mod list_own;
pub mod path;
mod price;
pub mod query;
pub mod request;
pub mod status;
mod walk;

pub(crate) use caller::GraphSender;
pub(crate) use filters::GraphFilters;
pub(crate) use price::admit_free;
