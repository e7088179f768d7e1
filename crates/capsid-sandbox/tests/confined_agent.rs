//! The user's agent in a private view: what it sees, what stays, and what is dropped.

use capsid_sandbox::{
    AgentEnd, AgentProfile, AgentRequest, AgentRun, ConfinedTree, Isolation, LimitHit, PrivateTree,
    WriteLayer, run_agent,
};
use capsid_testkit::test_repo::TestRepo;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A user with a home, a data folder with secrets, and a repository.
struct AgentCase {
    repo: TestRepo,
    folder: tempfile::TempDir,
    profile: AgentProfile,
    env: Vec<(String, String)>,
    timeout: Duration,
    stop: AtomicBool,
}

impl AgentCase {
    fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("src/a.txt", "a\n");
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let home = base.join("home");
        for name in ["home/.ssh", "home/.claude/projects", "home/.config/gh", "data/cycles", "layers"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::fs::write(home.join(".bashrc"), "mine\n").unwrap();
        std::fs::write(home.join("notes"), "").unwrap();
        std::fs::write(home.join(".ssh/id"), "SECRET\n").unwrap();
        std::fs::write(home.join(".netrc"), "SECRET\n").unwrap();
        std::fs::write(base.join("data/key"), "SECRET\n").unwrap();
        std::fs::write(home.join(".claude/.credentials.json"), "{\"token\":1}").unwrap();
        let profile = AgentProfile {
            tree: ConfinedTree::Private(PrivateTree {
                root: repo.path().to_owned(),
                layers: Vec::new(),
                writes: WriteLayer::Folder(base.join("data/cycles/run")),
                git_dir: None,
            }),
            layers: base.join("data/layers"),
            kept_writes: vec![home.join(".claude/projects"), home.join("absent")],
            copied_back: vec![home.join(".claude/.credentials.json")],
            home,
            hidden: vec![base.join("data"), base.join("missing")],
            show: Vec::new(),
            sockets: Vec::new(),
            network: true,
            disk_bytes: 1 << 30,
            processes: 512,
        };
        let timeout = Duration::from_secs(60);
        Self { repo, folder, profile, env: Vec::new(), timeout, stop: AtomicBool::new(false) }
    }

    fn base(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn home(&self) -> &Path {
        &self.profile.home
    }

    fn upper(&self) -> PathBuf {
        self.base().join("data/cycles/run/upper")
    }

    /// Runs a shell script as the agent; `$H` is the home and `$D` the data folder.
    fn run(&self, script: &str) -> (AgentRun, String) {
        self.run_with(Some(&self.profile), script)
    }

    fn run_with(&self, profile: Option<&AgentProfile>, script: &str) -> (AgentRun, String) {
        let mut env = self.env.clone();
        env.push(("H".to_owned(), self.home().display().to_string()));
        env.push(("HOME".to_owned(), self.home().display().to_string()));
        env.push(("D".to_owned(), self.base().join("data").display().to_string()));
        let request = AgentRequest {
            argv: &["sh", "-c", script].map(str::to_owned),
            cwd: self.repo.path(),
            prompt: b"the prompt",
            env: &env,
            timeout: self.timeout,
            stop: &self.stop,
            profile,
        };
        let mut output = Vec::new();
        let run = run_agent(&request, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
        (run, String::from_utf8_lossy(&output).into_owned())
    }
}

#[test]
fn the_agent_works_in_a_view_at_the_usual_path() {
    let case = AgentCase::new();
    let before = case.repo.fingerprint();
    let (run, output) = case.run("cat; pwd; cat src/a.txt; echo new > src/a.txt; git status --short; exit 3");
    assert_eq!(run.end, AgentEnd::Exited(3), "{output}");
    assert_eq!(run.isolation, Isolation::Namespaces);
    let expected = format!("the prompt{}\na\n", case.repo.path().display());
    assert!(output.starts_with(&expected), "{output}");
    assert_eq!(case.repo.fingerprint(), before);
    assert_eq!(std::fs::read_to_string(case.upper().join("src/a.txt")).unwrap(), "new\n");
    println!("agent: {:?} as {}", run.build_time, run.ids.as_str());
}

#[test]
fn a_write_layer_in_memory_outlives_the_sandbox() {
    use std::os::fd::AsRawFd;
    let mut case = AgentCase::new();
    let ConfinedTree::Private(tree) = &mut case.profile.tree else { unreachable!() };
    tree.writes = WriteLayer::Memory { bytes: 8 << 20, inodes: 1000 };
    let (run, output) = case.run("echo new > src/a.txt; rm -f nothing; mkdir -p x/y; echo z > x/y/z");
    assert_eq!(run.end, AgentEnd::Exited(0), "{output}");
    let upper = run.memory_upper.unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", upper.as_raw_fd()));
    assert_eq!(std::fs::read_to_string(path.join("src/a.txt")).unwrap(), "new\n");
    let meta = std::fs::metadata(path.join("x/y/z")).unwrap();
    assert_eq!(meta.uid(), rustix::process::geteuid().as_raw());
    assert_eq!(case.repo.read("src/a.txt"), "a\n");
}

#[test]
fn secrets_are_hidden_from_the_agent_and_not_from_an_unconfined_one() {
    let case = AgentCase::new();
    let script = "cat $H/.ssh/id $H/.netrc $D/key 2>/dev/null; ls $D $H/.ssh; cat $H/.bashrc";
    let (_, output) = case.run(script);
    assert!(!output.contains("SECRET"), "{output}");
    assert!(output.contains("mine"), "{output}");
    let (_, control) = case.run_with(None, script);
    assert_eq!(control.matches("SECRET").count(), 3, "{control}");
}

#[test]
fn what_is_written_outside_of_the_repository_is_dropped_and_listed() {
    let case = AgentCase::new();
    let canary = tempfile::tempdir().unwrap();
    let there = canary.path().display();
    let script = format!(
        "echo evil >> $H/.bashrc; mkdir $H/bin; echo x > $H/bin/git; rm $H/notes; echo t > /tmp/capsid-canary; \
         echo c > {there}/canary; echo k > $H/.ssh/authorized_keys; echo d > $D/planted; cat $H/.bashrc; touch /etc/capsid-canary"
    );
    let (run, output) = case.run(&script);
    assert!(output.contains("evil"), "the agent sees its own writes: {output}");
    let home = case.home();
    assert_eq!(std::fs::read_to_string(home.join(".bashrc")).unwrap(), "mine\n");
    assert!(home.join("notes").exists() && !home.join("bin").exists());
    assert!(!Path::new("/tmp/capsid-canary").exists() && !Path::new("/etc/capsid-canary").exists());
    assert!(!canary.path().join("canary").exists() && !case.base().join("data/planted").exists());
    assert!(!home.join(".ssh/authorized_keys").exists());
    let listed = [home.join(".bashrc"), home.join("bin/git"), home.join("notes")];
    assert_eq!(run.outside_writes, listed);
    assert_eq!(run.outside_count, 3);
    assert!(!case.base().join("data/layers/home").exists(), "the layers are removed");
    let (_, control) = case.run_with(None, &format!("echo c > {there}/canary; echo evil >> $H/.bashrc"));
    assert!(canary.path().join("canary").exists(), "{control}");
}

#[test]
fn transcripts_stay_and_a_changed_login_is_copied_back() {
    let case = AgentCase::new();
    let script = "echo line > $H/.claude/projects/t.jsonl; mkdir $H/.claude/projects/p; \
                  echo '{\"token\":2}' > $H/.claude/new && mv $H/.claude/new $H/.claude/.credentials.json";
    let (run, output) = case.run(script);
    assert_eq!(run.end, AgentEnd::Exited(0), "{output}");
    let claude = case.home().join(".claude");
    assert_eq!(std::fs::read_to_string(claude.join("projects/t.jsonl")).unwrap(), "line\n");
    let own = rustix::process::geteuid().as_raw();
    assert_eq!(std::fs::metadata(claude.join("projects/p")).unwrap().uid(), own);
    let login = claude.join(".credentials.json");
    assert_eq!(std::fs::read_to_string(&login).unwrap(), "{\"token\":2}\n");
    assert_eq!(std::fs::metadata(&login).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(run.outside_count, 0, "{:?}", run.outside_writes);
}

#[test]
fn a_login_that_is_none_is_not_copied_back() {
    for attack in [
        "echo not json > $F",
        "rm $F; ln -s $H/.bashrc $F",
        "rm $F; mkfifo $F",
        "head -c 70000 /dev/zero | tr '\\0' ' ' > $F; echo '{}' >> $F",
        "echo '[1]' > $F",
        "rm -r $H/.claude; mkdir $H/c; echo '{\"token\":3}' > $H/c/.credentials.json; ln -s c $H/.claude",
    ] {
        let case = AgentCase::new();
        let (_, output) = case.run(&format!("F=$H/.claude/.credentials.json; {attack}"));
        let login = std::fs::read_to_string(case.home().join(".claude/.credentials.json")).unwrap();
        assert_eq!(login, "{\"token\":1}", "{attack}: {output}");
    }
}

#[test]
fn what_is_shown_inside_of_something_hidden_is_there_and_read_only() {
    let mut case = AgentCase::new();
    let prompt = case.base().join("data/prompt.md");
    std::fs::write(&prompt, "shown\n").unwrap();
    let note = case.base().join("data/note");
    std::fs::write(&note, "").unwrap();
    case.profile.show = vec![prompt.clone(), case.home().join(".ssh")];
    case.profile.kept_writes.push(note.clone());
    let (_, output) =
        case.run("exec 2>/dev/null; cat $D/prompt.md; ls $D; echo x > $D/prompt.md; echo kept > $D/note; cat $H/.ssh/id");
    assert!(output.starts_with("shown\nnote\nprompt.md\n"), "{output}");
    assert!(output.ends_with("SECRET\n"), "{output}");
    assert_eq!(std::fs::read_to_string(&prompt).unwrap(), "shown\n");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "kept\n");
}

#[test]
fn the_agent_has_the_users_variables_without_sockets_and_secrets() {
    let case = AgentCase::new();
    let (_, output) = case.run("env; cat /proc/1/environ | tr '\\0' '\\n'; tr '\\0' '\\n' < /proc/1/cmdline");
    assert!(output.contains("CAPSID_SANDBOX=1"), "{output}");
    assert!(output.contains("PATH="));
    assert!(!output.lines().any(|line| line.contains("_SOCK=") || line.starts_with("GIT_")), "{output}");
}

#[test]
fn other_processes_and_their_descriptors_are_not_there() {
    let case = AgentCase::new();
    let secret = case.base().join("data/key");
    let held = std::fs::File::open(&secret).unwrap();
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
    let script = format!(
        "ls /proc | grep -c '^[0-9]'; kill -0 {pid} && echo REACHED; cat /proc/{pid}/environ && echo REACHED; \
         for f in /proc/self/fd/* /proc/1/fd/*; do readlink $f; done; ls /proc/1/root /proc/1/cwd && echo REACHED",
        pid = std::process::id()
    );
    let (_, output) = case.run(&format!("({script}) 2>/dev/null"));
    assert!(!output.contains("REACHED"), "{output}");
    assert!(!output.contains("data"), "a descriptor leads to the data folder: {output}");
    let count: usize = output.lines().next().unwrap().parse().unwrap();
    assert!(count <= 8, "{output}");
    drop(held);
}

#[test]
fn the_network_is_shared_but_not_abstract_sockets() {
    use std::os::linux::net::SocketAddrExt;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = format!("capsid-test-agent-{port}");
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let case = AgentCase::new();
    let connect = format!(
        "use Socket; socket(T, AF_INET, SOCK_STREAM, 0) and connect(T, pack_sockaddr_in({port}, INADDR_LOOPBACK)) \
         and print qq(TCP\\n); socket(U, AF_UNIX, SOCK_STREAM, 0); \
         print connect(U, pack_sockaddr_un(qq(\\0{name}))) ? qq(ABSTRACT\\n) : qq(refused\\n);"
    );
    case.repo.write("connect.pl", connect);
    let (_, output) = case.run("perl connect.pl");
    assert_eq!(output, "TCP\nrefused\n");
    let (_, control) = case.run_with(None, "perl connect.pl");
    assert_eq!(control, "TCP\nABSTRACT\n");
    let mut alone = AgentCase::new();
    alone.profile.network = false;
    alone.repo.write("connect.pl", case.repo.read("connect.pl"));
    let (_, output) = alone.run("perl connect.pl");
    assert_eq!(output, "refused\n");
}

#[test]
fn nothing_of_the_agent_is_left_when_it_ends_or_is_stopped() {
    let case = AgentCase::new();
    let fifo = case.base().join("held");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut case = case;
    // A pipe that every process of the agent holds: its end comes with the last of them.
    case.profile.kept_writes.push(fifo.clone());
    for (script, end) in [
        ("exec 9>$P; setsid sh -c 'setsid sleep 600 & sleep 600' & sleep 600 & exit 0", AgentEnd::Exited(0)),
        ("exec 9>$P; trap '' TERM; setsid sleep 600 & echo on; sleep 600", AgentEnd::Stopped),
        ("exec 9>$P; echo on; kill -STOP $$", AgentEnd::Stopped),
    ] {
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::File::open(fifo).unwrap().read_to_end(&mut Vec::new()).unwrap()
        });
        case.stop.store(false, Ordering::Relaxed);
        let env = [("P".to_owned(), fifo.display().to_string())];
        let request = AgentRequest {
            argv: &["sh", "-c", script].map(str::to_owned),
            cwd: case.repo.path(),
            prompt: b"",
            env: &env,
            timeout: Duration::from_secs(60),
            stop: &case.stop,
            profile: Some(&case.profile),
        };
        let run = run_agent(&request, &mut |_| case.stop.store(true, Ordering::Relaxed)).unwrap();
        assert_eq!(run.end, end, "{script}");
        assert_eq!(reader.join().unwrap(), 0);
    }
}

#[test]
fn an_agent_that_fills_the_disk_is_stopped() {
    let mut case = AgentCase::new();
    case.profile.disk_bytes = 8 << 20;
    case.timeout = Duration::from_secs(120);
    for hide in ["", "mkdir c; cd c; chmod 0 .; "] {
        let script =
            format!("{hide}i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.01; done");
        // A folder that its owner closed can still be filled by one who stands in it, but not listed by that owner.
        let script = script.replace("chmod 0 .", "chmod 0300 .");
        let (run, output) = case.run(&script);
        assert_eq!(run.limits_hit, [LimitHit::Disk], "{output}");
        assert_eq!(run.end, AgentEnd::Signalled(9));
        capsid_sandbox::remove_layer(&case.base().join("data/cycles/run"));
    }
}

#[test]
fn processes_of_the_agent_are_limited() {
    let mut case = AgentCase::new();
    case.profile.processes = 40;
    let (_, output) = case.run(
        "i=0; while [ $i -lt 80 ]; do sleep 100 & i=$((i+1)); done 2>/dev/null; true; ls /proc | grep -c '^[0-9]'",
    );
    assert!(output.is_empty() || output.trim().parse::<usize>().unwrap() <= 42, "{output}");
}
