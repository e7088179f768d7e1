//! Snapshots, changes and rollback, with real git in scratch repositories.

mod changing;
mod help;
mod nested;
mod random;
mod stuck;
mod taking;
mod undoing;
