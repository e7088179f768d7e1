//! Who sends a request: credentials, nodes, accounts, and messages that are sent twice.

pub mod access;
pub mod accounts;
pub mod once;
