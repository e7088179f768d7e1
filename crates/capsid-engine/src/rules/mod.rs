//! Pure decisions of the engine: constraints, selection, strategy, mutation and personality.

pub mod constraints;
pub mod mutation;
pub mod personality;
pub mod select;
pub mod strategy;
