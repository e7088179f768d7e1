//! The private tree of a run: what the tree was when it started, and what an agent made of it.

pub mod base;
pub mod beneath;
mod blob_id;
pub mod change_layer;
pub mod copies;
pub mod copy_file;
mod copy_git;
pub mod copy_view;
pub mod diff;
pub mod file_state;
pub mod freeze;
mod index;
pub mod listing;
mod manifest_file;
pub mod name_text;
pub mod rules;
mod tree_listing;
mod unsafe_paths;
mod walk;

pub use base::{BaseFile, BaseManifest, TreeDrift};
pub use blob_id::BlobId;
pub use change_layer::list_upper;
pub use copies::{BaseContent, BaseCopies, TreeBase};
pub use copy_view::{CopyIgnored, CopyView, create_copy_view};
pub use diff::{ChangeDiff, ChangePair};
pub use file_state::{FileContent, FileIdentity, FileState};
pub use freeze::{ChangeLayer, FreezeMethod, LayerFile, freeze};
pub use listing::{
    ChangeViolation, ChangedPath, DroppedDirectory, DroppedFiles, UpperListing, ViolationKind,
};
pub use rules::{BaseRules, BaseScope};
pub use tree_listing::{list_copy, list_in_place};
