//! Whether a file changed while it was read.

use capsid_model::Result;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Reads a file. What came of one that changed meanwhile is not believed unless it is good: it is read once more. None if
/// it changed again.
pub(super) fn read_settled<T>(
    path: &Path,
    mut read: impl FnMut() -> Result<T>,
    is_good: impl Fn(&T) -> bool,
) -> Result<Option<T>> {
    for _ in 0..READS {
        let before = FileStamp::read(path);
        let found = read();
        if found.as_ref().is_ok_and(&is_good) || FileStamp::read(path) == before {
            return found.map(Some);
        }
    }
    Ok(None)
}

/// How often a file is read that changes.
const READS: usize = 2;
/// The bytes of a database's header up to its change counter, and that counter.
const HEADER_LEN: usize = 28;

/// What changes when a file is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileStamp {
    states: Vec<Option<(u64, Option<SystemTime>)>>,
    header: Vec<u8>,
}

impl FileStamp {
    /// The state of a file now, with the files that a database has next to it.
    fn read(path: &Path) -> Self {
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let state = |path: PathBuf| {
            let meta = std::fs::metadata(path).ok()?;
            Some((meta.len(), meta.modified().ok()))
        };
        let mut header = vec![0; HEADER_LEN];
        let read = File::open(path).and_then(|mut file| file.read(&mut header));
        header.truncate(read.unwrap_or_default());
        Self {
            states: vec![state(path.to_owned()), state(beside("-wal")), state(beside("-journal"))],
            header,
        }
    }
}
