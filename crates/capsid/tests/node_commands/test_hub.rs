//! The hub, the nodes and the accounts of these stories.

use crate::common::bundle::Bundle;
use crate::common::program;
use capsid_model::{Clock, SystemClock, Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask_as};
use capsid_testkit::program::{ProgramOutput, TestProgram};
use std::path::Path;

/// A hub with its data in a folder of its own.
pub struct Hub {
    pub process: HubProcess,
    pub place: TestHubLocation,
    operator: TestProgram,
    _folder: tempfile::TempDir,
}

impl Hub {
    /// A hub that promotes nothing by itself and calls webhooks on this machine.
    pub fn start() -> Self {
        let (operator, folder) = (program(), tempfile::tempdir().unwrap());
        let place = TestHubLocation { data: folder.path().join("hub"), database: None };
        std::fs::create_dir_all(&place.data).unwrap();
        let settings = "[webhooks]\nallow_local = true\n[promotion]\ninterval_seconds = 0\n";
        std::fs::write(place.data.join("hub.toml"), settings).unwrap();
        let process = HubProcess::start(&operator, &place);
        Self { process, place, operator, _folder: folder }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.process.address)
    }

    #[track_caller]
    pub fn send(&self, bearer: &str, method: &str, path: &str, body: &Value) -> Value {
        let text = body.to_string();
        let (status, body) =
            ask_as(&self.process.address, bearer, method, path, Some(&text)).expect("an answer");
        assert!(status < 300, "{path}: {status} {body}");
        body.parse().unwrap()
    }

    /// An account, by its token.
    pub fn account(&self, name: &str) -> String {
        let body = json!({"email": format!("{name}@example.org"), "password": "a long password"});
        self.send("", "POST", "/auth/register", &body)["token"].as_str().unwrap().to_owned()
    }

    /// What an operator does.
    #[track_caller]
    pub fn admin(&self, words: &[&str]) {
        let ran = self.place.run(&self.operator, &[&["admin"], words].concat());
        assert_eq!(ran.status, 0, "{ran}");
    }
}

/// A node: the program with a home of its own, at a hub.
pub struct Node {
    pub program: TestProgram,
    pub folder: tempfile::TempDir,
    pub url: String,
    /// Everything it ever printed, to look for secrets in.
    printed: std::cell::RefCell<String>,
}

impl Node {
    pub fn at(hub: &Hub) -> Self {
        Self {
            program: program(),
            folder: tempfile::tempdir().unwrap(),
            url: hub.url(),
            printed: Default::default(),
        }
    }

    /// Runs `capsid node ...` with variables.
    pub fn run_with(&self, words: &[&str], env: &[(&str, &str)]) -> ProgramOutput {
        let words = [&["node"], words].concat();
        let mut command = self.program.command(self.folder.path(), &words);
        command.env("A2A_HUB_URL", &self.url).envs(env.iter().copied());
        let ran = ProgramOutput::from_output(command.output().unwrap());
        *self.printed.borrow_mut() += &ran.to_string();
        ran
    }

    /// Runs `capsid node ...`, which must succeed, and gives what a person sees on stdout.
    #[track_caller]
    pub fn says(&self, words: &[&str]) -> ProgramOutput {
        self.ends(0, words, &[])
    }

    /// The same with variables and any status.
    #[track_caller]
    pub fn ends(&self, status: i32, words: &[&str], env: &[(&str, &str)]) -> ProgramOutput {
        let ran = self.run_with(words, env);
        assert_eq!(ran.status, status, "{words:?}\n{ran}");
        ran
    }

    /// What a script reads.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        self.json_as("", words)
    }

    /// The same in the name of an account.
    #[track_caller]
    pub fn json_as(&self, token: &str, words: &[&str]) -> Value {
        let words = [words, &["--json"]].concat();
        self.ends(0, &words, &[("CAPSID_TOKEN", token)]).json()
    }

    pub fn id(&self) -> String {
        self.identity_file("node_id")
    }

    /// A file of its identity.
    pub fn identity_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.program.home().join(".evomap").join(name)).unwrap().trim().to_owned()
    }

    /// Publishes a bundle by a plain request, and gives the id of its capsule.
    #[track_caller]
    pub fn publish(&self, hub: &Hub, bundle: &Bundle) -> String {
        let message = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "publish",
            "message_id": format!("msg_{}_{:08x}", SystemClock.now().0, fastrand::u32(..)),
            "sender_id": self.id(), "timestamp": SystemClock.now().iso(), "payload": bundle.payload(),
        });
        hub.send(&self.identity_file("node_secret"), "POST", "/a2a/publish", &message);
        bundle.capsule_id().to_owned()
    }

    /// Panics if a secret was ever printed.
    #[track_caller]
    pub fn kept_its_secrets(&self) {
        let printed = self.printed.borrow();
        let folder = self.program.home().join(".evomap");
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if name.contains("secret") {
                assert!(!printed.contains(&self.identity_file(&name)), "{name} was printed");
                assert_eq!(mode(&entry.path()), 0o600, "{name}");
            }
        }
    }
}

pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
