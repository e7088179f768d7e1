//! Events of nodes, as a stream and as long polls.

pub mod poll;
pub mod stream;
pub mod view;
