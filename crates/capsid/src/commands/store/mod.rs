//! Commands that read the store: genes, capsules, events, assets and archives.

pub mod archive;
pub mod asset;
pub mod capsules;
pub(crate) mod documents;
pub mod events;
pub mod genes;
pub(crate) mod listing;
pub(crate) mod record_id;
