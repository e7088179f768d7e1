//! The meta-chain: one record for each finished conversation, so that none can vanish or lose its end unseen.
//!
//! Of several records of one conversation the last one counts: a conversation that goes on is recorded again.

mod bundled;
mod compare;
mod entry;
mod lookup;
mod marks;
mod open_list;
mod own_chain;
mod owner;
mod record;
mod rotation;
mod traces;
mod verify;

pub use bundled::compare_bundled;
pub use compare::{CheckedConversation, ConversationStatus, MetaVerifyOptions, PinnedHead};
pub(crate) use entry::shared_database;
pub use lookup::{is_continued, recorded};
pub use marks::{MissingMark, missing_marks};
pub use open_list::OpenChain;
pub use own_chain::{OwnChain, OwnChainVerdict};
pub use owner::{ChainOwner, own_keys, traces_of};
pub use record::{Conversation, MetaRecordOutcome, SharedChain, record_conversation};
pub use rotation::{RotationRecord, record_rotation, rotations};
pub use traces::{KeyRotation, MetaTraces, ROTATION};
pub use verify::{MetaReport, PinResult, verify_meta};

/// The file of the meta-chain in a home.
pub const FILE: &str = "meta.db";
