//! Pure decisions of the engine: constraints, selection, strategy, mutation, personality, what comes from others and the signals that may leave.

pub mod constraints;
pub mod foreign;
pub mod mutation;
pub mod outbound;
pub mod personality;
pub mod problem_ids;
pub mod select;
pub mod strategy;
