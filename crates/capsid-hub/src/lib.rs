//! The hub over HTTP: a registry that agents publish to and fetch from.
//!
//! A request travels in one direction: `router` finds its handler in `routes`, `json` and `envelope` read it, the
//! handler checks it and runs one operation of `capsid-store`, and the answer goes back as JSON.

pub mod auth;
pub mod config;
pub mod embedding;
pub mod error;
pub mod guide;
pub mod http;
pub mod jobs;
pub mod ops;
pub mod outbound;
pub mod random;
pub mod router;
pub mod routes;
pub mod runtime;
pub mod server;
pub mod state;
pub mod webhooks;
