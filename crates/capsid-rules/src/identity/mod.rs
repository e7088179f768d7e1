//! Rules about secrets, accounts, and which requests and connections a hub lets in.

pub mod accounts;
pub mod connection_limits;
pub mod network;
pub mod request_guard;
pub mod secrets;
