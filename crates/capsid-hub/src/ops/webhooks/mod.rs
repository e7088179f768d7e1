//! Webhooks: registrations and what became of calls to them.

pub mod deliveries;
pub mod manage;
pub mod view;
