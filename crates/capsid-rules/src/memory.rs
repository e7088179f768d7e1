//! What a memory graph amounts to: how often each gene did well on which signals, and what that advises. A repository
//! and a hub weigh their records by the same rules.

pub mod advice;
pub mod answer;
pub mod graph;
