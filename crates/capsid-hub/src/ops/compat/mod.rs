//! Operations that exist for clients of other hubs.

pub mod signal;
pub mod solidify;
