//! Webhook registrations and their deliveries.

pub mod manage;
