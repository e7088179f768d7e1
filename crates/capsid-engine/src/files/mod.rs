//! Files of the engine: where they are, the outbox, the run phase, built-in genes and the inputs of a cycle.

pub mod builtin;
pub mod inputs;
pub(crate) mod outbox;
pub mod paths;
pub mod phase;
