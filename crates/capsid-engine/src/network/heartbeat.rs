//! The heartbeat: the hub hears that this node is there, and tells what is new. The rules of its pace are pure.

use capsid_client::http::{Answer, Call, Http};
use capsid_client::{Node, Settings};
use capsid_model::text::inert_line;
use capsid_model::{Code, Object, Problem, Result, Value, json};
use std::time::Duration;

/// How often where nobody says.
const USUAL: Duration = Duration::from_secs(6 * 60);
/// Never more often.
const LEAST: Duration = Duration::from_secs(15);
/// Never less often.
const MOST: Duration = Duration::from_secs(60 * 60);
/// The first pause after a failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);
/// What is waited beyond what a busy hub asks for.
const COURTESY: Duration = Duration::from_secs(5);

/// How a heartbeat went.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// It was taken; the hub may say when it wants the next.
    Fine(Option<Duration>),
    /// The hub does not know this node.
    Unknown,
    /// It came too soon.
    Busy(Option<Duration>),
    /// It did not arrive.
    Failed,
}

/// The pace of heartbeats.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// What the user asks for.
    asked: Option<Duration>,
    failures: u32,
}

impl Pace {
    /// The pace that `HEARTBEAT_INTERVAL_MS` asks for, or the hub's.
    pub fn new(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let asked = env("HEARTBEAT_INTERVAL_MS").and_then(|text| text.trim().parse().ok());
        Self { asked: asked.map(Duration::from_millis), failures: 0 }
    }

    /// How long to wait before the next one.
    pub fn after(&mut self, heard: &Heard) -> Duration {
        match heard {
            Heard::Fine(next) => {
                self.failures = 0;
                self.asked.or(*next).unwrap_or(USUAL).clamp(LEAST, MOST)
            }
            // After a hello the hub knows this node; one that still does not is no better than one that is away.
            Heard::Unknown if self.failures == 0 => {
                self.failures = 1;
                Duration::ZERO
            }
            Heard::Busy(asked) => asked.unwrap_or(FIRST_PAUSE).saturating_add(COURTESY).clamp(LEAST, MOST),
            Heard::Unknown | Heard::Failed => {
                self.failures = self.failures.saturating_add(1);
                let doubled = 2_u32.saturating_pow(self.failures.saturating_sub(1).min(10));
                FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
            }
        }
    }
}

/// What a heartbeat tells the hub.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// How many genes are in the store.
    pub genes: usize,
    /// How many capsules.
    pub capsules: usize,
    /// Whether this node takes work.
    pub worker: bool,
}

/// What the hub tells in return.
#[derive(Debug, Clone, Default)]
pub struct News {
    /// Whether a task was given to this node, or one is late.
    pub assigned: bool,
    /// How many tasks it could take.
    pub available: usize,
    /// How many tasks are late.
    pub overdue: usize,
    /// What the node holds.
    pub credits: Option<f64>,
}

/// Sends heartbeats.
pub struct Heart {
    node: Node,
    http: Http,
}

impl Heart {
    /// Prepares to send; nothing is sent yet.
    pub fn new(node: Node, settings: &Settings) -> Result<Self> {
        Ok(Self { http: Http::new(settings)?, node })
    }

    /// Says hello.
    pub fn hello(&self, told: &Told) -> Result<Object> {
        let payload = json!({"capabilities": {}, "gene_count": told.genes, "capsule_count": told.capsules});
        Ok(self.node.hello(payload.as_object().cloned().unwrap_or_default())?.payload)
    }

    /// Sends one heartbeat. A hub that is away, busy or wrong is an answer too.
    pub fn beat(&self, told: &Told) -> (Heard, News, Option<Problem>) {
        let failed = |problem: Problem| (Heard::Failed, News::default(), Some(problem));
        let known = match self.node.known() {
            Ok(known) => known,
            Err(problem) => return failed(problem),
        };
        let body = json!({
            "node_id": self.node.id(),
            "sender_id": self.node.id(),
            "version": env!("CARGO_PKG_VERSION"),
            "gene_count": told.genes,
            "capsule_count": told.capsules,
            "worker_enabled": told.worker,
            "max_load": 1,
        });
        let call = Call {
            method: "POST",
            path: "/a2a/heartbeat",
            body: Some(&body),
            bearer: known.secret.as_deref(),
            secret_version: known.secret_version,
        };
        match self.http.call(call) {
            Ok(answer) => read(&answer),
            Err(problem) => failed(problem),
        }
    }
}

fn read(answer: &Answer) -> (Heard, News, Option<Problem>) {
    let word = |name: &str| answer.body.get(name).and_then(Value::as_str).unwrap_or_default();
    let unknown = |word: &str| matches!(word, "unknown_node" | "node_not_found" | "node_secret_required");
    if unknown(word("status")) || (!answer.ok() && unknown(word("error"))) {
        return (Heard::Unknown, News::default(), None);
    }
    if answer.status == 429 {
        return (Heard::Busy(answer.retry_after), News::default(), None);
    }
    if !answer.ok() {
        let why = inert_line(capsid_model::text::cut(word("error"), 100));
        let problem = Problem::new(
            Code::HubRefused,
            format!("The hub refused the heartbeat ({} `{why}`).", answer.status),
        );
        return (Heard::Failed, News::default(), Some(problem));
    }
    (Heard::Fine(interval(&answer.body)), news(&answer.body), None)
}

fn interval(body: &Value) -> Option<Duration> {
    let told =
        ["next_heartbeat_ms", "heartbeat_interval_ms"].iter().find_map(|name| body.get(name)?.as_u64());
    told.map(Duration::from_millis)
}

fn news(body: &Value) -> News {
    let list = |name: &str| body.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let events = list("pending_events").iter().chain(list("events"));
    let assigned = events
        .filter_map(|event| event.get("type").and_then(Value::as_str))
        .any(|kind| kind == "task_assigned");
    let overdue = list("overdue_tasks").len();
    News {
        assigned: assigned || overdue > 0,
        available: list("available_tasks").len(),
        overdue,
        credits: body.get("credit_balance").and_then(Value::as_f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(asked: Option<&str>) -> Pace {
        Pace::new(&|name| (name == "HEARTBEAT_INTERVAL_MS").then(|| asked.map(str::to_owned)).flatten())
    }

    #[test]
    fn the_pace_is_the_users_then_the_hubs_and_always_bounded() {
        let ms = Duration::from_millis;
        assert_eq!(pace(None).after(&Heard::Fine(None)), USUAL);
        assert_eq!(pace(None).after(&Heard::Fine(Some(ms(300_000)))), ms(300_000));
        assert_eq!(pace(None).after(&Heard::Fine(Some(ms(1)))), LEAST);
        assert_eq!(pace(None).after(&Heard::Fine(Some(ms(u64::MAX)))), MOST);
        assert_eq!(pace(Some("60000")).after(&Heard::Fine(Some(ms(300_000)))), ms(60_000));
        assert_eq!(pace(Some("nonsense")).after(&Heard::Fine(None)), USUAL);
    }

    #[test]
    fn failures_double_the_pause_and_success_ends_it() {
        let mut pace = pace(None);
        let minutes: Vec<u64> = (0..8).map(|_| pace.after(&Heard::Failed).as_secs() / 60).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 30, 30, 30]);
        pace.after(&Heard::Fine(None));
        assert_eq!(pace.after(&Heard::Failed), FIRST_PAUSE);
    }

    #[test]
    fn a_stranger_says_hello_at_once_but_not_for_ever() {
        let mut pace = pace(None);
        assert_eq!(pace.after(&Heard::Unknown), Duration::ZERO);
        assert!(pace.after(&Heard::Unknown) >= FIRST_PAUSE);
        assert_eq!(pace.after(&Heard::Busy(Some(Duration::from_secs(60)))), Duration::from_secs(65));
        assert!(pace.after(&Heard::Busy(Some(Duration::MAX))) <= MOST);
    }

    #[test]
    fn answers_are_read_whatever_they_hold() {
        let answer = |status, body: Value| Answer { status, body, retry_after: None };
        assert_eq!(read(&answer(200, json!({"status": "unknown_node"}))).0, Heard::Unknown);
        assert_eq!(read(&answer(429, json!({"error": "rate_limited"}))).0, Heard::Busy(None));
        assert_eq!(read(&answer(500, json!({"error": 7}))).0, Heard::Failed);
        assert_eq!(read(&answer(200, json!([]))).0, Heard::Fine(None));
        let (_, news, _) = read(&answer(
            200,
            json!({"status": "ok", "pending_events": [{"type": "task_assigned"}, 5], "available_tasks": [{}], "overdue_tasks": {}}),
        ));
        assert!(news.assigned && news.available == 1 && news.overdue == 0);
    }
}
