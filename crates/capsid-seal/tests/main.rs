//! The tests of this crate from outside, in one program: each of its own would be linked again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod bundles;
mod chain_on_disk;
mod chain_sources;
mod chain_under_stress;
mod every_tampering;
mod home_manipulations;
mod manipulations;
mod meta_chain;
mod odd_text;
mod ownership;
mod page_vectors;
mod peer;
mod pending_records;
#[cfg(feature = "pq")]
mod pq_keys;
mod python_validate;
mod python_writer;
mod qp_capsule;
mod qp_capsule_mistakes;
mod ranges;
mod scene;
mod script_memory;
mod store;
mod traces;
mod validate;
mod vectors;
mod verification;
