//! Who may do what in the name of a node, and what nodes and accounts may be called.

pub mod access;
pub mod accounts;
pub mod actor;
pub mod claims;
pub mod display_name;
pub mod issuing;
pub mod network;
pub mod recovery;
pub mod secret_clients;
pub mod secrets;
