//! `capsid hub runner` with a real hub and a real sandbox, as a user of its own.
#![cfg(target_os = "linux")]

use crate::common::program;
use crate::escapes::table::{free_uid, reachable_program};
use crate::validator::{creates, publish};
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Object, SystemClock, Value, json};
use capsid_testkit::disk;
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask, ask_as};
use capsid_testkit::program::ProgramOutput;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const TOKEN: &str = "runner_0123456789abcdef0123456789abcdef";

struct RunnerDesk {
    hub: HubProcess,
    folder: tempfile::TempDir,
    program: String,
}

impl RunnerDesk {
    fn open() -> Self {
        let folder = disk::tempdir();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let data = folder.path().join("hub");
        std::fs::create_dir(&data).unwrap();
        let settings =
            format!("[validation]\nrunner = \"on\"\nrunner_token = \"{TOKEN}\"\ncommand_seconds = 10\n");
        std::fs::write(data.join("hub.toml"), settings).unwrap();
        let hub = HubProcess::start(&program(), &TestHubLocation { data, database: None });
        let program = reachable_program(folder.path());
        Self { hub, folder, program }
    }

    fn author(&self, name: &str) -> NodeClient {
        let settings = ClientConfig::new(&format!("http://{}", self.hub.address), false).unwrap();
        let identity = Identity::open(&self.folder.path().join(name), &|_| None).unwrap();
        let node = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
        node.hello(Object::new()).unwrap();
        node
    }

    /// The runner, as somebody who is not root.
    fn run(&self, token: &str) -> ProgramOutput {
        self.run_with(token, &[])
    }

    /// The same with variables.
    fn run_with(&self, token: &str, variables: &[(&str, &Path)]) -> ProgramOutput {
        let mut command = Command::new(&self.program);
        let url = format!("http://{}", self.hub.address);
        command.args(["hub", "runner", "--once", "--json", "--hub", &url]);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap()).env("CAPSID_RUNNER_TOKEN", token);
        command.env("HOME", "/nonexistent").envs(variables.iter().copied()).current_dir("/");
        if rustix::process::geteuid().is_root() {
            command.uid(free_uid()).gid(free_uid());
        }
        ProgramOutput::from_output(command.output().unwrap())
    }

    fn detail(&self, asset: &str) -> Value {
        let path = format!("/a2a/assets/{}", asset.replace(':', "%3A"));
        let (status, body) = ask(&self.hub.address, "GET", &path, None).unwrap();
        assert_eq!(status, 200, "{body}");
        body.parse().unwrap()
    }
}

#[test]
fn the_runner_tells_what_works_from_what_proves_nothing() {
    let desk = RunnerDesk::open();
    let source = ("adder.js", "exports.add = (a, b) => a + b\n");
    let test = "if (require('./adder').add(1, 2) !== 3) process.exit(1)\n";
    let works = publish(&desk.author("one"), "adder", &creates(&[source, ("adder.test.js", test)]));
    let blind = publish(
        &desk.author("two"),
        "blind",
        &creates(&[("blind.js", "exports.add = 1\n"), ("blind.test.js", "require('./blind')\n")]),
    );
    let broken = publish(
        &desk.author("three"),
        "broken",
        &creates(&[
            ("broken.js", "exports.a = 1\n"),
            ("broken.test.js", "console.error('no'); process.exit(4)\n"),
        ]),
    );
    let ran = desk.run(TOKEN);
    assert_eq!(ran.status, 0, "{ran}");
    let outcome = |asset: &str| desk.detail(asset)["runner"]["outcome"].clone();
    assert_eq!(outcome(&works), "reproduced", "{ran}");
    assert_eq!(outcome(&blind), "vacuous_base", "{ran}");
    assert_eq!(outcome(&broken), "failed", "{ran}");
    let shown = desk.detail(&works);
    assert!(shown["runner"]["runtime"].as_str().unwrap().contains("node"), "{shown}");
    assert_eq!(shown["validation"]["weight"]["passes"], json!(3.0));
    assert_eq!(desk.detail(&blind)["validation"]["label"], "vacuous");
    assert_eq!(desk.detail(&broken)["validation"]["weight"]["fails"], json!(3.0));
    // Each is run once.
    assert_eq!(desk.run(TOKEN).stdout.trim(), "");
}

#[test]
fn nobody_takes_jobs_without_the_token_and_no_job_stays_with_a_runner_that_is_gone() {
    let desk = RunnerDesk::open();
    let diff = creates(&[("a.js", "exports.a = 1\n"), ("lost.test.js", "process.exit(1)\n")]);
    publish(&desk.author("one"), "lost", &diff);
    for token in ["", "runner_other", &"0".repeat(64)] {
        let (status, body) = ask_as(&desk.hub.address, token, "POST", "/runner/next", Some("{}")).unwrap();
        assert_eq!(status, 401, "{body}");
        assert!(body.contains("runner_token_invalid"), "{body}");
    }
    let refused = desk.run("runner_other");
    assert_eq!(refused.status, 1, "{refused}");
    let (status, body) = ask_as(&desk.hub.address, TOKEN, "POST", "/runner/next", Some("{}")).unwrap();
    assert!(status == 200 && body.contains("run_"), "{body}");
    // Somebody has it, so nobody else gets it.
    assert_eq!(desk.run(TOKEN).stdout.trim(), "");
    let unknown = json!({"job_id": "run_x", "outcome": "reproduced", "seconds": 1}).to_string();
    let (status, body) = ask_as(&desk.hub.address, TOKEN, "POST", "/runner/report", Some(&unknown)).unwrap();
    assert!(status == 409 && body.contains("runner_job_not_open"), "{body}");
    let odd = json!({"job_id": "run_x", "outcome": "great", "seconds": 1}).to_string();
    assert_eq!(ask_as(&desk.hub.address, TOKEN, "POST", "/runner/report", Some(&odd)).unwrap().0, 400);
}

#[test]
fn the_runner_does_not_run_as_root() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let command = program();
    let ran = ProgramOutput::from_output(
        command.command(command.home(), &["hub", "runner", "--once"]).output().unwrap(),
    );
    assert_eq!(ran.status, 2, "{ran}");
    assert!(ran.stderr.contains("does not run as root"), "{ran}");
}

#[test]
fn what_a_bundle_does_in_the_runner_leaves_nothing() {
    let desk = RunnerDesk::open();
    let greedy = "const { spawn } = require('child_process');\n\
        for (let i = 0; i < 50; i++) try { spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1e6)'], {detached: true}) } catch {}\n\
        try { require('fs').writeFileSync('/var/tmp/planted-by-runner', 'x') } catch {}\n\
        require('net').connect(1, '127.0.0.1').on('error', () => process.exit(1));\n\
        for (;;) process.stdout.write('x'.repeat(65536));\n";
    let asset = publish(&desk.author("one"), "greedy", &creates(&[("greedy.test.js", greedy)]));
    let ran = desk.run(TOKEN);
    assert_eq!(ran.status, 0, "{ran}");
    assert_ne!(desk.detail(&asset)["runner"]["outcome"], "reproduced");
    assert!(!std::path::Path::new("/var/tmp/planted-by-runner").exists());
    let left = Command::new("pgrep").args(["-f", "setTimeout\\(\\(\\) => \\{\\}, 1e6\\)"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

/// Fills the disk until it is stopped; then the run is over and its files are gone.
#[test]
fn a_bundle_that_fills_the_disk_is_stopped_and_leaves_no_byte() {
    let desk = RunnerDesk::open();
    let filling = "const fs = require('fs');\nconst some = Buffer.alloc(1 << 20, 7);\n\
        for (let i = 0; ; i++) fs.writeFileSync(`part-${i}`, Buffer.concat(Array(16).fill(some)));\n";
    let asset = publish(&desk.author("one"), "filling", &creates(&[("filling.test.js", filling)]));
    let temporary = desk.folder.path().join("runner-tmp");
    std::fs::create_dir(&temporary).unwrap();
    std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o777)).unwrap();
    let ran = desk.run_with(TOKEN, &[("TMPDIR", &temporary)]);
    assert_eq!(ran.status, 0, "{ran}");
    assert_ne!(desk.detail(&asset)["runner"]["outcome"], "reproduced", "{ran}");
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// It sees its own processes and no other, nothing of the kernel's secrets, and can set nothing.
#[test]
fn a_bundle_sees_no_other_process_and_changes_nothing_through_proc() {
    let desk = RunnerDesk::open();
    let looking = "const fs = require('fs');\n\
        const others = fs.readdirSync('/proc').filter(name => /^[0-9]+$/.test(name)).filter(pid => {\n\
          try { return /runner|serve|sleep/.test(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')); } catch { return false; }\n\
        });\n\
        const tried = ['/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/self/oom_score_adj', '/proc/1/mem'];\n\
        const written = tried.filter(path => {\n\
          try { fs.writeFileSync(path, path.endsWith('adj') ? '-1000' : 'x'); return true; } catch { return false; }\n\
        });\n\
        const read = ['/proc/kcore', '/proc/kmsg', '/proc/1/environ'].filter(path => {\n\
          try { return fs.openSync(path) > 0 && fs.readFileSync(path, {encoding: 'latin1'}).includes('RUNNER_TOKEN'); } catch { return false; }\n\
        });\n\
        const found = JSON.stringify([others, written, read]);\n\
        console.error(found);\n\
        if (found !== '[[],[],[]]' || require('./proc').ok !== 1) process.exit(1);\n";
    let files = [("proc.js", "exports.ok = 1\n"), ("proc.test.js", looking)];
    let asset = publish(&desk.author("one"), "proc", &creates(&files));
    let ran = desk.run(TOKEN);
    assert_eq!(ran.status, 0, "{ran}");
    let shown = desk.detail(&asset);
    assert_eq!(shown["runner"]["outcome"], "reproduced", "{ran}\n{shown}");
}
