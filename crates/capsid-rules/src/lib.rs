//! What the hub decides by: scores, lifecycles, gates and search terms as plain functions.
//!
//! Nothing here reads a clock, a file or a socket. Whoever calls passes everything in, so each rule can be read, tested
//! and repeated on its own; `capsid-store` and `capsid-hub` only carry out what these functions say.

pub mod assets;
pub mod credits;
pub mod diagnosis;
pub mod evaluation;
pub mod front_matter;
pub mod graph;
pub mod identity;
pub mod learning;
pub mod lifecycle;
pub mod meaning;
pub mod memory;
pub mod rate_limit;
pub mod work;

/// A number between zero and one; anything that is not a number counts as zero.
fn clip01(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// A number of at least zero and without infinity, so that sums of it stay numbers.
fn amount(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1e12) }
}
