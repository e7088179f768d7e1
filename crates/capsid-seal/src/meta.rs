//! The meta-chain: one record for each finished conversation, so that none can vanish or lose its end unseen.

mod record;

pub use record::{Conversation, Recorded, Shared, record_conversation};

/// The file of the meta-chain in a home.
pub const FILE: &str = "meta.db";
