//! Who sends a request: credentials, nodes, accounts, and messages that are sent twice.

pub mod account;
pub mod credentials;
pub mod idempotency;
mod limits;
pub mod message;
pub mod public_key;
pub mod sender;
pub mod sender_fields;
