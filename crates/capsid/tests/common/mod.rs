//! What several topics need: the built program and an empty place for a hub.

#[allow(dead_code)]
#[path = "../../../capsid-hub/tests/common/bundle.rs"]
pub mod bundle;

use capsid_testkit::hub::TestHubLocation;
use capsid_testkit::postgres::{TestDatabase, TestPostgres};
use capsid_testkit::program::TestProgram;

/// The program that was built with these tests.
pub fn program() -> TestProgram {
    TestProgram::at(env!("CARGO_BIN_EXE_capsid"))
}

/// An empty place for a hub, gone with this value.
pub struct Scratch {
    pub place: TestHubLocation,
    pub folder: tempfile::TempDir,
    _database: Option<TestDatabase>,
}

impl Scratch {
    pub fn sqlite() -> Self {
        Self::new(None)
    }

    pub fn postgres() -> Self {
        Self::new(Some(TestPostgres::empty_database()))
    }

    /// Beside a database server of the test's own.
    pub fn at(url: &str) -> Self {
        let mut scratch = Self::new(None);
        scratch.place.database = Some(url.to_owned());
        scratch
    }

    fn new(database: Option<TestDatabase>) -> Self {
        let folder = capsid_testkit::disk::tempdir();
        let url = database.as_ref().map(|database| database.url.clone());
        Self {
            place: TestHubLocation { data: folder.path().join("hub"), database: url },
            folder,
            _database: database,
        }
    }

    /// The same with these settings.
    pub fn with(self, settings: &str) -> Self {
        std::fs::create_dir_all(&self.place.data).unwrap();
        std::fs::write(self.place.data.join("hub.toml"), settings).unwrap();
        self
    }
}
