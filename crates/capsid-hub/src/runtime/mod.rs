//! Parts that the hub owns. They do not know the hub.

mod batcher;
pub mod caches;
pub mod event_notifier;
pub mod hub_keys;
pub mod keyed_semaphore;
pub mod password_hasher;
pub mod rate_limiter;
pub mod search_indexer;
pub mod telemetry;
pub mod usage_counter;
