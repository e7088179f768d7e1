//! What a validation command may try, on every sandbox this machine has.

use capsid_sandbox::isolation::best_of;
use capsid_sandbox::{
    Confinement, FinishedProcess, Isolation, IsolationPolicy, ProcessEnd, ProcessLimits, SandboxProbe, probe,
    run_validation, run_validation_at,
};
use capsid_testkit::test_repo::TestRepo;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// The sandboxes that work here; a machine with none tests nothing, and says so.
fn sandboxes() -> &'static [Isolation] {
    static WORKING: OnceLock<Vec<Isolation>> = OnceLock::new();
    WORKING.get_or_init(|| {
        let probes = probe();
        for probe in probes.iter().filter(|probe| !probe.works) {
            eprintln!("not tested: {probe:?}");
        }
        let working = probes.into_iter().filter(|probe| probe.works);
        working.map(|probe| probe.isolation).collect()
    })
}

fn short() -> ProcessLimits {
    ProcessLimits { timeout: Duration::from_secs(60), ..ProcessLimits::default() }
}

fn words(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|&word| word.to_owned()).collect()
}

/// Runs a shell script of the repository.
fn run(level: Isolation, repo: &TestRepo, script: &str, limits: &ProcessLimits) -> FinishedProcess {
    repo.write("tests/try.sh", script);
    let place = Confinement::to(repo.path());
    let argv = words(&["sh", "tests/try.sh"]);
    let finished = run_validation_at(level, &argv, &place, limits).unwrap();
    assert_eq!(finished.isolation, level);
    finished
}

fn scratch() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("assets/gep/events.jsonl", "{\"id\":\"first\"}\n");
    repo.write("src/a.txt", "a");
    repo
}

#[test]
fn the_repository_can_be_read_and_written_and_is_the_working_folder() {
    for &level in sandboxes() {
        let repo = scratch();
        let script = "pwd; cat src/a.txt; echo b > src/a.txt; mkdir src/new; echo c > src/new/c; \
                      echo t > $TMPDIR/t; cat .git/HEAD";
        let finished = run(level, &repo, script, &short());
        assert!(finished.end.ok(), "{finished:?}");
        let root = repo.path().canonicalize().unwrap();
        let expected = format!("{}\naref: refs/heads/main\n", root.display());
        assert_eq!(finished.stdout, expected);
        assert_eq!(repo.read("src/a.txt"), "b\n");
        assert_eq!(repo.read("src/new/c"), "c\n");
    }
}

#[test]
fn secrets_of_the_machine_cannot_be_read() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "hunter2").unwrap();
    let home = std::env::home_dir().unwrap();
    for &level in sandboxes() {
        let repo = scratch();
        std::os::unix::fs::symlink(&secret, repo.file("link")).unwrap();
        let script = format!(
            "for f in {} link /etc/shadow /root/.profile /proc/{}/environ; do cat $f && echo LEAK $f; done\n\
             ls {}/.ssh && echo LEAK\nls {} && echo LEAK\ntrue",
            secret.display(),
            std::process::id(),
            home.display(),
            outside.path().display(),
        );
        let finished = run(level, &repo, &script, &short());
        assert!(finished.end.ok(), "{finished:?}");
        assert_eq!(finished.stdout, "", "{level:?}");
    }
}

#[test]
fn nothing_outside_the_repository_can_be_written() {
    let outside = tempfile::tempdir().unwrap();
    let canary = outside.path().join("canary");
    for &level in sandboxes() {
        let repo = scratch();
        std::os::unix::fs::symlink(outside.path(), repo.file("way-out")).unwrap();
        let script = format!(
            "for f in {} way-out/canary /canary /usr/canary /etc/canary /var/tmp/canary; do\n\
             (echo x > $f) && echo WROTE $f; done\n\
             mount -t tmpfs none src && echo MOUNTED; true",
            canary.display()
        );
        let finished = run(level, &repo, &script, &short());
        assert!(finished.end.ok(), "{finished:?}");
        // In bubblewrap a path may exist only inside; what counts is the machine.
        assert!(!finished.stdout.contains("MOUNTED"), "{finished:?}");
        assert!(!finished.stdout.contains("WROTE /"), "{finished:?}");
        assert!(!canary.exists() && !Path::new("/var/tmp/canary").exists());
    }
}

#[test]
fn variables_of_the_user_are_not_seen() {
    // The tests' own environment always has one that a clean one lacks.
    let name = "CARGO_MANIFEST_DIR";
    assert!(std::env::var_os(name).is_some());
    for level in sandboxes().iter().copied().chain([Isolation::None]) {
        let repo = scratch();
        let script = "env; cat /proc/1/environ /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'";
        let finished = match level {
            // Without a sandbox other processes stay visible; only the own environment is clean.
            Isolation::None => run(level, &repo, "env", &short()),
            _ => run(level, &repo, script, &short()),
        };
        assert!(finished.stdout.contains("CI=1"), "{finished:?}");
        assert!(!finished.stdout.contains(name), "{level:?}");
    }
}

#[test]
fn listeners_of_the_machine_cannot_be_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let abstract_name = format!("capsid-test-{port}");
    for &level in sandboxes() {
        let repo = scratch();
        let connect = format!(
            "const n = require('net'); let left = 2;\n\
             for (const to of [{{port: {port}, host: '127.0.0.1'}}, {{path: '\\0{abstract_name}'}}])\n\
             n.connect(to).on('connect', () => {{ console.log('CONNECTED'); process.exit(0); }})\n\
             .on('error', () => {{ if (--left === 0) console.log('refused'); }});"
        );
        repo.write("connect.js", connect);
        let place = Confinement::to(repo.path());
        let argv = words(&["node", "connect.js"]);
        let finished = run_validation_at(level, &argv, &place, &short()).unwrap();
        assert_eq!(finished.stdout, "refused\n", "{finished:?}");
        assert!(listener.accept().is_err());
    }
}

#[test]
fn the_network_is_there_when_it_is_allowed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for &level in sandboxes() {
        let repo = scratch();
        repo.write(
            "connect.js",
            format!("require('net').connect({port}, '127.0.0.1').on('connect', () => process.exit(0))"),
        );
        let place = Confinement { network: true, ..Confinement::to(repo.path()) };
        let argv = words(&["node", "connect.js"]);
        let finished = run_validation_at(level, &argv, &place, &short()).unwrap();
        assert!(finished.end.ok(), "{finished:?}");
        listener.accept().unwrap();
    }
}

#[test]
fn a_program_cannot_signal_the_one_that_started_it() {
    for &level in sandboxes() {
        let repo = scratch();
        let script = format!("kill -0 {} && echo REACHED; true", std::process::id());
        let finished = run(level, &repo, &script, &short());
        assert_eq!(finished.stdout, "", "{level:?}");
    }
}

/// A word that only the processes of one test carry.
fn alive(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| {
            std::fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
        })
        .count()
}

#[test]
fn nothing_is_left_behind_not_even_a_daemon_that_left_the_group() {
    for (at, level) in sandboxes().iter().copied().chain([Isolation::None]).enumerate() {
        let repo = scratch();
        let mark = format!("31{at}.{}", std::process::id());
        let script = format!(
            "setsid sh -c 'setsid sleep {mark} & sleep {mark}' & sleep {mark} & (sleep {mark} &)\n\
             for i in $(seq 50); do sleep {mark} & done; sleep 0.2; echo started"
        );
        let finished = run(level, &repo, &script, &short());
        assert_eq!(finished.stdout, "started\n", "{finished:?}");
        assert_eq!(alive(&mark), 0, "{level:?}");
    }
}

#[test]
fn a_run_ends_with_its_time_and_takes_its_daemons_along() {
    for (at, level) in sandboxes().iter().copied().chain([Isolation::None]).enumerate() {
        let repo = scratch();
        let mark = format!("32{at}.{}", std::process::id());
        let limits = ProcessLimits { timeout: Duration::from_secs(1), ..short() };
        let script = format!("trap '' TERM; echo before; setsid sleep {mark} & sleep {mark}");
        let finished = run(level, &repo, &script, &limits);
        assert_eq!(finished.end, ProcessEnd::TimedOut);
        assert_eq!(finished.stdout, "before\n");
        assert_eq!(alive(&mark), 0, "{level:?}");
    }
}

#[test]
fn a_flood_of_output_is_read_to_the_end_and_kept_in_part() {
    for level in sandboxes().iter().copied().chain([Isolation::None]) {
        let repo = scratch();
        let script = "head -c 50000000 /dev/zero | tr '\\0' x; printf '\\377ende' >&2; exit 3";
        let finished = run(level, &repo, script, &short());
        assert_eq!(finished.end, ProcessEnd::Exited(3));
        assert_eq!(finished.stdout.len(), ProcessLimits::default().output_bytes);
        assert_eq!(finished.stderr, "\u{fffd}ende");
    }
}

#[test]
fn files_memory_and_open_files_are_limited() {
    let limits = ProcessLimits { file_bytes: 1 << 20, memory_bytes: 1 << 30, open_files: 64, ..short() };
    for level in sandboxes().iter().copied().chain([Isolation::None]) {
        let repo = scratch();
        let script = "head -c 3000000 /dev/zero > src/big; wc -c < src/big; ulimit -n; ulimit -c";
        let finished = run(level, &repo, script, &limits);
        assert_eq!(finished.stdout, "1048576\n64\n0\n", "{finished:?}");
        let hungry = "perl -e 'my $x = \"x\" x (2 << 30); print length $x'; true";
        let finished = run(level, &repo, hungry, &limits);
        assert_eq!(finished.stdout, "", "{finished:?}");
    }
}

#[test]
fn the_end_of_a_program_is_told_as_it_was() {
    for level in sandboxes().iter().copied().chain([Isolation::None]) {
        let repo = scratch();
        let end = |script| run(level, &repo, script, &short()).end;
        assert_eq!(end("exit 7"), ProcessEnd::Exited(7));
        assert_eq!(end("kill -SEGV $$"), ProcessEnd::Signalled(11));
        assert_eq!(end("read line || exit 4"), ProcessEnd::Exited(4));
        let place = Confinement::to(repo.path());
        let argv = words(&["no-such-program-at-all"]);
        let problem = run_validation_at(level, &argv, &place, &short()).unwrap_err();
        assert_eq!(problem.code, capsid_model::Code::ProgramNotFound);
    }
}

#[test]
fn a_program_of_the_repository_does_not_stand_in_for_one_of_the_system() {
    let repo = scratch();
    repo.script("node", "#!/bin/sh\necho FAKE\n");
    repo.write("a.js", "console.log('real')");
    let argv = words(&["node", "a.js"]);
    let place = Confinement::to(repo.path());
    let finished = run_validation(&argv, &place, IsolationPolicy::Off, &short()).unwrap();
    assert_eq!(finished.stdout, "real\n");
}

#[test]
fn node_npm_and_npx_work_in_every_sandbox() {
    for &level in sandboxes() {
        let repo = scratch();
        repo.write("package.json", r#"{"name":"x","version":"1.0.0","scripts":{"test":"node t.js"}}"#);
        repo.write("t.js", "console.log('tested')");
        repo.script("node_modules/.bin/tool", "#!/bin/sh\necho \"tool $*\"\n");
        let place = Confinement::to(repo.path());
        let run = |argv: &[&str]| run_validation_at(level, &words(argv), &place, &short()).unwrap();
        let finished = run(&["npm", "test", "--silent"]);
        assert!(finished.end.ok(), "{finished:?}");
        assert_eq!(finished.stdout.trim(), "tested");
        let finished = run(&["npx", "tool", "-c", "touch stolen"]);
        assert_eq!(finished.stdout.trim(), "tool -c touch stolen", "{finished:?}");
        let finished = run(&["npx", "--no", "tool", "-c", "touch stolen"]);
        assert_eq!(finished.stdout.trim(), "tool -c touch stolen", "{finished:?}");
        let finished = run(&["npx", "not-installed-anywhere"]);
        assert!(!finished.end.ok());
        assert!(!repo.file("stolen").exists());
    }
}

#[test]
fn cargo_works_where_rustup_installed_it() {
    let home = std::env::home_dir().unwrap();
    if !home.join(".cargo/bin/cargo").exists() {
        return;
    }
    for &level in sandboxes() {
        let repo = scratch();
        repo.write(
            "Cargo.toml",
            "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\npath = \"src/lib.rs\"\n",
        );
        repo.write("src/lib.rs", "#[test] fn t() {}\n");
        let place = Confinement::to(repo.path());
        let argv = words(&["cargo", "test", "--quiet", "--lib"]);
        let finished = run_validation_at(level, &argv, &place, &short()).unwrap();
        assert!(finished.end.ok(), "{finished:?}");
        assert!(finished.stdout.contains("1 passed"));
    }
}

#[test]
fn a_required_sandbox_that_is_not_there_is_a_refusal_with_reason_and_fix() {
    let absent =
        |isolation, detail: &str| SandboxProbe { isolation, works: false, detail: detail.to_owned() };
    let probes = [
        absent(Isolation::Namespaces, "it is not on the PATH"),
        absent(Isolation::Landlock, "the kernel is too old"),
    ];
    let problem = best_of(&probes).unwrap_err();
    assert_eq!(problem.code, capsid_model::Code::SandboxUnavailable);
    assert!(problem.message.contains("landlock: the kernel is too old"));
    assert!(problem.fix.is_some());
    assert_eq!(best_of(&[]).unwrap_err().code, problem.code);
}

#[test]
fn without_a_sandbox_the_report_says_none() {
    let repo = scratch();
    let argv = words(&["sh", "-c", "exit 0"]);
    let place = Confinement::to(repo.path());
    let finished = run_validation(&argv, &place, IsolationPolicy::Off, &short()).unwrap();
    assert_eq!(finished.isolation.as_str(), "none");
}

#[test]
fn the_best_sandbox_is_used_when_one_is_required() {
    let Some(&best) = sandboxes().first() else {
        return;
    };
    let repo = scratch();
    let argv = words(&["true"]);
    let place = Confinement::to(repo.path());
    let finished = run_validation(&argv, &place, IsolationPolicy::Require, &short()).unwrap();
    assert_eq!(finished.isolation, best);
}
