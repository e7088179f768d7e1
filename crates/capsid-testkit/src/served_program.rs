//! A local viewer that the program serves on loopback, and its client.

use crate::program::ProgramOutput;
use capsid_model::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

/// A running command that printed `http://<host>/<page>#key=<key>`. It ends when it is dropped.
pub struct ServedProgram {
    child: Option<Child>,
    pub host: String,
    pub key: String,
}

/// An answer.
#[derive(Debug)]
pub struct ServedResponse {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl ServedResponse {
    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The body as JSON; panics unless the status is good.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.text().parse().unwrap()
    }
}

impl ServedProgram {
    /// Starts a command and waits for the address of the page that it names first.
    pub fn start(mut command: Command, page: &str) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let mark = format!("{page}#key=");
        let Some((host, key)) =
            line.trim().strip_prefix("http://").and_then(|rest| rest.split_once(mark.as_str()))
        else {
            let _ended_already = child.kill();
            panic!("{line}\n{}", ProgramOutput::from_output(child.wait_with_output().unwrap()));
        };
        Self { host: host.to_owned(), key: key.to_owned(), child: Some(child) }
    }

    /// Asks with a host and more lines of the head, each with its end.
    pub fn send(&self, method: &str, path: &str, host: &str, more: &str) -> ServedResponse {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // HTTP/1.0, so that the answer is not cut into chunks.
        write!(stream, "{method} {path} HTTP/1.0\r\nhost: {host}\r\n{more}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
        ServedResponse {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            body: answer[end + 4..].to_vec(),
        }
    }

    /// Asks with a key.
    pub fn get_with(&self, path: &str, key: &str) -> ServedResponse {
        self.send("GET", path, &self.host, &format!("authorization: Bearer {key}\r\n"))
    }

    /// Asks with the right key.
    pub fn get(&self, path: &str) -> ServedResponse {
        self.get_with(path, &self.key)
    }

    /// Asks it to end, as Ctrl-C does; returns its output.
    #[cfg(unix)]
    pub fn stop(mut self) -> ProgramOutput {
        let child = self.child.take().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
            .unwrap();
        ProgramOutput::from_output(child.wait_with_output().unwrap())
    }
}

impl Drop for ServedProgram {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ended_already = child.kill();
            let _reaped = child.wait();
        }
    }
}
