//! Cargo wants a target; this one is empty.
