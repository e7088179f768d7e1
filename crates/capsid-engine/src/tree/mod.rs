//! The user's tree: the repository, names and changes of its files, private views of it, and how a change gets into it.

pub mod apply;
pub mod changes;
pub mod names;
pub mod patch;
pub mod private_tree;
pub mod repository;

pub use changes::{ChangeKind, Changes, FileChange};
pub use patch::{Patch, PatchForm};
pub use repository::Repository;
