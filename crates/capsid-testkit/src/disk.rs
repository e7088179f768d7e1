//! Temporary folders on a disk.
//!
//! `scripts/test` lets most tests work in memory, where waiting for a disk costs nothing. Trials of what survives a kill
//! or a failing disk stay on the disk that `CAPSID_TEST_DISK` names.

use tempfile::TempDir;

/// A temporary folder on the disk.
pub fn tempdir() -> TempDir {
    let made = match std::env::var_os("CAPSID_TEST_DISK") {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    made.unwrap()
}
