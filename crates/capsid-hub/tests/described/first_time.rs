//! What the operator of a new hub does first: the first admin, and the starter pack.

use super::Witness;
use capsid_hub::runtime::starter::pack::StarterEntry;
use capsid_hub::runtime::starter::{StarterRun, StarterRunner};
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_testkit::wait::until;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// A machine on which no program of the pack runs.
struct WithoutPrograms;

impl StarterRunner for WithoutPrograms {
    fn probe(&self, program: &str) -> Result<String> {
        Err(Problem::new(Code::ProgramNotFound, format!("There is no `{program}` here.")))
    }

    fn run(&self, entry: &StarterEntry, _: &[String], _: &str, _: Time) -> Result<StarterRun> {
        panic!("{} needs a program that is not there", entry.name)
    }
}

/// Makes the first admin of a new hub and loads the pack, whose entries stay candidates.
pub fn call_everything(on: &Witness<'_>) {
    let hub = &on.hub.hub;
    let key = hub.welcome.issue(hub.random.as_ref(), hub.now());
    let first = json!({"key": key, "email": "first@example.org", "password": "correct horse"});
    let token = on.post("", "/auth/welcome", "", &first)["token"].as_str().unwrap().to_owned();
    on.hub.post("/auth/welcome", &first).refused(410, "welcome_link_invalid");
    let path = "/admin/starter-pack";
    on.hub.post_as(&token, path, &json!({})).refused(404, "not_offered");
    assert_eq!(on.get(&token, path, "", "")["state"], "idle");
    hub.starter.set_runner(Arc::new(WithoutPrograms));
    on.post(&token, path, "", &json!({}));
    until("the pack is loaded", Duration::from_secs(60), || {
        on.get(&token, path, "", "")["state"] != "running"
    });
    let pack = on.get(&token, path, "", "");
    assert_eq!((&pack["state"], &pack["promoted"]), (&json!("done"), &json!(0)), "{pack:#}");
    for entry in pack["entries"].as_array().unwrap() {
        assert_eq!(entry["status"], "candidate", "{entry}");
        assert!(
            entry["reason"].as_str().is_some_and(|reason| reason.starts_with("There is no `")),
            "{entry}"
        );
    }
}
