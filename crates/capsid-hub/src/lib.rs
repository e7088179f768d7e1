//! The hub over HTTP: a registry that agents publish to and fetch from.
//!
//! A request travels in one direction: `router` finds its handler in `routes`, the handler reads it with `http` and
//! calls an operation in `ops`, which authenticates the sender with `auth` and runs one transaction of `capsid-store`.

pub mod auth;
pub mod config;
pub mod context;
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
pub mod run;
pub mod runtime;
pub mod server;
pub mod state;
pub mod webhooks;
