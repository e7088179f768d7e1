//! The local viewer: pages over the data on this machine, for the one person who started it.
//!
//! It listens on loopback alone. Other users and other programs of the machine reach loopback too, and so does any
//! web site through the browser, so being local proves nothing: data goes only to callers with the key that was
//! printed at the start, and requests for another host get nothing.

mod body;
mod data;
mod guard;
mod range;
mod server;

pub use data::{JsonDocument, LocalData, about, closed_error};
pub use server::{DEFAULT_PORT, LocalServer};
