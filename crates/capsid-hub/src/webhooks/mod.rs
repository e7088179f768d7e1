//! Calling nodes' webhooks.
//!
//! `worker` takes calls that are due and settles them, `call` makes one, `resolve` finds out which addresses a name
//! stands for and whether they may be called, and `sign` lets the receiver know that it is the hub that calls.
//! `registration` is how a node says where it wants to be called.

pub mod call;
pub mod in_flight;
pub mod registration;
pub mod sign;
pub mod worker;
