//! `capsid up --demo`: a hub that a story fills, and that takes everything along when it ends.

use crate::common::program;
use capsid_model::{Value, json};
use capsid_testkit::hub::{ask, ask_as};
use capsid_testkit::program::TestProgram;
use capsid_testkit::wait;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const MAX_LEN: Duration = Duration::from_secs(180);

/// A demo hub that runs.
struct Filled {
    _program: TestProgram,
    folder: tempfile::TempDir,
    child: Child,
    said: Receiver<String>,
    address: String,
}

impl Filled {
    fn start() -> Self {
        let program = program();
        let folder = tempfile::tempdir().unwrap();
        let words = ["up", "--demo", "--listen", "127.0.0.1:0"];
        // Its scratch folder lies in ours, so that we know what belongs to it.
        let mut child = program.command(folder.path(), &words).env("TMPDIR", folder.path()).spawn().unwrap();
        let talk = BufReader::new(child.stderr.take().unwrap());
        let (sender, said) = channel();
        std::thread::spawn(move || talk.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut filled = Self { _program: program, folder, child, said, address: String::new() };
        let line = filled.hear("http://");
        filled.address = line.split("http://").nth(1).unwrap().trim().to_owned();
        filled
    }

    /// The next line that contains a text.
    #[track_caller]
    fn hear(&self, text: &str) -> String {
        let start = Instant::now();
        let mut all = String::new();
        while let Some(left) = MAX_LEN.checked_sub(start.elapsed()) {
            let Ok(line) = self.said.recv_timeout(left) else { break };
            if line.contains(text) {
                return line;
            }
            all += &format!("{line}\n");
        }
        panic!("`{text}` was not said:\n{all}");
    }

    fn stats(&self) -> Value {
        let (_, body) = ask(&self.address, "GET", "/a2a/stats", None).unwrap_or_default();
        serde_json::from_str(&body).unwrap_or_default()
    }

    /// Ctrl-C.
    fn stop(mut self) -> (ExitStatus, Vec<String>) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        (status, left_in(self.folder.path()))
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The processes that still work in a folder.
fn left_in(folder: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let works_there = |process: &std::fs::DirEntry| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    processes
        .filter(works_there)
        .map(|process| std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default())
        .collect()
}

#[test]
fn a_demo_hub_is_filled_by_its_story() {
    let hub = Filled::start();
    hub.hear("It is told");
    let login = hub.hear("An admin logs in");
    let password = login.rsplit(' ').next().unwrap();
    let stats = hub.stats();
    assert!(stats["total_nodes"].as_u64() >= Some(4), "{stats}");
    assert!(stats["promoted_assets"].as_u64() >= Some(2), "{stats}");

    let body = json!({ "email": "admin@example.org", "password": password }).to_string();
    let (status, answer) = ask(&hub.address, "POST", "/auth/login", Some(&body)).unwrap();
    assert_eq!(status, 200, "{answer}");
    let session: Value = answer.parse().unwrap();
    let token = session["token"].as_str().unwrap();
    let (_, users) = ask_as(&hub.address, token, "GET", "/admin/users", None).unwrap();
    for person in ["ann@example.org", "ben@example.org", "admin@example.org"] {
        assert!(users.contains(person), "{users}");
    }
    let (status, left) = hub.stop();
    assert_eq!((status.code(), left), (Some(0), Vec::new()));
}

#[test]
fn a_story_that_is_broken_off_leaves_nobody_behind() {
    let hub = Filled::start();
    wait::until("a node is registered", MAX_LEN, || hub.stats()["total_nodes"].as_u64() >= Some(1));
    let (status, left) = hub.stop();
    assert_eq!((status.code(), left), (Some(0), Vec::new()));
}
