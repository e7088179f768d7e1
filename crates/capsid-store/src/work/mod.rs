//! Tasks, bounties, swarms and workers.

pub mod announcements;
pub mod bounties;
pub mod pending_earnings;
pub mod swarm;
pub mod tasks;
pub mod workers;
