//! The user's agent: its input, its output and its end.

use capsid_model::Code;
use capsid_sandbox::{AgentEnd, AgentRequest, run_agent};
use capsid_testkit::test_repo::TestRepo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

struct Case {
    repo: TestRepo,
    timeout: Duration,
    prompt: Vec<u8>,
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
            stop: AtomicBool::new(false),
        }
    }

    fn run(&self, argv: &[&str]) -> (capsid_model::Result<AgentEnd>, String) {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let env = [("CAPSID_TEST".to_owned(), "yes".to_owned())];
        let request = AgentRequest {
            argv: &argv,
            cwd: self.repo.path(),
            prompt: &self.prompt,
            env: &env,
            timeout: self.timeout,
            stop: &self.stop,
        };
        let mut output = Vec::new();
        let end = run_agent(&request, &mut |bytes| output.extend_from_slice(bytes));
        (end, String::from_utf8(output).unwrap())
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
    let mut case = Case::new("(sleep 1; touch late) & echo on; sleep 60");
    case.timeout = Duration::from_millis(300);
    let started = Instant::now();
    let (end, output) = case.run(&["./fix.sh"]);
    assert_eq!(end.unwrap(), AgentEnd::TimedOut);
    assert_eq!(output, "on\n");
    assert!(started.elapsed() < Duration::from_millis(1300));
    std::thread::sleep(Duration::from_millis(1200));
    assert!(!case.repo.file("late").exists());
}

#[test]
fn the_stop_flag_ends_it() {
    let case = Case::new("sleep 60");
    let started = Instant::now();
    let end = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(150));
            case.stop.store(true, Ordering::Relaxed);
        });
        case.run(&["./fix.sh"]).0
    });
    assert_eq!(end.unwrap(), AgentEnd::Stopped);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn what_an_agent_leaves_running_does_not_edit_afterwards() {
    let case = Case::new("(sleep 0.5; touch late) & exit 0");
    let (end, _) = case.run(&["./fix.sh"]);
    assert_eq!(end.unwrap(), AgentEnd::Exited(0));
    std::thread::sleep(Duration::from_millis(700));
    assert!(!case.repo.file("late").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_of_its_own_does_not_outlive_the_agent() {
    for script in [
        "setsid sh -c 'sleep 0.5; touch late' </dev/null >/dev/null 2>&1 & sleep 0.1; exit 0",
        "setsid sh -c 'setsid sh -c \"sleep 0.5; touch late\" & sleep 9' >/dev/null 2>&1 & sleep 0.1; exit 0",
    ] {
        let case = Case::new(script);
        let (end, _) = case.run(&["./fix.sh"]);
        assert_eq!(end.unwrap(), AgentEnd::Exited(0));
        std::thread::sleep(Duration::from_millis(700));
        assert!(!case.repo.file("late").exists(), "{script}");
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
