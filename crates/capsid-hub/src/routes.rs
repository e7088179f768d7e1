//! The endpoints, one file for each verb or noun.

pub mod account;
pub mod admin;
pub mod admin_users;
pub mod auth;
pub mod claim;
pub mod decision;
pub mod discover;
pub mod events;
pub mod health;
pub mod heartbeat;
pub mod hello;
pub mod mailbox;
pub mod memory;
pub mod openapi;
pub mod publish;
pub mod report;
pub mod revoke;
pub mod service;
pub mod signal;
pub mod skill_store;
pub mod solidify;
pub mod stake;
pub mod tasks;
