//! When deliveries to a receiver that fails are given up.

pub use capsid_model::backoff::{BackoffPolicy, RetryDecision};

/// How many calls in a row are given up before the receiver is no longer called at all.
pub const MAX_DEATHS: i64 = 20;
