//! What nodes are notified of: events, webhooks and mail.

pub mod deliveries;
pub mod events;
pub mod mailbox;
pub mod notices;
pub mod webhooks;
