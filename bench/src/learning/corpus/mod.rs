//! The bug families of `bench/data/learning`: repositories, bugs, fixes, cheats, logs and labels.

mod case;
mod edit;
mod family;
mod labels;

pub use case::BugCase;
pub use edit::FileTree;
pub use family::{BugFamily, load_families};
pub use labels::{LabelledLog, LogCorpus};

use std::path::PathBuf;

/// Where the committed corpus is.
pub fn corpus_folder() -> PathBuf {
    crate::root().join("bench/data/learning")
}
