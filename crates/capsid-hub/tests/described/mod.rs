//! What the description says of answers is what the hub answers, to the member.

mod filled_hub;
mod first_time;
mod messages;
mod nodes;
mod schema;

use crate::common::{TestHub, TestResponse, both_with};
use filled_hub::Filled;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A hub whose answers are held against its description.
pub struct Witness<'h> {
    hub: &'h TestHub,
    seen: RefCell<BTreeSet<(String, String)>>,
}

impl Witness<'_> {
    /// Checks an answer of a route, and gives it.
    #[track_caller]
    fn holds(&self, method: &str, route: &str, answered: &TestResponse) -> Value {
        let document = &self.hub.description;
        let described = &document["paths"][route][method.to_lowercase()]["responses"];
        let schema = &described[answered.status.to_string()]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{method} {route} does not describe this: {answered}");
        assert_ne!(schema["$ref"], "#/components/schemas/Object", "{method} {route} is not described");
        let faults = schema::faults(document, schema, &answered.json());
        assert!(faults.is_empty(), "{method} {route}: {faults:#?}\n{answered}");
        self.seen.borrow_mut().insert((method.to_owned(), route.to_owned()));
        answered.json()
    }

    /// Asks and checks. `{…}` of the route is filled with the id.
    #[track_caller]
    fn get(&self, token: &str, route: &str, id: &str, query: &str) -> Value {
        let answered = self.hub.get_as(token, &format!("{}{query}", with(route, id)));
        self.holds("GET", route, &answered)
    }

    #[track_caller]
    fn send(&self, method: &str, token: &str, route: &str, id: &str, body: &Value) -> Value {
        let body = Some(body.to_string().into_bytes());
        let bearer = (!token.is_empty()).then_some(token);
        self.holds(method, route, &self.hub.call(method, &with(route, id), bearer, body))
    }

    #[track_caller]
    fn post(&self, token: &str, route: &str, id: &str, body: &Value) -> Value {
        self.send("POST", token, route, id, body)
    }
}

/// A route with its first id filled in; a second one comes after a space.
fn with(route: &str, ids: &str) -> String {
    let mut ids = ids.split(' ');
    let part = |part: &str| match part.starts_with('{') {
        true => ids.next().unwrap().to_owned(),
        false => part.to_owned(),
    };
    route.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[test]
fn answers_are_as_they_are_described() {
    let disputing = |config: &mut capsid_hub::config::HubConfig| {
        crate::common::economy::trusting(config);
        config.work.dispute_ms = 72 * 3_600_000;
    };
    both_with(disputing, |hub| {
        let witness = Witness { hub, seen: RefCell::default() };
        filled_hub::empty(&witness);
        nodes::call_everything(&witness);
        let filled = Filled::fill(&witness);
        filled.read_everything(&witness);
        filled.decide(&witness);
        let strict = TestHub::start(hub.on, |config| config.identity.claim_grace_ms = 3_600_000);
        let witness = Witness { hub: &strict, seen: witness.seen };
        nodes::refuse_claim(&witness);
        first_time::call_everything(&witness);
        let seen = witness.seen.borrow();
        let left: Vec<_> =
            described(&hub.description).into_iter().filter(|call| !seen.contains(call)).collect();
        assert!(left.is_empty(), "described, and never looked at: {left:#?}");
    });
}

/// Every call that describes its answer. Those that are there twice count once.
fn described(document: &Value) -> BTreeSet<(String, String)> {
    let mut calls = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let twin = path.strip_prefix("/a2a").is_some_and(|top| document["paths"].get(top).is_some());
        for (method, call) in item.as_object().unwrap().iter().filter(|_| !twin) {
            let answers = call["responses"].as_object().unwrap().iter();
            let mut bodies = answers
                .filter(|(status, _)| status.starts_with('2'))
                .map(|(_, answer)| &answer["content"]["application/json"]["schema"]["$ref"]);
            if bodies.any(|name| name.is_string() && name != "#/components/schemas/Object") {
                calls.insert((method.to_uppercase(), path.clone()));
            }
        }
    }
    calls
}

#[test]
fn the_file_that_pages_are_typed_from_is_the_description() {
    let described = format!("{:#}\n", TestHub::sqlite().description);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/openapi.json");
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        #[allow(clippy::disallowed_methods)]
        std::fs::write(&file, &described).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == described,
        "web/openapi.json is out of date; run CAPSID_UPDATE_DOCS=1 cargo test -p capsid-hub --test hub described, then \
         `npm run api` in web"
    );
}

#[test]
fn no_two_shapes_have_one_name() {
    // Each shape is told apart by its members; were there two of one name, one of them would be lost.
    let hub = TestHub::sqlite();
    let schemas = &hub.description["components"]["schemas"];
    for (name, member) in [
        ("Node", "reputation_score"),
        ("Task", "task_id"),
        ("Review", "rating"),
        ("Session", "token"),
        ("Account", "email"),
        ("Statement", "entries"),
        ("Webhook", "registered"),
        ("Swarm", "subtasks"),
    ] {
        assert!(schemas[name]["properties"][member].is_object(), "{name} is {}", json!(schemas[name]));
    }
}
