//! Whether the file that is open is still the one at its path. What is written to a file that was moved or deleted is
//! lost to whoever opens the path next.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The path of the open file, and which file that was.
pub struct DatabaseFile {
    path: PathBuf,
    file: Option<(u64, u64)>,
    left: AtomicBool,
}

impl DatabaseFile {
    /// Notes which file is at a path. It has just been opened.
    pub fn open(path: &Path) -> Self {
        Self { path: path.to_owned(), file: identity(path), left: AtomicBool::new(false) }
    }

    /// Looks whether the file is still there. Says so in the log when that has changed.
    pub fn check(&self) -> bool {
        let left = identity(&self.path) != self.file;
        if self.left.swap(left, Ordering::Relaxed) != left {
            let path = self.path.display();
            if left {
                tracing::error!("`{path}` was moved, replaced or deleted; nothing more is written");
            } else {
                tracing::info!("`{path}` is back in its place");
            }
        }
        !left
    }

    /// Whether it was missing when it was last looked for.
    pub fn is_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere an open file cannot be moved.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
