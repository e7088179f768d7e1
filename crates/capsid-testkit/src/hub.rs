//! A hub that runs as a separate process, and a client that knows whether the complete answer arrived.

use crate::program::{ProgramOutput, TestProgram};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Where a hub stores its data: a folder, and a database server if it is not SQLite.
#[derive(Debug, Clone)]
pub struct TestHubLocation {
    pub data: PathBuf,
    /// `postgres://…`
    pub database: Option<String>,
}

impl TestHubLocation {
    /// The arguments of every `capsid hub` command.
    pub fn arguments(&self) -> Vec<&str> {
        let mut arguments = vec!["--data", self.data.to_str().unwrap()];
        if let Some(url) = &self.database {
            arguments.extend(["--database", url]);
        }
        arguments
    }

    /// Runs a command such as `fsck` on it, with or without a running hub.
    pub fn run(&self, program: &TestProgram, command: &[&str]) -> ProgramOutput {
        let words = [&["hub"], command, &self.arguments()].concat();
        ProgramOutput::from_output(program.command(Path::new("/"), &words).output().unwrap())
    }
}

/// A hub that runs. It is killed when this value goes.
#[derive(Debug)]
pub struct HubProcess {
    child: Child,
    /// The host and port where it listens.
    pub address: String,
}

impl HubProcess {
    /// Starts one on a free port and waits until it listens; otherwise returns its output.
    pub fn try_start(program: &TestProgram, location: &TestHubLocation) -> Result<Self, String> {
        std::fs::create_dir_all(&location.data).unwrap();
        let log = location.data.join("trial.log");
        let words = [&["hub", "serve", "--listen", "127.0.0.1:0"], &location.arguments()[..]].concat();
        let mut command = program.command(Path::new("/"), &words);
        // Into a file: nobody reads a pipe while the trial runs, and a full one would stop the hub.
        command.env("CAPSID_LOG", "warn").stderr(Stdio::from(File::create(&log).unwrap()));
        // A hub that is killed does not give back the part of a limit that it took, and trials kill one after the other.
        command.env("CAPSID_HUB_LIMITS_HELLO", "1000000/hour");
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        match line.trim().strip_prefix("listening on http://") {
            Some(address) => Ok(Self { address: address.to_owned(), child }),
            None => {
                let status = child.wait().unwrap();
                Err(format!("{status}\n{}", std::fs::read_to_string(log).unwrap_or_default()))
            }
        }
    }

    /// Starts one, or panics.
    #[track_caller]
    pub fn start(program: &TestProgram, location: &TestHubLocation) -> Self {
        Self::try_start(program, location).unwrap_or_else(|output| panic!("the hub did not start: {output}"))
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and gives its exit status.
    pub fn stop(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Sends a request; returns status and body if the complete answer arrived.
pub fn ask(address: &str, method: &str, path: &str, body: Option<&str>) -> Option<(u16, String)> {
    ask_as(address, "", method, path, body)
}

/// The same with a bearer token, unless that is empty.
pub fn ask_as(
    address: &str,
    bearer: &str,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> Option<(u16, String)> {
    let bearer =
        if bearer.is_empty() { String::new() } else { format!("authorization: Bearer {bearer}\r\n") };
    ask_with(address, &bearer, method, path, body)
}

/// The same with header lines, each with its end.
pub fn ask_with(
    address: &str,
    headers: &str,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let text = body.unwrap_or_default();
    // HTTP/1.0, so that the answer comes in one piece with its length before it.
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\n{headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    stream.write_all(format!("{head}{text}").as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    (length == Some(body.len())).then_some(())?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}
