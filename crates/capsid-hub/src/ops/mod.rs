//! Operations of the hub: one function each, with a typed request and a typed response.

pub mod accounts;
pub mod assets;
pub mod audit;
pub mod bounties;
pub mod compat;
pub mod credits;
pub mod evaluation;
pub mod events;
pub mod graph;
pub mod hub;
pub mod mailbox;
pub mod memory;
pub mod nodes;
pub mod not_offered;
pub mod services;
pub mod skills;
pub mod starter;
pub mod tasks;
pub mod webhooks;
pub mod workers;
