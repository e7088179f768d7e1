//! The skill store.

pub mod skill_store;
