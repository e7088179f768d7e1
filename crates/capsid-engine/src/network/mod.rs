//! What a node does with its hub beside its cycles: heartbeat, tasks, sync, validation for others.
//!
//! Nothing here can fail or slow a cycle: [`link`] runs on threads of its own, and the loop only looks at what they left.

pub mod budget;
mod courier;
pub mod heartbeat;
pub mod link;
mod listening;
mod parcel;
mod pause;
pub mod publishing;
mod pulse;
pub mod ranking;
pub mod scratch;
pub mod shelf;
pub mod sync;
pub mod tasks;
pub mod trial;
pub mod validator;
pub mod who;
pub mod work;
