//! The user's agent: its input, its output and its end.

use capsid_model::Code;
use capsid_sandbox::{AgentEnd, AgentRequest, run_agent};
use capsid_testkit::test_repo::TestRepo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

struct Case {
    repo: TestRepo,
    timeout: Duration,
    prompt: Vec<u8>,
    env: Vec<(String, String)>,
    stop: AtomicBool,
}

impl Case {
    fn new(script: &str) -> Self {
        let repo = TestRepo::new();
        repo.script("fix.sh", &format!("#!/bin/sh\n{script}\n"));
        Self {
            repo,
            timeout: Duration::from_secs(20),
            prompt: b"the prompt".to_vec(),
            env: vec![("CAPSID_TEST".to_owned(), "yes".to_owned())],
            stop: AtomicBool::new(false),
        }
    }

    fn request<'a>(&'a self, argv: &'a [String]) -> AgentRequest<'a> {
        AgentRequest {
            argv,
            cwd: self.repo.path(),
            prompt: &self.prompt,
            env: &self.env,
            timeout: self.timeout,
            stop: &self.stop,
            profile: None,
        }
    }

    fn run(&self, argv: &[&str]) -> (capsid_model::Result<AgentEnd>, String) {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let mut output = Vec::new();
        let end =
            run_agent(&self.request(&argv), &mut |bytes| output.extend_from_slice(bytes)).map(|run| run.end);
        (end, String::from_utf8(output).unwrap())
    }

    /// Lets the script, and all that it starts, hold the writing end of a FIFO.
    fn hold_fifo(&self) -> HeldFifo {
        let path = self.repo.file("held");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let script = self.repo.read("fix.sh").replacen('\n', "\nexec 9>held\n", 1);
        self.repo.script("fix.sh", &script);
        let (sender, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut file = std::fs::File::open(path).unwrap();
            sender.send(std::io::copy(&mut file, &mut std::io::sink()).unwrap())
        });
        HeldFifo { end }
    }
}

/// The reading end of a FIFO. It comes to its end when the last process that holds the other one is gone.
struct HeldFifo {
    end: std::sync::mpsc::Receiver<u64>,
}

impl HeldFifo {
    #[track_caller]
    fn ends(self) {
        assert_eq!(self.end.recv_timeout(Duration::from_secs(60)), Ok(0), "a process is left");
    }
}

#[test]
fn a_script_of_the_repository_reads_the_prompt_and_edits_files() {
    let case = Case::new("cat > got.txt; echo \"$1 $CAPSID_TEST\"; pwd; exit 3");
    let (end, output) = case.run(&["./fix.sh", "word"]);
    assert_eq!(end.unwrap(), AgentEnd::Exited(3));
    let root = case.repo.path().canonicalize().unwrap();
    assert_eq!(output, format!("word yes\n{}\n", root.display()));
    assert_eq!(case.repo.read("got.txt"), "the prompt");
}

#[test]
fn both_outputs_come_in_the_order_they_were_written() {
    let case = Case::new("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three");
    let (end, output) = case.run(&["./fix.sh"]);
    assert_eq!(end.unwrap(), AgentEnd::Exited(0));
    assert_eq!(output, "one\ntwo\nthree\n");
}

#[test]
fn a_prompt_that_is_not_read_and_an_output_that_is_large_block_nothing() {
    let mut case = Case::new("head -c 5000000 /dev/zero | tr '\\0' x");
    case.prompt = vec![b'p'; 5_000_000];
    let (end, output) = case.run(&["./fix.sh"]);
    assert_eq!(end.unwrap(), AgentEnd::Exited(0));
    assert_eq!(output.len(), 5_000_000);
}

#[test]
fn the_whole_group_is_killed_when_the_time_is_over() {
    let mut case = Case::new("echo on; sleep 600 & sleep 600");
    case.timeout = Duration::from_millis(1500);
    let held = case.hold_fifo();
    let (end, output) = case.run(&["./fix.sh"]);
    assert_eq!(end.unwrap(), AgentEnd::TimedOut);
    assert_eq!(output, "on\n");
    held.ends();
}

#[test]
fn the_stop_flag_ends_it() {
    let mut case = Case::new("echo on; sleep 600");
    case.timeout = Duration::from_secs(120);
    let end =
        run_agent(&case.request(&["./fix.sh".to_owned()]), &mut |_| case.stop.store(true, Ordering::Relaxed));
    assert_eq!(end.unwrap().end, AgentEnd::Stopped);
}

#[test]
fn what_an_agent_leaves_running_does_not_edit_afterwards() {
    let case = Case::new("sleep 600 & exit 0");
    let held = case.hold_fifo();
    let (end, _) = case.run(&["./fix.sh"]);
    assert_eq!(end.unwrap(), AgentEnd::Exited(0));
    held.ends();
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_of_its_own_does_not_outlive_the_agent() {
    for script in [
        "setsid sh -c 'touch begun; sleep 600' </dev/null >/dev/null 2>&1 & ",
        "setsid sh -c 'setsid sh -c \"touch begun; sleep 600\" & sleep 600' >/dev/null 2>&1 & ",
    ] {
        let case = Case::new(&format!("{script}\nuntil [ -e begun ]; do sleep 0.02; done"));
        let held = case.hold_fifo();
        let (end, _) = case.run(&["./fix.sh"]);
        assert_eq!(end.unwrap(), AgentEnd::Exited(0), "{script}");
        held.ends();
    }
}

#[test]
fn a_signal_and_an_agent_that_cannot_start_are_told_apart() {
    let case = Case::new("kill -TERM $$");
    assert_eq!(case.run(&["./fix.sh"]).0.unwrap(), AgentEnd::Signalled(15));
    let code = |argv: &[&str]| case.run(argv).0.unwrap_err().code;
    assert_eq!(code(&["./missing.sh"]), Code::ProgramNotFound);
    assert_eq!(code(&["no-such-agent-at-all"]), Code::ProgramNotFound);
    case.repo.write("plain.txt", "no program");
    assert_eq!(code(&["./plain.txt"]), Code::AgentFailed);
    assert_eq!(code(&[]), Code::InputInvalid);
}
