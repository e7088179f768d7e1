//! An SQLite file with the hub's schema, copied instead of migrated for every test.

use capsid_model::time::Time;
use capsid_store::{Store, StoreOptions};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Puts a migrated `hub.db` into a folder, unless there is one.
pub fn place_database(folder: &Path) {
    let file = folder.join("hub.db");
    if !file.exists() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::copy(template(), file).unwrap();
    }
}

/// The migrated file. It is stored next to the built tests, under the fingerprint of the migrations.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let file = cache().join(format!("capsid-template-{}.db", &capsid_store::schema_fingerprint()[..16]));
        if !file.exists() {
            let folder = tempfile::tempdir_in(cache()).unwrap();
            migrate(StoreOptions::new(folder.path(), None));
            // Atomically, even if another process makes it at the same time.
            std::fs::rename(folder.path().join("hub.db"), &file).unwrap();
        }
        file
    })
}

/// Brings a database up to date, on a thread of its own: a thread of a runtime must not wait for it.
pub(crate) fn migrate(options: StoreOptions) {
    let migrating = std::thread::spawn(move || drop(Store::open(&options, Time(0)).unwrap()));
    migrating.join().unwrap();
}

/// `target/tmp`; a test program is in `target/<profile>/deps`.
fn cache() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.ancestors().nth(3).unwrap().join("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
