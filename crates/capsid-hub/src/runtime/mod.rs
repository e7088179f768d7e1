//! Parts that the hub owns. They do not know the hub.

mod batcher;
pub mod caches;
pub mod event_notifier;
pub mod exposure;
pub mod hub_clock;
pub mod hub_keys;
pub mod index_follower;
pub mod keyed_semaphore;
pub mod log_queue;
pub mod node_lookup;
pub mod password_hasher;
pub mod publish_queue;
pub mod rate_leases;
pub mod rate_limiter;
pub mod response_cache;
pub mod starter;
pub mod telemetry;
pub mod usage_counter;
pub mod welcome_key;
