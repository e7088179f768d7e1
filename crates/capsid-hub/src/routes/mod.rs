//! HTTP in, one operation, HTTP out.

pub mod admin;
pub mod assets;
pub mod evaluation;
pub mod messages;
pub mod nodes;
