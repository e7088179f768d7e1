//! Where the parts of the service are on a machine.

use crate::trust_root::{SOCKET, STATE_FOLDER, TRUST_FOLDER};
use std::path::{Path, PathBuf};

/// The program that root owns.
pub const PROGRAM: &str = "/usr/local/lib/capsid/capsid";
/// The folder of the units that an administrator adds.
const UNITS_FOLDER: &str = "/etc/systemd/system";

/// The paths of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignerLayout {
    /// Whose home is signed, by which keys.
    pub trust: PathBuf,
    pub socket: PathBuf,
    /// Keys, journals and heads.
    pub state: PathBuf,
    pub program: PathBuf,
    /// The units of systemd.
    pub units: PathBuf,
    /// The folder of a test, in which all of it is.
    pub test_folder: Option<PathBuf>,
}

impl SignerLayout {
    /// The machine's own.
    pub fn system() -> Self {
        Self {
            trust: TRUST_FOLDER.into(),
            socket: SOCKET.into(),
            state: STATE_FOLDER.into(),
            program: PROGRAM.into(),
            units: UNITS_FOLDER.into(),
            test_folder: None,
        }
    }

    /// All of it in one folder, for tests. Nothing in it is trusted unless it was named on the command line.
    pub fn at(folder: &Path) -> Self {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Self {
            trust: folder.join("signer.d"),
            socket: folder.join("sock"),
            state: folder.join("state"),
            program: folder.join("lib/capsid"),
            units: folder.join("systemd"),
            test_folder: Some(folder),
        }
    }

    /// The words after the program's name that run the service.
    pub fn serve_words(&self) -> String {
        let test = self.test_folder.as_ref();
        let test = test.map_or_else(String::new, |folder| format!(" --signer-dir {}", folder.display()));
        format!("trail{test} signer serve")
    }
}
