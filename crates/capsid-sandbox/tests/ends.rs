//! Whatever is killed, nothing of a confined program is left.

use capsid_sandbox::{Confinement, Isolation, ProcessEnd, ProcessLimits, run_validation_at};
use capsid_testkit::test_repo::TestRepo;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LEVEL: &str = "CAPSID_TEST_LEVEL";
const FOLDER: &str = "CAPSID_TEST_FOLDER";

/// Every process of the program holds the other end of `held`; one of each kind of daemon is among them.
const SCRIPT: &str = "exec 9>held; setsid sh -c 'setsid sleep 600 & trap \"\" HUP TERM; sleep 600' & nohup sleep 600 & \
                      sleep 0.1; echo on >&9; sleep 600";

fn level(name: &str) -> Isolation {
    [Isolation::Namespaces, Isolation::Landlock, Isolation::None]
        .into_iter()
        .find(|level| level.as_str() == name)
        .unwrap()
}

/// Not a test by itself: the process that is killed.
#[test]
fn helper_that_runs_a_command() {
    let (Ok(name), Ok(folder)) = (std::env::var(LEVEL), std::env::var(FOLDER)) else {
        return;
    };
    let argv = ["sh", "-c", SCRIPT].map(str::to_owned);
    let finished =
        run_validation_at(level(&name), &argv, &Confinement::to(folder), &ProcessLimits::default()).unwrap();
    println!("ended {:?}", finished.end);
}

struct Helper {
    child: Child,
    repo: TestRepo,
    held: BufReader<std::fs::File>,
}

impl Helper {
    /// Starts the helper and waits until its program runs.
    fn start(level: Isolation) -> Self {
        let repo = TestRepo::new();
        let fifo = repo.file("held");
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ends::helper_that_runs_a_command", "--nocapture"])
            .env(LEVEL, level.as_str())
            .env(FOLDER, repo.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut held = BufReader::new(std::fs::File::open(fifo).unwrap());
        let mut line = String::new();
        held.read_line(&mut line).unwrap();
        assert_eq!(line, "on\n");
        Self { child, repo, held }
    }

    fn launcher(&self) -> Pid {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().flatten();
        let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let children: Vec<String> = children
            .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let launcher = children.iter().find(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.starts_with(b"capsid-sandbox\0"))
        });
        Pid::from_raw(launcher.unwrap().parse().unwrap()).unwrap()
    }

    /// The pipe ends with the last process that holds it.
    #[track_caller]
    fn assert_all_gone(mut self) {
        let (sender, end) = std::sync::mpsc::channel();
        let mut held = self.held;
        std::thread::spawn(move || sender.send(held.read_to_end(&mut Vec::new()).is_ok()));
        let ended = end.recv_timeout(Duration::from_secs(60));
        let _ = self.child.kill();
        self.child.wait().unwrap();
        assert_eq!(ended, Ok(true), "a process is left in {}", self.repo.path().display());
    }
}

#[test]
fn nothing_is_left_when_the_engine_is_killed() {
    for level in [Isolation::Namespaces, Isolation::Landlock, Isolation::None] {
        let mut helper = Helper::start(level);
        helper.child.kill().unwrap();
        helper.assert_all_gone();
    }
}

#[test]
fn nothing_is_left_when_the_launcher_is_killed_or_asked_to_end() {
    for signal in [Signal::KILL, Signal::TERM] {
        let helper = Helper::start(Isolation::Namespaces);
        kill_process(helper.launcher(), signal).unwrap();
        helper.assert_all_gone();
    }
}

#[test]
fn a_command_that_stops_itself_ends_with_its_time() {
    for level in [Isolation::Namespaces, Isolation::Landlock, Isolation::None] {
        let repo = TestRepo::new();
        let argv = ["sh", "-c", "kill -STOP $$"].map(str::to_owned);
        let limits = ProcessLimits { timeout: Duration::from_millis(300), ..ProcessLimits::default() };
        let finished = run_validation_at(level, &argv, &Confinement::to(repo.path()), &limits).unwrap();
        assert_eq!(finished.end, ProcessEnd::TimedOut, "{level:?}");
        assert_eq!(finished.limits_hit, [capsid_sandbox::LimitHit::Time]);
    }
}

#[test]
fn a_command_that_writes_too_much_or_starts_too_many_processes_is_limited() {
    let repo = TestRepo::new();
    let limits = ProcessLimits { disk_bytes: 4 << 20, processes: 30, ..ProcessLimits::default() };
    let run = |script: &str| {
        let argv = ["sh", "-c", script].map(str::to_owned);
        let confinement = Confinement::to(repo.path());
        run_validation_at(Isolation::Namespaces, &argv, &confinement, &limits).unwrap()
    };
    let finished = run("i=0; while :; do head -c 500000 /dev/zero > f$i; i=$((i+1)); sleep 0.01; done");
    assert_eq!(finished.limits_hit, [capsid_sandbox::LimitHit::Disk], "{finished:?}");
    assert_eq!(finished.end, ProcessEnd::Signalled(9));
    let finished = run("for i in $(seq 100); do sleep 60 & done; echo all");
    assert_ne!(finished.stdout, "all\n", "{finished:?}");
    assert!(finished.stderr.contains("fork"), "{finished:?}");
}

#[test]
fn inherited_descriptors_are_closed() {
    let repo = TestRepo::new();
    repo.write("secret", "SECRET");
    let secret = std::fs::File::open(repo.file("secret")).unwrap();
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let scratch = TestRepo::new();
    let script = "ls -l /proc/self/fd | grep -c secret; ls /proc/1/fd /proc/1/cwd 2>/dev/null | wc -l";
    let argv = ["sh", "-c", script].map(str::to_owned);
    let run = |level| {
        let confinement = Confinement::to(scratch.path());
        run_validation_at(level, &argv, &confinement, &ProcessLimits::default()).unwrap()
    };
    assert_eq!(run(Isolation::Namespaces).stdout, "0\n0\n");
    let control = Command::new("sh").args(["-c", script]).output().unwrap();
    assert!(String::from_utf8_lossy(&control.stdout).starts_with("1\n"), "{control:?}");
    drop(secret);
}
