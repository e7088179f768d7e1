//! One writer at a time. The system releases the lock when its holder dies, however it dies.

use crate::files::create_folder;
use capsid_model::{Code, Problem, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// An exclusive lock on a file that holds its owner's process id.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Acquires the lock, or returns who holds it when the wait is over.
    pub fn acquire(path: &Path, what: &str, wait: Duration) -> Result<Self> {
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        let fail = |error: std::io::Error| Problem::io("lock", path, &error);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(path).map_err(fail)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < wait => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => return Err(held(what, &mut file)),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
        file.set_len(0).map_err(fail)?;
        file.write_all(std::process::id().to_string().as_bytes()).map_err(fail)?;
        Ok(Self { file })
    }

    /// The process that holds the lock, 0 if it left no name; none if nobody does. Writes nothing.
    pub fn find_holder(path: &Path) -> Result<Option<u32>> {
        let fail = |error: std::io::Error| Problem::io("read", path, &error);
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).map_err(fail)?;
                Ok(Some(holder.trim().parse().unwrap_or_default()))
            }
            Err(TryLockError::Error(error)) => Err(fail(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The name of a holder that is gone would mislead; failing to clear it harms nothing.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn held(what: &str, file: &mut File) -> Problem {
    let mut holder = String::new();
    // Without a name the message is still true.
    let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut holder));
    let holder = match holder.trim() {
        "" => "another process".to_owned(),
        pid => format!("process {pid}"),
    };
    Problem::new(Code::StoreLocked, format!("{what} is in use by {holder}."))
        .fix("Wait for it to finish, or stop it, then run the command again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_names_its_holder_and_a_dropped_one_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::acquire(&path, "The store", Duration::ZERO).unwrap();
        let problem = Lock::acquire(&path, "The store", Duration::from_millis(30)).unwrap_err();
        assert_eq!(problem.code, Code::StoreLocked);
        assert!(problem.message.contains(&std::process::id().to_string()), "{}", problem.message);
        assert_eq!(Lock::find_holder(&path).unwrap(), Some(std::process::id()));
        drop(first);
        assert_eq!(Lock::find_holder(&path).unwrap(), None);
        assert_eq!(Lock::find_holder(&folder.path().join("none")).unwrap(), None);
        assert!(!folder.path().join("none").exists());
        Lock::acquire(&path, "The store", Duration::ZERO).unwrap();
    }
}
