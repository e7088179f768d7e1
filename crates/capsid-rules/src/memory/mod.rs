//! What a memory graph amounts to: how often each gene did well on which signals, and what that advises. A repository
//! and a hub weigh their records by the same rules.

pub mod advice;
pub mod answer;
pub mod graph;

/// The kinds of events that a hub is told. The others are worked out from these.
pub const KINDS: [&str; 5] = ["signal", "hypothesis", "attempt", "outcome", "external_candidate"];
