//! Files of the engine: where they are, the run phase, built-in genes, the inputs of a cycle and the scripts of commands.

pub mod builtin;
pub mod inputs;
pub mod log_reading;
pub mod matchers;
pub mod paths;
pub mod phase;
pub mod script;
