//! Snapshots, changes and rollback, with real git in scratch repositories.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod changing;
mod help;
mod nested;
mod random;
mod stuck;
mod taking;
mod undoing;
