//! `capsid hub runner` with a real hub and a real sandbox, as a user of its own.
#![cfg(target_os = "linux")]

use crate::common::program;
use crate::escapes::table::{free_uid, reachable_program};
use crate::validator::{creates, publish};
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Object, SystemClock, Time, Value, json};
use capsid_store::{Store, StoreOptions};
use capsid_testkit::disk;
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask, ask_as};
use capsid_testkit::program::ProgramOutput;
use capsid_testkit::wait;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
        ProgramOutput::from_output(self.runner(token, variables).output().unwrap())
    }

    fn runner(&self, token: &str, variables: &[(&str, &Path)]) -> Command {
        let mut command = Command::new(&self.program);
        let url = format!("http://{}", self.hub.address);
        command.args(["hub", "runner", "--once", "--json", "--hub", &url]);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap()).env("CAPSID_RUNNER_TOKEN", token);
        command.env("HOME", "/nonexistent").envs(variables.iter().copied()).current_dir("/");
        if rustix::process::geteuid().is_root() {
            command.uid(free_uid()).gid(free_uid());
        }
        command
    }

    /// A folder for a runner's temporary files.
    fn temporary(&self) -> PathBuf {
        let temporary = self.folder.path().join("runner-tmp");
        std::fs::create_dir(&temporary).unwrap();
        std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o777)).unwrap();
        temporary
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

/// Its processes start others without end, it tries to write outside, and to say hello to the hub.
#[test]
fn what_a_bundle_does_in_the_runner_leaves_nothing() {
    let desk = RunnerDesk::open();
    let hello = |node: &str| {
        json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello", "message_id": format!("msg_{node}"),
            "sender_id": node, "timestamp": "2026-01-01T00:00:00.000Z", "payload": {"capabilities": {}}})
        .to_string()
    };
    let (host, port) = desk.hub.address.rsplit_once(':').unwrap();
    let greedy = format!(
        "const {{ spawn }} = require('child_process');\n\
        const fork = () => {{\n\
          for (let i = 0; i < 4; i++) try {{\n\
            spawn(process.execPath, [__filename, 'multiplies'], {{detached: true, stdio: 'ignore'}}).on('error', () => {{}});\n\
          }} catch {{}}\n\
        }};\n\
        fork();\n\
        if (process.argv[2] === 'multiplies') setInterval(fork, 50);\n\
        else {{\n\
          try {{ require('fs').writeFileSync('/var/tmp/planted-by-runner', 'x') }} catch {{}}\n\
          const hello = require('http').request({{host: '{host}', port: {port}, path: '/a2a/hello', method: 'POST',\n\
            headers: {{'content-type': 'application/json'}}}});\n\
          hello.on('error', () => {{}}).end({hello:?});\n\
          const until = Date.now() + 1000;\n\
          setTimeout(() => process.exit(1), 1000);\n\
          setInterval(() => {{ if (Date.now() < until) process.stdout.write('x'.repeat(65536)); }}, 1);\n\
        }}\n",
        hello = hello("node_from_the_runner"),
    );
    let asset = publish(&desk.author("one"), "greedy", &creates(&[("greedy.test.js", &greedy)]));
    let ran = desk.run(TOKEN);
    assert_eq!(ran.status, 0, "{ran}");
    assert_ne!(desk.detail(&asset)["runner"]["outcome"], "reproduced");
    assert!(!std::path::Path::new("/var/tmp/planted-by-runner").exists());
    assert_eq!(processes("greedy.test.js"), "");
    // The hub heard nothing of it, and hears the same from outside.
    let is_known =
        |node: &str| ask(&desk.hub.address, "GET", &format!("/a2a/identity/{node}"), None).unwrap().0 == 200;
    assert!(!is_known("node_from_the_runner"), "the hub was reached");
    let (status, body) =
        ask(&desk.hub.address, "POST", "/a2a/hello", Some(&hello("node_from_outside"))).unwrap();
    assert_eq!(status, 200, "{body}");
    assert!(is_known("node_from_outside"));
}

/// Fills the disk until it is stopped; then the run is over and its files are gone.
#[test]
fn a_bundle_that_fills_the_disk_is_stopped_and_leaves_no_byte() {
    let desk = RunnerDesk::open();
    let filling = "const fs = require('fs');\nconst some = Buffer.alloc(1 << 20, 7);\n\
        for (let i = 0; ; i++) fs.writeFileSync(`part-${i}`, Buffer.concat(Array(16).fill(some)));\n";
    let asset = publish(&desk.author("one"), "filling", &creates(&[("filling.test.js", filling)]));
    let temporary = desk.temporary();
    let ran = desk.run_with(TOKEN, &[("TMPDIR", &temporary)]);
    assert_eq!(ran.status, 0, "{ran}");
    assert_ne!(desk.detail(&asset)["runner"]["outcome"], "reproduced", "{ran}");
    assert_eq!(entries(&temporary), Vec::<PathBuf>::new());
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect()
}

/// The ids of processes whose command line holds a word that nobody else uses.
fn processes(word: &str) -> String {
    let found = Command::new("pgrep").args(["-f", word]).output().unwrap();
    String::from_utf8_lossy(&found.stdout).into_owned()
}

/// It is killed while a bundle runs: the bundle ends with it, the job is run once more, and the next runner removes what the
/// first could not.
#[test]
fn a_runner_that_is_killed_leaves_no_process_and_its_job_is_run_once_more() {
    let desk = RunnerDesk::open();
    // The first run waits to be killed; a later one ends at once.
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() + 6000;
    let patient =
        format!("if (Date.now() < {until}) setTimeout(() => {{}}, 60000);\nelse process.exit(1);\n");
    let asset =
        publish(&desk.author("one"), "patient", &creates(&[("a.js", "1\n"), ("patient.test.js", &patient)]));
    let temporary = desk.temporary();
    let variables = [("TMPDIR", &*temporary)];
    let mut first = desk.runner(TOKEN, &variables).stdout(Stdio::null()).spawn().unwrap();
    wait::until("the bundle runs", Duration::from_secs(60), || !processes("node patient.test.js").is_empty());
    first.kill().unwrap();
    first.wait().unwrap();
    wait::until("it ended with its runner", Duration::from_secs(20), || {
        processes("node patient.test.js").is_empty()
    });
    assert_eq!(entries(&temporary).len(), 1, "the folder of the one that was killed");
    assert_eq!(desk.run_with(TOKEN, &variables).stdout.trim(), "", "the job is still another's");
    assert_eq!(entries(&temporary), Vec::<PathBuf>::new(), "the next one removed it");
    // Its time is over.
    let store =
        Store::open(&StoreOptions::new(desk.folder.path().join("hub"), None).shared(), Time(0)).unwrap();
    let end = "UPDATE runner_jobs SET lease_until = 0 WHERE state = 'running'";
    assert_eq!(store.write_now(move |tx| tx.run(end, &[])).unwrap(), 1);
    wait::until("the bundle would end at once", Duration::from_secs(20), || {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() > until
    });
    let again = desk.run_with(TOKEN, &variables);
    assert_eq!(again.json()["asset_id"], asset.as_str(), "{again}");
    assert_eq!(desk.detail(&asset)["runner"]["outcome"], "failed", "{again}");
    assert_eq!(desk.run_with(TOKEN, &variables).stdout.trim(), "", "it is run once more, and no more");
    assert_eq!(entries(&temporary), Vec::<PathBuf>::new());
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
