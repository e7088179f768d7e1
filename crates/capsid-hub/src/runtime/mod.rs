//! Parts that the hub owns. They do not know the hub.

pub mod bell;
pub mod indexer;
pub mod limiter;
pub mod passwords;
pub mod telemetry;
pub mod usage;
pub mod waiting;
