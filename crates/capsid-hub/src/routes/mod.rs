//! HTTP in, one operation, HTTP out. A route builds neither an error nor JSON by hand.

pub mod admin;
pub mod assets;
pub mod bounties;
pub mod credits;
pub mod evaluation;
pub mod messages;
pub mod nodes;
pub mod services;
pub mod tasks;
pub mod workers;
