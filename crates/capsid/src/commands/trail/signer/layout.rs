//! Where the service is: the machine's own, unless a test named a folder.

use capsid_signer::layout::SignerLayout;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static TEST_FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Uses a folder for all of it in this process. Only the command line can name one: an agent controls the environment.
pub(in crate::commands) fn set_test_folder(folder: &Path) {
    // It is named once.
    let _ = TEST_FOLDER.set(folder.to_owned());
}

/// The paths of the service.
pub(in crate::commands) fn layout() -> SignerLayout {
    TEST_FOLDER.get().map_or_else(SignerLayout::system, |folder| SignerLayout::at(folder))
}
