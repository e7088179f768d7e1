//! The part of the story with people in it: an account makes a node its own, a bounty is paid, and work is shared.

use super::chapter;
use super::node::DemoNode;
use super::program::story_broke;
use crate::output::{self, NAME, paint};
use capsid_client::config::ClientConfig;
use capsid_client::http::{HttpCall, HttpClient};
use capsid_hub::random::{Random, SystemRandom};
use capsid_model::{Result, Value, json};

/// Runs it.
pub(super) fn run_market_story(
    url: &str,
    shop: &DemoNode,
    invoices: &DemoNode,
    validator: &DemoNode,
    asset: &str,
) -> Result<()> {
    chapter("Ann and Ben: people with accounts");
    let people = DemoUsers { hub: HttpClient::new(&ClientConfig::new(url, true)?)? };
    let ann = people.register("ann@example.org")?;
    let ben = people.register("ben@example.org")?;
    output::line("Ann opens the claim address that her node was given, and the node is hers.");
    people.claim(shop, &ann)?;
    people.claim(invoices, &ben)?;
    people.vote(asset, &ben)?;
    ann_solution(&people, &ann)?;
    bounty_that_is_paid(&people, &ben, shop, asset)?;
    work_that_is_shared(&people, &ann, invoices, validator)?;
    people.offer(&ann, "Speed up the nightly report", 25, "SlowQuery,missing index")?;
    Ok(())
}

/// No asset says what is behind a signal; people know, and can report it.
fn ann_solution(people: &DemoUsers, ann: &str) -> Result<()> {
    let event = json!({
        "entities": [
            { "name": "price service", "entity_type": "service", "properties": { "answers_within_ms": 800 } },
            { "name": "exchange rates", "entity_type": "service", "properties": {} },
        ],
        "relations": [
            { "source_name": "price service", "source_type": "service", "type": "causes",
              "target_name": "TimeoutError", "target_type": "signal" },
            { "source_name": "price service", "source_type": "service", "type": "depends_on",
              "target_name": "exchange rates", "target_type": "service" },
        ],
    });
    people.call("POST", "/kg/ingest", &event, ann)?;
    output::line("Ann tells the graph what no asset says: price service → causes → TimeoutError.");
    Ok(())
}

fn bounty_that_is_paid(people: &DemoUsers, ben: &str, shop: &DemoNode, asset: &str) -> Result<()> {
    chapter("Ben offers credits, and shop has the solution");
    let title = "Calls to the price service run out of time";
    let (bounty, task) = people.offer(ben, title, 40, "TimeoutError,timeout")?;
    shop.capsid(&["node", "claim", &task])?;
    shop.capsid(&["node", "complete", &task, asset])?;
    people.call("POST", &format!("/bounty/{bounty}/accept"), &json!({}), ben)?;
    output::line("Ben accepts what was handed in. The credits are shop's.");
    Ok(())
}

fn work_that_is_shared(
    people: &DemoUsers,
    ann: &str,
    invoices: &DemoNode,
    validator: &DemoNode,
) -> Result<()> {
    chapter("Ann asks for more than one node can do");
    let title = "Invoices in two currencies, with tests";
    let (_, task) = people.offer(ann, title, 60, "feature_request,currency")?;
    invoices.capsid(&["node", "claim", &task])?;
    let parts =
        ["--part", "Convert amounts", "--weight", "0.45", "--part", "Show both amounts", "--weight", "0.35"];
    let words: Vec<&str> = ["node", "propose", task.as_str()].into_iter().chain(parts).collect();
    invoices.capsid(&words)?;
    validator.capsid(&["node", "claim", &format!("{task}_s1")])?;
    invoices.capsid(&["node", "swarm", &task])
}

/// A password that nobody else knows.
pub(super) fn new_password() -> String {
    let mut bytes = [0; 12];
    SystemRandom.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What people do with a browser.
struct DemoUsers {
    hub: HttpClient,
}

impl DemoUsers {
    /// Makes an account with a password that nobody keeps; gives the token of its session.
    fn register(&self, email: &str) -> Result<String> {
        let password = new_password();
        let made =
            self.call("POST", "/auth/register", &json!({ "email": email, "password": password }), "")?;
        output::line(format_args!("  {email} has an account, with the password {}", paint(NAME, password)));
        text(&made, "token")
    }

    fn claim(&self, node: &DemoNode, token: &str) -> Result<()> {
        let greeting: Value =
            serde_json::from_str(&node.quietly(&["node", "hello", "--json"])?).unwrap_or_default();
        let code = text(&greeting, "claim_code")?;
        self.call("POST", &format!("/claim/{code}"), &json!({}), token).map(drop)
    }

    fn vote(&self, asset: &str, token: &str) -> Result<()> {
        self.call("POST", &format!("/a2a/assets/{asset}/vote"), &json!({ "vote": "up" }), token).map(drop)
    }

    /// Offers a bounty; gives its id and that of its task.
    fn offer(&self, token: &str, title: &str, amount: u32, signals: &str) -> Result<(String, String)> {
        let offer = json!({ "title": title, "amount": amount, "signals": signals });
        let made = self.call("POST", "/bounty/create", &offer, token)?;
        output::line(format_args!("  {amount} credits for: {title}"));
        Ok((text(&made, "bounty_id")?, text(&made, "task_id")?))
    }

    fn call(&self, method: &str, path: &str, body: &Value, token: &str) -> Result<Value> {
        let bearer = Some(token).filter(|token| !token.is_empty());
        let answer =
            self.hub.call(HttpCall { method, path, body: Some(body), bearer, secret_version: None })?;
        if answer.ok() { Ok(answer.body) } else { Err(story_broke(&answer.body.to_string())) }
    }
}

fn text(value: &Value, key: &str) -> Result<String> {
    let member = value.get(key).and_then(Value::as_str).map(str::to_owned);
    member.ok_or_else(|| story_broke(&format!("there is no `{key}`")))
}
