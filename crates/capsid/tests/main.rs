//! What the program does, run as its users run it: one module for each topic, all in one program, which is linked once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods
)]

mod agents;
mod command_line;
mod common;
mod cycle;
mod defects;
mod docs;
mod economy_trials;
mod escapes;
mod events_web;
mod exchange;
mod explore;
mod hub_admin;
mod hub_load;
mod hub_maintenance;
mod hub_runner;
mod hub_serve;
mod hub_trials;
mod kill;
mod learning;
mod loop_hub;
mod mcp;
mod memory;
mod network;
mod node_commands;
mod node_identity;
mod packages;
mod python_sdk;
mod real_client;
mod reuse;
mod safety_table;
mod starter;
mod store_commands;
mod trail;
mod upgrades;
mod validator;
mod webhook_trials;
