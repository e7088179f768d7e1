//! The part of the story with people in it: an account makes a node its own, a bounty is paid, and work is shared.

use super::node::DemoNode;
use super::program::story_broke;
use super::stage::Stage;
use crate::output::{NAME, paint};
use capsid_client::config::ClientConfig;
use capsid_client::http::{HttpAnswer, HttpCall, HttpClient};
use capsid_hub::random::{Random, SystemRandom};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value, json};

/// Runs it.
pub(super) fn run_market_story(
    url: &str,
    shop: &DemoNode,
    invoices: &DemoNode,
    validator: &DemoNode,
    asset: &str,
) -> Result<()> {
    let stage = &*shop.stage;
    stage.begin_step(
        "Ann and Ben: people with accounts",
        "A person makes a node theirs, and pays others for what they need.",
    )?;
    let people = DemoUsers { hub: HttpClient::new(&ClientConfig::new(url, true)?)?, stage };
    let ann = people.register("ann")?;
    let ben = people.register("ben")?;
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
fn ann_solution(people: &DemoUsers<'_>, ann: &str) -> Result<()> {
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
    people.stage.record(b"Ann tells the graph what no asset says: the price service causes TimeoutError.\n");
    Ok(())
}

fn bounty_that_is_paid(people: &DemoUsers<'_>, ben: &str, shop: &DemoNode, asset: &str) -> Result<()> {
    let title = "Calls to the price service run out of time";
    let (bounty, task) = people.offer(ben, title, 40, "TimeoutError,timeout")?;
    shop.capsid_unseen(&["node", "claim", &task])?;
    shop.capsid_unseen(&["node", "complete", &task, asset])?;
    people.call("POST", &format!("/bounty/{bounty}/accept"), &json!({}), ben)?;
    people.stage.line("  shop hands in what it knows, Ben accepts it, and the credits are shop's");
    Ok(())
}

fn work_that_is_shared(
    people: &DemoUsers<'_>,
    ann: &str,
    invoices: &DemoNode,
    validator: &DemoNode,
) -> Result<()> {
    let title = "Invoices in two currencies, with tests";
    let (_, task) = people.offer(ann, title, 60, "feature_request,currency")?;
    invoices.capsid_unseen(&["node", "claim", &task])?;
    let parts =
        ["--part", "Convert amounts", "--weight", "0.45", "--part", "Show both amounts", "--weight", "0.35"];
    let words: Vec<&str> = ["node", "propose", task.as_str()].into_iter().chain(parts).collect();
    invoices.capsid_unseen(&words)?;
    validator.capsid_unseen(&["node", "claim", &format!("{task}_s1")])?;
    invoices.capsid_unseen(&["node", "swarm", &task])?;
    people.stage.line("  invoices divides the work into parts, and validator takes one");
    Ok(())
}

/// A password that nobody else knows.
pub(super) fn new_password() -> String {
    let mut bytes = [0; 12];
    SystemRandom.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What people do with a browser.
struct DemoUsers<'a> {
    hub: HttpClient,
    stage: &'a Stage,
}

impl DemoUsers<'_> {
    /// Makes an account with a password that nobody keeps; gives the token of its session. On a hub that knows the name
    /// from an earlier story it is another one.
    fn register(&self, name: &str) -> Result<String> {
        let password = new_password();
        let suffix = &new_password()[..8];
        let mut refusal = Value::Null;
        for email in [format!("{name}@example.org"), format!("{name}-{suffix}@example.org")] {
            let account = json!({ "email": email, "password": password });
            let answer = self.answer("POST", "/auth/register", &account, "")?;
            if answer.ok() {
                let password = paint(NAME, &password);
                self.stage.line(format_args!("  {email} has an account, with the password {password}"));
                return text(&answer.body, "token");
            }
            refusal = answer.body;
        }
        Err(refused(&refusal))
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
        self.stage.line(format_args!("  {amount} credits for: {title}"));
        Ok((text(&made, "bounty_id")?, text(&made, "task_id")?))
    }

    fn call(&self, method: &str, path: &str, body: &Value, token: &str) -> Result<Value> {
        let answer = self.answer(method, path, body, token)?;
        if answer.ok() { Ok(answer.body) } else { Err(refused(&answer.body)) }
    }

    fn answer(&self, method: &str, path: &str, body: &Value, token: &str) -> Result<HttpAnswer> {
        let bearer = Some(token).filter(|token| !token.is_empty());
        self.hub.call(HttpCall { method, path, body: Some(body), bearer, secret_version: None })
    }
}

/// What a hub does not let people do ends the story, and is no fault of the program.
fn refused(answer: &Value) -> Problem {
    let message = answer.get("message").or_else(|| answer.get("error")).and_then(Value::as_str);
    let reason = inert_line(cut(message.unwrap_or("it gave no reason"), 200));
    Problem::new(Code::HubRefused, format!("The hub refused a step of the story: {reason}")).fix(
        "Tell the story on a scratch hub: `capsid up --demo`, or `capsid demo --network` without `--hub`.",
    )
}

fn text(value: &Value, key: &str) -> Result<String> {
    let member = value.get(key).and_then(Value::as_str).map(str::to_owned);
    member.ok_or_else(|| story_broke(&format!("there is no `{key}`")))
}
