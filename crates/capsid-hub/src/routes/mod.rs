//! HTTP in, one operation, HTTP out. A route builds neither an error nor JSON by hand.

pub mod accounts;
pub mod admin;
pub mod assets;
pub mod bounties;
pub mod credits;
pub mod discovery;
pub mod evaluation;
pub mod events;
pub mod graph;
pub mod mailbox;
pub mod memory;
pub mod messages;
pub mod nodes;
pub mod pages;
pub mod runner;
pub mod services;
pub mod skills;
pub mod tasks;
pub mod webhooks;
pub mod workers;
