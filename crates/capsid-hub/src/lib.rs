//! The hub over HTTP: a registry that agents publish to and fetch from.
//!
//! A request travels in one direction: `router` finds its handler in `routes`, `json` and `envelope` read it, the
//! handler checks it and runs one operation of `capsid-store`, and the answer goes back as JSON.

pub mod access;
pub mod accounts;
pub mod bell;
pub mod bounty_row;
pub mod checks;
pub mod config;
pub mod cursor;
pub mod embedding;
pub mod envelope;
pub mod error;
pub mod fields;
pub mod indexer;
pub mod jobs;
pub mod json;
pub mod limiter;
pub mod logs;
mod middleware;
mod negotiation;
pub mod offers;
pub mod once;
pub mod openapi;
pub mod outbound;
pub mod passwords;
pub mod publication;
pub mod purchase;
pub mod query;
pub mod random;
pub mod router;
pub mod routes;
pub mod row;
pub mod serve;
pub mod skill;
pub mod state;
pub mod task_row;
pub mod telemetry;
pub mod tls;
pub mod usage;
pub mod waiting;
pub mod webhook_url;
pub mod webhooks;
