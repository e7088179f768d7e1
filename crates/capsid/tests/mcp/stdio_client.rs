//! One client that speaks in lines, and looks at every line that comes back.

use capsid_model::{Value, json};
use capsid_testkit::program::TestProgram;
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::wait;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A desk for the built program.
pub fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

/// A server on stdio and a client of it.
pub struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Talk {
    /// Starts a server in a folder, with variables and options of its own.
    pub fn start(program: &TestProgram, folder: &Path, env: &[(&str, &str)], options: &[&str]) -> Self {
        let mut command = program.command(folder, &[&["mcp"], options].concat());
        command.stdin(Stdio::piped()).envs(env.iter().copied());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (told, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).for_each(|line| told.send(line).unwrap_or(()));
        });
        Self { stdin: child.stdin.take(), child, lines, next: 0 }
    }

    /// The same, and has greeted it.
    pub fn begin(program: &TestProgram, folder: &Path, env: &[(&str, &str)], options: &[&str]) -> Self {
        let mut talk = Self::start(program, folder, env, options);
        let info = talk.ask("initialize", hello("2025-06-18"));
        assert_eq!(info["result"]["serverInfo"]["name"], "capsid");
        talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        talk
    }

    /// Writes a line.
    pub fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line, which is JSON-RPC whatever else happens.
    #[track_caller]
    pub fn hear(&mut self) -> Value {
        message(&self.lines.recv_timeout(PATIENCE).expect("an answer"))
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let heard = self.hear();
            if heard["id"] == id {
                return heard;
            }
        }
    }

    /// Sends a request; gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Calls a tool that has to do well; gives what it told.
    #[track_caller]
    pub fn well(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], false, "{name}: {answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Calls a tool that has to fail; gives the code.
    #[track_caller]
    pub fn fails(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
        let told = &answer["result"]["structuredContent"];
        assert!(told["message"].is_string(), "{answer}");
        told["code"].as_str().unwrap().to_owned()
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes stdin and waits; gives the exit status, the lines that were left, and what went to stderr.
    pub fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        drop(self.stdin.take());
        let status = wait(&mut self.child);
        let mut told = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (status, self.lines.iter().map(|line| message(&line)).collect(), told)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Waits for a process that has to end by itself.
#[track_caller]
pub fn wait(child: &mut Child) -> Option<i32> {
    wait::until_some("the process ends", PATIENCE, || child.try_wait().unwrap()).code()
}

/// The parameters of a greeting.
pub fn hello(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "lines", "version": "1"}})
}

/// A line of stdout: always a JSON-RPC message.
#[track_caller]
fn message(line: &str) -> Value {
    let value: Value = line.parse().unwrap_or_else(|error| panic!("{error} in {line}"));
    assert_eq!(value["jsonrpc"], "2.0", "{line}");
    assert!(["result", "error", "method"].iter().any(|name| value.get(name).is_some()), "{line}");
    value
}
