//! A desk: the pages over what lies on this machine, for the one person who started it.
//!
//! It listens on loopback alone. Other users and other programs of the machine reach loopback too, and so does any
//! web site through the browser, so that being local proves nothing: data is given only to who has the key that was
//! printed at the start, and nothing at all to who asked for another host.

mod body;
mod data;
mod guard;
mod server;

pub use data::{JsonDocument, LocalData, about, closed_error};
pub use server::{DEFAULT_PORT, LocalServer};
