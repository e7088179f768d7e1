//! The skill store.

pub mod download;
pub mod list;
pub mod publish;
pub mod view;
