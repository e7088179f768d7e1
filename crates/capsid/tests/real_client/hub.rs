//! The hub under test: the built program, on a data folder that outlives it.

use super::evolver::wait_for;
use super::http;
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::Child;

/// Where the hub listens when nobody says otherwise; in a network of our own the port is free.
pub const ADDRESS: &str = "http://127.0.0.1:4000";

const LISTENING: &str = "listening on http://";

/// A running hub.
pub struct Hub<'a> {
    program: &'a TestProgram,
    folder: &'a Path,
    options: &'a [&'a str],
    child: Child,
}

impl<'a> Hub<'a> {
    /// Starts the hub in a folder, where `hub.log` keeps all it says.
    pub fn start(program: &'a TestProgram, folder: &'a Path, options: &'a [&'a str]) -> Self {
        let log = OpenOptions::new().create(true).append(true).open(folder.join("hub.log")).unwrap();
        let before = starts(folder);
        let mut command = program.command(folder, &[&["hub", "serve"], options].concat());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let mut hub = Self { program, folder, options, child };
        wait_for("the hub to listen", || {
            assert!(hub.child.try_wait().unwrap().is_none(), "the hub ended");
            (starts(folder) > before).then_some(())
        });
        hub
    }

    /// Ends the hub the way a service manager does, and expects a good end.
    pub fn stop(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        let log = self.log();
        assert!(status.success(), "the hub ended with {status}\n{log}");
        assert!(log.contains(" status=200 ") && !log.contains(" status=5"), "{log}");
    }

    /// All that it said since it started.
    fn log(&self) -> String {
        let log = log(self.folder);
        log.rsplit_once(LISTENING).map_or_else(String::new, |(_, since)| since.to_owned())
    }

    /// Whether it answered a call in this way.
    pub fn answered(&self, method: &str, route: &str, status: u16) -> bool {
        self.log().contains(&format!("answered method=\"{method}\" route=\"{route}\" status={status} "))
    }

    /// Whether it answered anything with this status.
    pub fn has_answered(&self, status: u16) -> bool {
        self.log().contains(&format!(" status={status} "))
    }

    /// The requests that it refused because of who sent them.
    pub fn refusals(&self) -> Vec<String> {
        let log = self.log();
        let refused = |line: &&str| {
            [" status=401 ", " status=403 ", " status=409 "].iter().any(|status| line.contains(status))
        };
        log.lines().filter(refused).map(str::to_owned).collect()
    }

    /// Lets everybody have an asset, as the operator, beside the running hub.
    pub fn promote(&self, asset: &str) {
        let args = [&["hub", "admin", "promote", asset], self.options].concat();
        assert_status(
            0,
            &ProgramOutput::from_output(self.program.command(self.folder, &args).output().unwrap()),
        );
    }

    /// What it says at a path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        serde_json::from_str(&http::get(ADDRESS, path)).unwrap()
    }

    /// What it says to somebody who shows a session or a secret.
    #[track_caller]
    pub fn post(&self, path: &str, bearer: Option<&str>, body: &Value) -> Value {
        serde_json::from_str(&http::post(ADDRESS, path, bearer, &body.to_string())).unwrap()
    }

    /// An asset as the hub serves it to somebody whom it never saw, in the very bytes.
    pub fn served(&self, asset: &str) -> String {
        let message = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "fetch", "message_id": "msg_1",
            "sender_id": "node_5ee0000000000001", "timestamp": "2026-01-01T00:00:00Z",
            "payload": {"asset_ids": [asset]},
        });
        let answer = http::post(ADDRESS, "/a2a/fetch", None, &message.to_string());
        let answer: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&answer).unwrap();
        let results: Vec<Box<RawValue>> = serde_json::from_str(answer["results"].get()).unwrap();
        assert_eq!(results.len(), 1, "{asset}");
        results[0].get().to_owned()
    }
}

impl Drop for Hub<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the hub said\n{}", log(self.folder));
        }
    }
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("hub.log")).unwrap()
}

fn starts(folder: &Path) -> usize {
    log(folder).matches(LISTENING).count()
}
