//! Who may do what in the name of a node, what nodes and accounts may be called, and which requests and connections a hub
//! lets in.

pub mod access;
pub mod accounts;
pub mod actor;
pub mod addresses;
pub mod claims;
pub mod connection_limits;
pub mod display_name;
pub mod issuing;
pub mod network;
pub mod owner_level;
pub mod recovery;
pub mod request_guard;
pub mod secret_clients;
pub mod secrets;
