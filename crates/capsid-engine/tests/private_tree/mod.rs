//! The base of a run and the change that an agent makes of it, with real git and, where possible, a real overlay.

mod copy_level;
mod diff;
pub mod edits;
pub mod help;
mod layer;
mod manifest;
mod random;
