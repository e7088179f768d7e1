//! Nodes that take work from a pool. An assignment is one node's try at a task, and its id is the id of the submission.

pub mod available;
pub mod register;
pub mod work;
