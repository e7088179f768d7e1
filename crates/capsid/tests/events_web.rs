//! `capsid events --web` as a user starts it: the built program, real cycles, a real port.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use capsid_model::Value;
use capsid_testkit::desk::Desk;
use capsid_testkit::program::Ran;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

/// The pages as they are served, and the address that was printed.
struct Served {
    child: Child,
    host: String,
    key: String,
}

impl Served {
    fn start(desk: &Desk) -> Self {
        let mut child = desk.program.start(&desk.repo, &["events", "--web", "--port", "0"]);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some((host, key)) =
            line.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/evolution#key="))
        else {
            let _ = child.kill();
            panic!("{line}\n{}", Ran::of(child.wait_with_output().unwrap()));
        };
        Self { host: host.to_owned(), key: key.to_owned(), child }
    }

    fn ask(&self, path: &str, key: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The older version of the protocol sends a body whole, not in chunks.
        let head =
            format!("GET {path} HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer {key}\r\n\r\n", self.host);
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    #[track_caller]
    fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask(path, &self.key);
        assert_eq!(status, 200, "{path}: {body}");
        body.parse().unwrap()
    }

    fn stop(self) -> Ran {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        Ran::of(self.child.wait_with_output().unwrap())
    }
}

fn desk() -> Desk {
    Desk::named(env!("CARGO_BIN_EXE_capsid"), "shop")
}

fn texts<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|each| each[name].as_str().unwrap()).collect()
}

#[test]
fn the_history_is_what_the_store_and_the_other_commands_say() {
    let desk = desk();
    for body in ["echo good > state.txt", "echo bad > state.txt", "echo better > state.txt"] {
        desk.repo.write("app.log", format!("error: TypeError: {body} is not a function\n"));
        desk.evolve(&[], body);
    }
    let served = Served::start(&desk);
    let told = served.json("/local/evolution.json");
    let about = served.json("/local/about");
    let index = served.json("/local/trail/index.json");
    assert_eq!(served.stop().status, 0);

    let listed = desk.program.expect(0, &desk.repo, &["events", "--json"]).json();
    let recorded = listed["events"].as_array().unwrap();
    assert_eq!(recorded.len(), 3, "{listed}");
    assert_eq!(texts(&told["events"], "id"), texts(&listed["events"], "id"));
    assert_eq!(texts(&told["events"], "status"), ["success", "failed", "success"]);
    assert_eq!(texts(&told["events"], "seal"), ["sealed"; 3]);
    assert_eq!(told["seal"]["state"], "sealed");
    for (event, line) in told["events"].as_array().unwrap().iter().zip(recorded) {
        assert_eq!(event["parent"], line["parent"]);
        assert_eq!(event["intent"], line["intent"]);
        assert_eq!(event["genes"], line["genes_used"]);
        assert_eq!(event["signals"], line["signals"]);
        assert_eq!(event["files"], line["blast_radius"]["files"]);
        assert_eq!(event["lines"], line["blast_radius"]["lines"]);
        assert_eq!(event["source"], line["source_type"]);
        assert_eq!(event["validation"]["commands"][0]["ok"], line["meta"]["validation"][0]["ok"]);
        assert_eq!(event["why"]["reasons"], line["meta"]["selector"]["reason"]);
        assert_eq!(event["why"]["run"], line["meta"]["run_id"]);
        assert_eq!(event["why"]["follows"], true);
    }
    let stats = desk.program.expect(0, &desk.repo, &["events", "stats", "--json"]).json();
    assert_eq!(told["totals"]["cycles"], stats["all"]["cycles"]);
    assert_eq!(told["genes"][0]["runs"], stats["genes"][told["genes"][0]["id"].as_str().unwrap()]["cycles"]);

    let run = told["events"][2]["why"]["run"].as_str().unwrap();
    let explained = desk.program.expect(0, &desk.repo, &["explain", run, "--json"]).json();
    let scores = explained["selection"]["scores"].as_array().unwrap();
    let candidates = told["events"][2]["why"]["candidates"].as_array().unwrap();
    for scored in scores {
        let same = candidates.iter().find(|candidate| candidate["id"] == scored["gene"]).unwrap();
        assert_eq!(same["score"], scored["score"]);
    }
    assert_eq!((about["repository"].as_str(), about["has_trail"].as_bool()), (Some("shop"), Some(true)));
    assert_eq!(index["chain_count"], 1, "the chain of the log is on the same desk");
}

#[test]
fn nothing_is_told_without_the_key() {
    let desk = desk();
    let served = Served::start(&desk);
    for key in ["", "0000", &served.key[1..]] {
        let (status, body) = served.ask("/local/evolution.json", key);
        assert_eq!(status, 401, "{body}");
        assert!(!body.contains("shop"), "{body}");
    }
    let (status, page) = served.ask("/evolution", "");
    assert_eq!(status, 200, "the page itself holds nothing");
    assert!(!page.contains("shop") && !page.contains(&served.key));
    served.stop();
}

#[test]
fn a_repository_without_a_history_is_served_and_so_is_a_damaged_log() {
    let desk = desk();
    std::fs::remove_dir_all(desk.repo.file("assets")).unwrap();
    let served = Served::start(&desk);
    let told = served.json("/local/evolution.json");
    assert_eq!((told["has_store"].as_bool(), told["totals"]["cycles"].as_u64()), (Some(false), Some(0)));
    assert_eq!(served.ask("/local/trail/index.json", &served.key).0, 404);
    // What happens meanwhile shows when the page is loaded again.
    desk.program.expect(0, &desk.repo, &["init"]);
    desk.repo.write("assets/gep/events.jsonl", "{\"type\":\"EvolutionEvent\",\"id\":\"evt_1\"}\nno json\n");
    let told = served.json("/local/evolution.json");
    assert_eq!((told["has_store"].as_bool(), told["unreadable"].as_u64()), (Some(true), Some(1)));
    assert_eq!(told["events"][0]["why"], Value::Null);
    served.stop();
}

#[test]
fn options_that_do_not_belong_together_are_refused() {
    let desk = desk();
    for args in
        [&["events", "--web", "--tree"][..], &["events", "--web", "--gene", "g"], &["events", "--open"]]
    {
        let ran = desk.program.run(&desk.repo, args);
        assert_eq!(ran.status, 2, "{args:?}\n{ran}");
    }
}
