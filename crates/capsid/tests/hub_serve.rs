//! The hub as a user starts it: the built program, a real port, real signals.
#![cfg(unix)]

use crate::common::program;
use capsid_model::{Value, json};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::wait;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A hub that runs, and the address that it printed.
struct Hub {
    child: Child,
    address: String,
}

impl Hub {
    fn start(program: &TestProgram, folder: &Path, args: &[&str]) -> Self {
        let mut child = program.command(folder, args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on http://") else {
            let ran = ProgramOutput::from_output(child.wait_with_output().unwrap());
            panic!("{line}\n{ran}");
        };
        Self { address: address.to_owned(), child }
    }

    fn stop(self, signal: Signal) -> ProgramOutput {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        ProgramOutput::from_output(self.child.wait_with_output().unwrap())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn hello(&self) -> Value {
        let body = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello", "message_id": "msg_1",
            "sender_id": "node_e5f6a7b8c9d0e1f2", "timestamp": "2025-01-15T08:30:00Z", "payload": {},
        });
        let (status, body) = self.ask("POST", "/a2a/hello", &body.to_string());
        assert_eq!(status, 200, "{body}");
        body.parse().unwrap()
    }
}

#[test]
fn a_hub_starts_answers_and_stops_in_order() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let args = ["hub", "serve", "--listen", "127.0.0.1:0", "--data", "data", "--log", "json"];
    let hub = Hub::start(&program, folder.path(), &args);
    let first = hub.hello();
    let claim = first["claim_url"].as_str().unwrap();
    assert!(claim.starts_with(&format!("http://{}/claim/", hub.address)), "{claim}");
    let ran = hub.stop(Signal::TERM);
    assert_status(0, &ran);
    assert_eq!(ran.stdout, "", "more than one line on stdout");
    let lines: Vec<Value> = ran.stderr.lines().map(|line| line.parse().unwrap()).collect();
    let line = lines.iter().find(|line| line["route"] == "/a2a/hello").unwrap_or_else(|| panic!("{ran}"));
    assert_eq!((&line["status"], &line["method"]), (&json!(200), &json!("POST")));
    assert!(line["id"].as_str().unwrap().starts_with("req_"));
    let secret = first["node_secret"].as_str().unwrap();
    assert!(!ran.stderr.contains(secret), "a secret is in the log");

    // The same data, the same hub.
    let hub = Hub::start(&program, folder.path(), &args);
    let again = hub.hello();
    assert_eq!(again["hub_node_id"], first["hub_node_id"]);
    assert_eq!(again["claim_code"], first["claim_code"]);
    // The key to the first secret was in the memory of the hub that ended.
    assert_ne!(again["node_secret"], first["node_secret"]);
    assert_eq!(again["node_secret_version"], 2);
    assert_status(0, &hub.stop(Signal::INT));
}

#[test]
fn up_says_how_to_connect() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let hub = Hub::start(&program, folder.path(), &["up", "--listen", "127.0.0.1:0"]);
    hub.hello();
    let address = hub.address.clone();
    let ran = hub.stop(Signal::INT);
    assert_status(0, &ran);
    assert!(ran.stderr.contains(&format!("A2A_HUB_URL=http://{address}")), "{ran}");
    assert!(ran.stderr.contains("EVOMAP_HUB_ALLOW_INSECURE=1"), "{ran}");
    assert!(!ran.stderr.contains("warning"), "{ran}");
    let data = program.home().join(".local/share/capsid/hub");
    assert!(ran.stderr.contains(data.to_str().unwrap()) && data.join("hub.db").is_file(), "{ran}");

    let hub = Hub::start(&program, folder.path(), &["up", "--listen", "0.0.0.0:0"]);
    let ran = hub.stop(Signal::TERM);
    assert!(ran.stderr.contains("without TLS"), "{ran}");
}

#[test]
fn a_second_hub_on_the_same_data_or_port_is_refused() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let args = ["hub", "serve", "--listen", "127.0.0.1:0", "--data", "data"];
    let hub = Hub::start(&program, folder.path(), &args);
    let second = ProgramOutput::from_output(program.command(folder.path(), &args).output().unwrap());
    assert_status(1, &second);
    assert_eq!((second.code(), second.stdout.as_str()), ("store_locked", ""), "{second}");
    assert!(second.stderr.contains("--data"), "{second}");
    hub.hello();
    let elsewhere = ["hub", "serve", "--listen", &hub.address, "--data", "other"];
    let third = ProgramOutput::from_output(program.command(folder.path(), &elsewhere).output().unwrap());
    assert_status(2, &third);
    assert_eq!(third.code(), "address_in_use", "{third}");
    assert!(!folder.path().join("other").exists(), "a hub that never ran left a database");
    assert_status(0, &hub.stop(Signal::TERM));
}

#[test]
fn what_is_under_way_is_finished_when_the_signal_comes() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let hub =
        Hub::start(&program, folder.path(), &["hub", "serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    let mut stream = TcpStream::connect(&hub.address).unwrap();
    let head =
        "POST /a2a/hello HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // The hub says so when it reads the body.
    let mut goes_on = [0; 25];
    stream.read_exact(&mut goes_on).unwrap();
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"{").unwrap();
    kill_process(Pid::from_child(&hub.child), Signal::TERM).unwrap();
    wait::until("the hub refuses connections", Duration::from_secs(30), || {
        TcpStream::connect(&hub.address).is_err()
    });
    stream.write_all(b"}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("invalid_protocol_message"), "{answer}");
    let began = Instant::now();
    assert_status(0, &ProgramOutput::from_output(hub.child.wait_with_output().unwrap()));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn settings_are_shown_with_their_origin_and_without_passwords() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let run = |args: &[&str], env: &[(&str, &str)]| {
        ProgramOutput::from_output(
            program.command(folder.path(), args).envs(env.iter().copied()).output().unwrap(),
        )
    };
    let sample = run(&["hub", "config", "--sample"], &[]);
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/hub.toml"), &sample.stdout).unwrap();
    let env = [("CAPSID_HUB_LISTEN", "127.0.0.1:9"), ("CAPSID_HUB_DATABASE", "postgres://me:s3cret@db/hub")];
    let shown = run(&["hub", "config", "--origin", "--data", "data"], &env);
    assert_status(0, &shown);
    let line = |name: &str| shown.stdout.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(
        line("server.listen").contains("127.0.0.1:9") && line("server.listen").ends_with("CAPSID_HUB_LISTEN")
    );
    assert!(line("limits.publish").contains("600/minute") && line("limits.publish").ends_with("default"));
    assert!(!shown.stdout.contains("s3cret"), "{shown}");
    let json = run(&["hub", "config", "--json", "--data", "data"], &env).json();
    let setting = json["settings"].as_array().unwrap().iter().find(|s| s["name"] == "server.listen").unwrap();
    assert_eq!(setting["origin"], "CAPSID_HUB_LISTEN");

    std::fs::write(folder.path().join("data/hub.toml"), "[server]\nlisen = \"127.0.0.1:1\"").unwrap();
    let wrong = run(&["hub", "serve", "--data", "data"], &[]);
    assert_status(2, &wrong);
    assert_eq!(wrong.code(), "config_invalid");
    assert!(wrong.stderr.contains("did you mean `server.listen`"), "{wrong}");
}

#[test]
fn a_log_that_cannot_be_written_takes_no_request_down() {
    let program = program();
    let broken = [
        // A full disk.
        Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap()),
        // A pipe that nobody reads any more.
        Stdio::from(std::io::pipe().unwrap().1),
    ];
    for stderr in broken {
        let folder = tempfile::tempdir().unwrap();
        let mut command =
            program.command(folder.path(), &["hub", "serve", "--listen", "127.0.0.1:0", "--data", "data"]);
        let mut child = command.env("CAPSID_LOG", "info").stderr(stderr).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        let hub = Hub { child, address };
        hub.hello();
        for path in ["/a2a/stats", "/a2a/assets", "/skill.md"] {
            assert_eq!(hub.ask("GET", path, "").0, 200, "{path}");
        }
        wait::until("the hub says that its log is degraded", Duration::from_secs(30), || {
            let (status, health) = hub.ask("GET", "/health", "");
            assert_eq!(status, 200, "{health}");
            let health: Value = health.parse().unwrap();
            health["checks"]["log"] == "degraded" && health["status"] == "ok"
        });
        let (_, metrics) = hub.ask("GET", "/metrics", "");
        let dropped = metrics.lines().find(|line| line.starts_with("capsid_hub_log_lines_dropped_total"));
        assert!(dropped.is_some_and(|line| !line.ends_with(" 0")), "{dropped:?}");
        assert_status(0, &hub.stop(Signal::TERM));
    }
}

#[test]
fn a_public_hub_does_not_start_without_tls_or_a_proxy() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let serve = ["hub", "serve", "--listen", "127.0.0.1:0", "--data", "data"];
    let profile = ("CAPSID_HUB_PROFILE", "public");
    let refused = ProgramOutput::from_output(
        program.command(folder.path(), &serve).env(profile.0, profile.1).output().unwrap(),
    );
    assert_eq!((refused.status, refused.code()), (2, "config_invalid"), "{refused}");
    assert!(refused.stderr.contains("server.trusted_proxies"), "{refused}");
    assert!(!folder.path().join("data/hub.db").exists(), "a hub that never ran left a database");
    let mut command = program.command(folder.path(), &serve);
    command.envs([profile, ("CAPSID_HUB_TRUSTED_PROXIES", "127.0.0.1")]);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on "), "{line}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
}

/// What `hub config --origin` prints with either profile. `CAPSID_UPDATE_DOCS=1` writes the files anew.
#[test]
fn the_settings_of_both_profiles_are_those_of_the_snapshot() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    for profile in ["private", "public"] {
        let mut command = program.command(folder.path(), &["hub", "config", "--origin", "--data", "data"]);
        let shown = ProgramOutput::from_output(command.env("CAPSID_HUB_PROFILE", profile).output().unwrap());
        assert_status(0, &shown);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/hub_config_{profile}.txt"));
        if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &shown.stdout).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == shown.stdout,
            "{} is out of date; run CAPSID_UPDATE_DOCS=1 cargo test -p capsid --test program snapshot",
            path.display()
        );
    }
}

#[test]
fn a_database_that_is_not_up_to_date_is_refused_where_that_was_asked_for() {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let run =
        |args: &[&str]| ProgramOutput::from_output(program.command(folder.path(), args).output().unwrap());
    let serve = ["hub", "serve", "--listen", "127.0.0.1:0", "--data", "data", "--no-migrate"];
    let refused = run(&serve);
    assert_eq!((refused.status, refused.code()), (2, "store_too_old"), "{refused}");
    assert_status(0, &run(&["hub", "migrate", "--data", "data"]));
    assert_status(0, &Hub::start(&program, folder.path(), &serve).stop(Signal::TERM));
    // A port that another program holds is told before anything else.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    assert_eq!(run(&["up", "--listen", &address]).code(), "address_in_use");
}
