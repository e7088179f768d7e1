//! The skill store.

pub mod publish;
