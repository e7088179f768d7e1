//! What a hub does, asked over its router: one module for each topic, all in one program, which is linked once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods
)]

mod accounts;
mod admission;
mod advice;
mod announcements;
mod assets;
mod backup;
mod bounties;
mod calls;
mod claims;
mod cleanup;
mod client_findings;
mod clock;
mod common;
mod credits;
mod described;
mod economy;
mod embedding;
mod evaluation;
mod events;
mod fetch;
mod fsck;
mod graph;
mod graph_store;
mod guards;
mod guide;
mod hello;
mod identity;
mod meaning;
mod mutations;
mod nodes;
mod older_clients;
mod operation;
mod pages;
mod property;
mod publish;
mod publish_batch;
mod relevance;
mod samples;
mod search;
mod secrets;
mod server;
mod services;
mod shared_assets;
mod strangers;
mod swarm;
mod tasks;
mod webhooks;
