//! Rules about tasks, bounties, swarms and models.

pub mod bounties;
pub mod models;
pub mod swarm;
pub mod tasks;
