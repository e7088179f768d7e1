//! What a node does with its hub apart from cycles: heartbeat, tasks, sync, validation for others.
//!
//! Nothing here can fail or slow a cycle: [`link`] runs on threads of its own, and the loop only looks at what they left.

pub mod budget;
mod event_thread;
pub mod heartbeat;
mod heartbeat_thread;
pub mod hub_link;
mod hub_worker;
pub mod loop_state;
pub mod publishing;
pub mod ranking;
pub mod reuse_reports;
mod sent_bundle;
pub mod sync;
pub mod tasks;
pub mod validator;
pub mod work;
