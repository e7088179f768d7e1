//! Verification, of chains in memory and of what other tools sealed.

mod pq;
pub mod support;
mod tampering;
mod vectors;
