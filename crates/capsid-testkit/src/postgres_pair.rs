//! A PostgreSQL primary and its synchronous standby, for trials of failover.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Two servers. They end with this value, or with this process.
#[derive(Debug)]
pub struct PostgresPair {
    /// Names both, and asks for the one that takes writes.
    pub url: String,
    keeper: Child,
    /// Closed to end the servers.
    words: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl PostgresPair {
    /// Makes and starts both. Commits on the primary wait for the standby from then on.
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres-pair");
        let mut keeper = Command::new(script)
            // If the tests are killed as a group, it still cleans up.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("scripts/postgres-pair starts");
        let words = keeper.stdin.take();
        let mut answers = BufReader::new(keeper.stdout.take().unwrap());
        let mut url = String::new();
        answers.read_line(&mut url).unwrap();
        assert!(url.starts_with("postgres://"), "no pair of servers: {url}");
        Self { url: url.trim().to_owned(), keeper, words, answers }
    }

    /// SIGKILL to the primary and all its processes.
    pub fn kill_primary(&mut self) {
        self.command("kill");
    }

    /// The standby becomes the primary.
    pub fn promote_standby(&mut self) {
        self.command("promote");
    }

    /// The server that was killed becomes the standby, from an empty folder.
    pub fn rejoin(&mut self) {
        self.command("rejoin");
    }

    /// The standby stops in its tracks.
    pub fn cut_standby_off(&mut self) {
        self.command("cut");
    }

    /// The standby goes on.
    pub fn mend_standby(&mut self) {
        self.command("mend");
    }

    fn command(&mut self, word: &str) {
        writeln!(self.words.as_mut().unwrap(), "{word}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), "done", "{word}");
    }
}

impl Drop for PostgresPair {
    fn drop(&mut self) {
        self.words = None;
        let _ended = self.keeper.wait();
    }
}
