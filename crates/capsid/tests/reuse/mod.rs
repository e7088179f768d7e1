//! A solution that somebody published, found, applied, recorded and reported on by the built program; and hubs that lie.
#![cfg(unix)]

mod fake;
mod hostile;
mod reports;
mod search;
mod trial;

use crate::common::program;
use capsid_client::{ClientConfig, Identity, NodeClient};
use capsid_model::{Object, SystemClock, Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store::{self, repair_bundle as bundle};
use std::sync::Arc;

const GOOD: &str = "echo good > state.txt";
const BAD: &str = "echo bad > state.txt";

/// A desk whose policy names a hub.
fn desk(hub: &str, more: &str) -> ProgramRepo {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    desk.repo.write("capsid.toml", format!("[hub]\nurl = \"{hub}\"\n{more}"));
    desk.repo.commit("Name a hub");
    desk
}

fn last_event(desk: &ProgramRepo) -> Object {
    store::events(&desk.repo).pop().unwrap()
}

/// The capsules of a desk.
fn capsules(desk: &ProgramRepo) -> Vec<Value> {
    let path = desk.repo.file("assets/gep/capsules.json");
    let file: Value = std::fs::read_to_string(path).unwrap_or_else(|_| "{}".to_owned()).parse().unwrap();
    file["capsules"].as_array().cloned().unwrap_or_default()
}

/// What waits to be told to a hub.
fn waiting(desk: &ProgramRepo) -> usize {
    let text = std::fs::read_to_string(desk.state_file("hub_outbox.jsonl")).unwrap_or_default();
    text.lines().count()
}

/// The actions in the log of calls, oldest first, and why those that came to nothing did.
fn calls(desk: &ProgramRepo) -> Vec<(String, Value)> {
    let path = desk.repo.file("memory/evolution/asset_call_log.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let value: Value = line.parse().unwrap();
        (value["action"].as_str().unwrap().to_owned(), value["reason"].clone())
    };
    text.lines().map(line).collect()
}

/// A running hub, and somebody who publishes there.
struct Market {
    hub: HubProcess,
    place: TestHubLocation,
    program: TestProgram,
    author: NodeClient,
    _folder: tempfile::TempDir,
}

impl Market {
    fn open() -> Self {
        Self::open_in(tempfile::tempdir().unwrap())
    }

    /// The same in a folder, whose `hub` is the hub's data.
    fn open_in(folder: tempfile::TempDir) -> Self {
        let program = program();
        let place = TestHubLocation { data: folder.path().join("hub"), database: None };
        let hub = HubProcess::start(&program, &place);
        let settings = ClientConfig::new(&format!("http://{}", hub.address), false).unwrap();
        let identity = Identity::open(&folder.path().join("author"), &|_| None).unwrap();
        let author = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
        author.hello(Object::new()).unwrap();
        Self { hub, place, program, author, _folder: folder }
    }

    fn url(&self) -> String {
        format!("http://{}", self.hub.address)
    }

    /// Publishes a bundle, has it promoted, and gives the id of its capsule.
    fn offer(&self, bundle: &[Object; 2]) -> String {
        self.author.publish(bundle).unwrap();
        let id = |asset: &Object| asset["asset_id"].as_str().unwrap().to_owned();
        for asset in bundle {
            let ran = self.place.run(&self.program, &["admin", "promote", &id(asset), "--reason", "tried"]);
            assert!(ran.status == 0 || ran.stderr.contains("promoted"), "{ran}");
        }
        id(&bundle[1])
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = ask(&self.hub.address, "GET", path, None).unwrap();
        assert_eq!(status, 200, "{body}");
        body.parse().unwrap()
    }

    fn reports(&self, asset: &str) -> Vec<Value> {
        let told = self.get(&format!("/a2a/validation-reports?asset_id={asset}"));
        told["reports"].as_array().unwrap_or_else(|| panic!("{told}")).clone()
    }
}
