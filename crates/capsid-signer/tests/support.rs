//! A service in this process, for this user.

use capsid_model::{SystemClock, Time};
use capsid_seal::hash::sha3_hex;
use capsid_signer::client::SignerClient;
use capsid_signer::service::SignerService;
use capsid_signer::state_files::{create_user, user_folder};
use capsid_signer::trust_root::SignerTrust;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub struct Scene {
    pub folder: tempfile::TempDir,
    pub trust: SignerTrust,
}

/// The user who runs the tests.
pub fn this_user() -> u32 {
    std::fs::metadata("/proc/self").unwrap().uid()
}

impl Scene {
    /// A state folder with this user in it.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (state, user) = (folder.path().join("state"), this_user());
        let epochs = create_user(&state, user, None, &[1; 32], Time(0)).unwrap();
        let trust = SignerTrust {
            version: 1,
            user,
            home: folder.path().join("home"),
            socket: folder.path().join("sock"),
            heads: user_folder(&state, user).join("heads"),
            is_active: true,
            epochs,
        };
        Self { folder, trust }
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn user_folder(&self) -> PathBuf {
        user_folder(&self.state(), self.trust.user)
    }

    /// Starts the service; it ends with the test.
    pub fn serve(&self) {
        serve_at(&self.state(), &self.trust.socket);
    }

    pub fn client(&self) -> SignerClient {
        SignerClient::connect(&self.trust.socket).unwrap()
    }
}

pub fn serve_at(state: &Path, socket: &Path) {
    let service = SignerService::new(state, Box::new(SystemClock));
    let listener = SignerService::listen(socket).unwrap();
    std::thread::spawn(move || service.run(&listener));
}

/// Records of one history of a session; the flavour makes another history.
pub fn history(session: &str, flavour: &str, count: usize) -> Vec<String> {
    let mut previous = "null".to_owned();
    let texts = (0..count).map(|sequence| {
        let text = format!(
            r#"{{"context":{{"session_id":"{session}"}},"domain":"codex","id":"{flavour}{sequence}","previous_hash":{previous},"sequence":{sequence}}}"#
        );
        previous = format!("\"{}\"", sha3_hex(text.as_bytes()));
        text
    });
    texts.collect()
}

pub fn slices(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
