//! The heartbeat: reports to the hub that this node is alive, and reads the hub's advice. The pace rules are pure.

use capsid_client::{ClientConfig, NodeClient};
use capsid_model::backoff::BackoffPolicy;
use capsid_model::{Code, Object, Problem, Result, Value, json};
use std::time::Duration;

/// The default interval.
const DEFAULT: Duration = Duration::from_secs(6 * 60);
/// Never more often.
const LEAST: Duration = Duration::from_secs(15);
/// Never less often.
const MAX: Duration = Duration::from_secs(60 * 60);
const BACKOFF: BackoffPolicy = BackoffPolicy::doubling(60_000, 30 * 60_000);
/// What is waited beyond what a busy hub asks for.
const COURTESY: Duration = Duration::from_secs(5);

/// How a heartbeat went.
#[derive(Debug, Clone, PartialEq)]
pub enum HeartbeatOutcome {
    /// It was taken; the hub may say when it wants the next.
    Fine(Option<Duration>),
    Busy(Option<Duration>),
    Failed,
}

/// The pace of heartbeats.
#[derive(Debug, Clone, Default)]
pub struct HeartbeatPace {
    /// What the user asks for.
    configured: Option<Duration>,
    failures: u64,
}

impl HeartbeatPace {
    /// The pace that `HEARTBEAT_INTERVAL_MS` asks for, or the hub's.
    pub fn new(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let configured = env("HEARTBEAT_INTERVAL_MS").and_then(|text| text.trim().parse().ok());
        Self { configured: configured.map(Duration::from_millis), failures: 0 }
    }

    /// How long to wait before the next one.
    pub fn after(&mut self, outcome: &HeartbeatOutcome) -> Duration {
        match outcome {
            HeartbeatOutcome::Fine(next) => {
                self.failures = 0;
                self.configured.or(*next).unwrap_or(DEFAULT).clamp(LEAST, MAX)
            }
            HeartbeatOutcome::Busy(retry_after) => {
                retry_after.unwrap_or(BACKOFF.pause(1)).saturating_add(COURTESY).clamp(LEAST, MAX)
            }
            HeartbeatOutcome::Failed => {
                self.failures = self.failures.saturating_add(1);
                BACKOFF.pause(self.failures)
            }
        }
    }
}

/// What a heartbeat reports to the hub.
#[derive(Debug, Clone, Default)]
pub struct HeartbeatReport {
    /// How many genes are in the store.
    pub genes: usize,
    pub capsules: usize,
    /// Whether this node takes work.
    pub worker: bool,
}

/// What the hub answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HubAdvice {
    /// Whether there is a task for this node: one that it has, one that is late, or one that it could take.
    pub work: bool,
    /// How many tasks are late.
    pub overdue: usize,
}

/// Sends heartbeats.
pub struct HeartbeatSender(NodeClient);

impl HeartbeatSender {
    /// Prepares to send; nothing is sent yet. Each heartbeat is tried once: the pace decides when the next one is due.
    pub fn new(node: &NodeClient) -> Result<Self> {
        node.with_settings(&ClientConfig { retries: 0, ..node.settings().clone() }).map(Self)
    }

    /// Sends the hello message.
    pub fn hello(&self, report: &HeartbeatReport) -> Result<Object> {
        let payload =
            json!({"capabilities": {}, "gene_count": report.genes, "capsule_count": report.capsules});
        Ok(self.0.hello(payload.as_object().cloned().unwrap_or_default())?.payload)
    }

    /// Sends one heartbeat. A hub that is away, busy or wrong is an answer too.
    pub fn send(&self, report: &HeartbeatReport) -> (HeartbeatOutcome, HubAdvice, Option<Problem>) {
        let body = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "gene_count": report.genes,
            "capsule_count": report.capsules,
            "worker_enabled": report.worker,
            "max_load": 1,
        });
        parse_response(self.0.heartbeat(body.as_object().cloned().unwrap_or_default()))
    }
}

fn parse_response(answer: Result<Object>) -> (HeartbeatOutcome, HubAdvice, Option<Problem>) {
    match answer {
        Ok(answer) => {
            let answer = answer.into();
            (HeartbeatOutcome::Fine(interval(&answer)), news(&answer), None)
        }
        Err(problem) if problem.code == Code::HubBusy => {
            (HeartbeatOutcome::Busy(problem.retry_after), HubAdvice::default(), None)
        }
        Err(problem) => (HeartbeatOutcome::Failed, HubAdvice::default(), Some(problem)),
    }
}

fn interval(body: &Value) -> Option<Duration> {
    let delay_ms =
        ["next_heartbeat_ms", "heartbeat_interval_ms"].iter().find_map(|name| body.get(name)?.as_u64());
    delay_ms.map(Duration::from_millis)
}

fn news(body: &Value) -> HubAdvice {
    let list = |name: &str| body.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut events = list("pending_events").iter().chain(list("events"));
    let overdue = list("overdue_tasks").len();
    HubAdvice {
        work: overdue > 0 || !list("available_tasks").is_empty() || events.any(has_work_changes),
        overdue,
    }
}

/// Whether an event is about something that this node has to do or could do.
pub(super) fn has_work_changes(event: &Value) -> bool {
    let kinds = [
        "task_assigned",
        "task_available",
        "high_value_task",
        "swarm_subtask_available",
        "swarm_aggregation_available",
    ];
    event.get("type").and_then(Value::as_str).is_some_and(|kind| kinds.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(configured: Option<&str>) -> HeartbeatPace {
        HeartbeatPace::new(&|name| {
            (name == "HEARTBEAT_INTERVAL_MS").then(|| configured.map(str::to_owned)).flatten()
        })
    }

    #[test]
    fn the_pace_is_the_users_then_the_hubs_and_always_bounded() {
        let ms = Duration::from_millis;
        assert_eq!(pace(None).after(&HeartbeatOutcome::Fine(None)), DEFAULT);
        assert_eq!(pace(None).after(&HeartbeatOutcome::Fine(Some(ms(300_000)))), ms(300_000));
        assert_eq!(pace(None).after(&HeartbeatOutcome::Fine(Some(ms(1)))), LEAST);
        assert_eq!(pace(None).after(&HeartbeatOutcome::Fine(Some(ms(u64::MAX)))), MAX);
        assert_eq!(pace(Some("60000")).after(&HeartbeatOutcome::Fine(Some(ms(300_000)))), ms(60_000));
        assert_eq!(pace(Some("nonsense")).after(&HeartbeatOutcome::Fine(None)), DEFAULT);
    }

    #[test]
    fn failures_double_the_pause_and_success_ends_it() {
        let mut pace = pace(None);
        let minutes: Vec<u64> =
            (0..8).map(|_| pace.after(&HeartbeatOutcome::Failed).as_secs() / 60).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 30, 30, 30]);
        pace.after(&HeartbeatOutcome::Fine(None));
        assert_eq!(pace.after(&HeartbeatOutcome::Failed), BACKOFF.pause(1));
    }

    #[test]
    fn a_busy_hub_is_given_the_time_it_asks_for_and_a_little_more() {
        let mut pace = pace(None);
        assert_eq!(
            pace.after(&HeartbeatOutcome::Busy(Some(Duration::from_secs(60)))),
            Duration::from_secs(65)
        );
        assert!(pace.after(&HeartbeatOutcome::Busy(Some(Duration::MAX))) <= MAX);
    }

    #[test]
    fn answers_are_read_whatever_they_hold() {
        let answer = |body: Value| parse_response(Ok(body.as_object().cloned().unwrap()));
        let wait = Some(Duration::from_secs(9));
        let busy = Problem::new(Code::HubBusy, "later").retry_after(wait);
        assert_eq!(parse_response(Err(busy)), (HeartbeatOutcome::Busy(wait), HubAdvice::default(), None));
        let away = Problem::new(Code::HubUnreachable, "away");
        assert_eq!(parse_response(Err(away)).0, HeartbeatOutcome::Failed);
        assert_eq!(answer(json!({"next_heartbeat_ms": "soon"})).0, HeartbeatOutcome::Fine(None));
        let (_, advice, _) = answer(
            json!({"status": "ok", "pending_events": [{"type": "task_assigned"}, 5], "available_tasks": [{}], "overdue_tasks": {}}),
        );
        assert!(advice.work && advice.overdue == 0);
        let (_, advice, _) = answer(json!({"pending_events": [{"type": "bounty_paid"}], "events": 7}));
        assert_eq!(advice, HubAdvice::default());
    }
}
