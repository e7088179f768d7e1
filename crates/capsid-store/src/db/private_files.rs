//! Folders and files that only their owner may look into: a hub's database holds what everybody's secrets can be
//! checked with.

use capsid_model::problem::{Problem, Result};
use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

/// Makes a folder and those above it. One that is there already stays as its owner made it.
pub fn folder(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| Problem::io("make the folder", path, &error))
}

/// Makes an empty file where there is none. SQLite gives the files beside a database the mode of the database.
///
/// A file that is there is not opened: closing it would take away the locks that SQLite has on it in this process.
pub fn file(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Problem::io("make", path, &error)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        path.metadata().map_or(0, |data| data.permissions().mode() & 0o777)
    }

    #[test]
    fn nobody_else_may_look_into_a_new_hub() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("deep").join("hub");
        let store = Store::open(&StoreOptions::new(&data, None), Time(0)).unwrap();
        assert_eq!((mode(data.parent().unwrap()), mode(&data)), (0o700, 0o700));
        for name in ["hub.db", "hub.db-wal", "hub.db-shm", "hub.db.lock"] {
            assert_eq!(mode(&data.join(name)), 0o600, "{name}");
        }
        drop(store);
    }

    #[test]
    fn a_folder_that_is_there_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        drop(Store::open(&StoreOptions::new(folder.path(), None), Time(0)).unwrap());
        assert_eq!(mode(folder.path()), 0o755);
        assert_eq!(mode(&folder.path().join("hub.db")), 0o600);
    }

    #[test]
    fn a_tool_makes_nothing_where_there_is_no_hub() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("hub");
        let refused = Store::open(&StoreOptions::new(&data, None).shared(), Time(0)).err().unwrap();
        assert_eq!(refused.code, capsid_model::problem::Code::FileNotFound);
        assert!(!data.exists());
    }
}
