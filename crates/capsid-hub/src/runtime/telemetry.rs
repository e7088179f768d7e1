//! What the hub counts of itself, for Prometheus. Labels are route patterns, classes and codes, of which there are few;
//! never an id, an address or anything that a client made up.

use crate::error::HubCode;
use crate::runtime::log_queue;
use capsid_model::time::Time;
use capsid_rules::credits::CREDIT;
use capsid_store::system::backlog::HubBacklog;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use std::sync::Arc;
use std::time::Duration;

const BUCKETS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

const REQUESTS: &str = "capsid_hub_requests_total";
const SECONDS: &str = "capsid_hub_request_seconds";
const IN_FLIGHT: &str = "capsid_hub_requests_in_flight";
const REFUSALS: &str = "capsid_hub_refusals_total";
const REFUSALS_BY_RULE: &str = "capsid_hub_refusals_by_rule_total";
const CONNECTIONS: &str = "capsid_hub_connections";
const TURNED_AWAY: &str = "capsid_hub_connections_turned_away_total";
const WRONG: &str = "capsid_hub_wrong_credentials_total";
const PANICS: &str = "capsid_hub_panics_total";
const WEBHOOK_CALLS: &str = "capsid_hub_webhook_calls_total";
const WEBHOOK_SECONDS: &str = "capsid_hub_webhook_call_seconds";
const WEBHOOKS_IN_FLIGHT: &str = "capsid_hub_webhook_calls_in_flight";
const EMBEDDING_CALLS: &str = "capsid_hub_embedding_calls_total";
const EMBEDDING_SECONDS: &str = "capsid_hub_embedding_call_seconds";
const EMBEDDINGS: &str = "capsid_hub_embeddings_loaded";
const LOG_DROPPED: &str = "capsid_hub_log_lines_dropped_total";
const CANDIDATES: &str = "capsid_hub_candidates_waiting";
const ESCROW: &str = "capsid_hub_escrow_held_credits";
const INDEX_LAG: &str = "capsid_hub_index_lag_assets";
const INDEX_LAG_SECONDS: &str = "capsid_hub_index_lag_seconds";
const JOB_AGE: &str = "capsid_hub_last_job_run_age_seconds";

/// The counters of one hub. Each hub of a process has its own.
pub struct Telemetry {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Default for Telemetry {
    fn default() -> Self {
        let builder = PrometheusBuilder::new();
        // Setting buckets fails only for an empty list.
        let builder = builder.set_buckets(BUCKETS).unwrap_or_default();
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        let telemetry = Self { recorder, handle };
        telemetry.record(describe);
        telemetry
    }
}

fn describe() {
    describe_counter!(REQUESTS, "Answers by route, method and class of status.");
    describe_histogram!(SECONDS, "Time until an answer began, by route.");
    describe_gauge!(IN_FLIGHT, "Requests that wait for their answer.");
    describe_counter!(REFUSALS, "Refusals by code, such as node_secret_invalid and server_busy.");
    describe_counter!(
        REFUSALS_BY_RULE,
        "Requests and connections kept out, by rule: host, origin, limits.publish, connections_per_address and so on."
    );
    describe_gauge!(CONNECTIONS, "Open connections.");
    describe_counter!(TURNED_AWAY, "Connections refused because too many were open.");
    describe_counter!(WRONG, "Wrong secrets, session tokens and API keys.");
    describe_counter!(PANICS, "Bugs that were caught.");
    describe_counter!(WEBHOOK_CALLS, "Calls to webhooks by outcome: delivered, retrying, dead or lost.");
    describe_histogram!(WEBHOOK_SECONDS, "Time that calls to webhooks took.");
    describe_gauge!(WEBHOOKS_IN_FLIGHT, "Calls to webhooks that are under way.");
    describe_counter!(EMBEDDING_CALLS, "Calls to the endpoint for embeddings, by what for and by outcome.");
    describe_histogram!(
        EMBEDDING_SECONDS,
        "Time that calls to the endpoint for embeddings took, by what for."
    );
    describe_gauge!(EMBEDDINGS, "Embeddings that questions are compared with.");
    describe_counter!(LOG_DROPPED, "Lines of the log that could not be written.");
    describe_gauge!(CANDIDATES, "Capsules that wait for promotion.");
    describe_gauge!(ESCROW, "Credits held for bounties, stakes and rewards.");
    describe_gauge!(INDEX_LAG, "Assets that the knowledge graph does not hold yet.");
    describe_gauge!(INDEX_LAG_SECONDS, "Age of the oldest of these assets.");
    describe_gauge!(JOB_AGE, "Seconds since each job last ran.");
    gauge!(WEBHOOKS_IN_FLIGHT).set(0.0);
    gauge!(IN_FLIGHT).set(0.0);
    gauge!(CONNECTIONS).set(0.0);
    counter!(TURNED_AWAY).absolute(0);
    counter!(WRONG).absolute(0);
    counter!(PANICS).absolute(0);
}

impl Telemetry {
    /// Everything, in the text form that Prometheus reads.
    pub fn text(&self) -> String {
        self.record(|| counter!(LOG_DROPPED).absolute(log_queue::dropped_lines()));
        self.handle.render()
    }

    /// Notes what waits in the database.
    pub fn record_backlog(&self, backlog: &HubBacklog, now: Time) {
        self.record(|| {
            gauge!(CANDIDATES).set(backlog.candidates as f64);
            gauge!(ESCROW).set(backlog.escrow as f64 / CREDIT as f64);
            for (job, at) in &backlog.jobs {
                let age = now.0.saturating_sub(*at).max(0) as f64 / 1000.0;
                gauge!(JOB_AGE, "job" => job.clone()).set(age);
            }
        });
    }

    /// Notes how far the index is behind.
    pub fn record_index_lag(&self, assets: i64, oldest: Option<Time>, now: Time) {
        self.record(|| {
            gauge!(INDEX_LAG).set(assets as f64);
            let age = oldest.map_or(0, |oldest| now.0.saturating_sub(oldest.0).max(0));
            gauge!(INDEX_LAG_SECONDS).set(age as f64 / 1000.0);
        });
    }

    /// Counts a request or a connection that a rule kept out.
    pub fn refused_by(&self, rule: &str) {
        self.record(|| counter!(REFUSALS_BY_RULE, "rule" => rule.to_owned()).increment(1));
    }

    /// Sums up what has been measured since the last time. Without it an unread histogram grows.
    pub fn drop_idle_series(&self) {
        self.handle.run_upkeep();
    }

    /// Counts a request as long as the returned guard lives.
    pub fn request(self: &Arc<Self>) -> InFlightGauge {
        self.open(IN_FLIGHT)
    }

    /// Counts a connection as long as the returned guard lives.
    pub fn connection(self: &Arc<Self>) -> InFlightGauge {
        self.open(CONNECTIONS)
    }

    /// Counts an answer. `route` is the pattern of a path, not the path.
    pub fn record_response(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let class = match status {
            100..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        self.record(|| {
            counter!(REQUESTS, "route" => route.to_owned(), "method" => method, "status" => class)
                .increment(1);
            histogram!(SECONDS, "route" => route.to_owned()).record(took.as_secs_f64());
        });
    }

    /// Counts a refusal.
    pub fn refused(&self, code: HubCode) {
        self.record(|| counter!(REFUSALS, "code" => code.as_str()).increment(1));
    }

    /// Counts a connection that was one too many.
    pub fn turned_away(&self) {
        self.record(|| counter!(TURNED_AWAY).increment(1));
    }

    /// Counts a wrong secret, token or key.
    pub fn wrong_credentials(&self) {
        self.record(|| counter!(WRONG).increment(1));
    }

    /// Counts a caught bug.
    pub fn panicked(&self) {
        self.record(|| counter!(PANICS).increment(1));
    }

    /// Counts a call to a webhook as long as the returned guard lives.
    pub fn webhook_call(self: &Arc<Self>) -> InFlightGauge {
        self.open(WEBHOOKS_IN_FLIGHT)
    }

    /// Counts a call to a webhook that was settled.
    pub fn webhook_called(&self, outcome: &'static str, took: Duration) {
        self.record(|| {
            counter!(WEBHOOK_CALLS, "outcome" => outcome).increment(1);
            histogram!(WEBHOOK_SECONDS).record(took.as_secs_f64());
        });
    }

    /// Counts a call to the endpoint for embeddings: `texts` of assets or a `question`.
    pub fn embeddings_asked(&self, what: &'static str, outcome: &'static str, took: Duration) {
        self.record(|| {
            counter!(EMBEDDING_CALLS, "for" => what, "outcome" => outcome).increment(1);
            histogram!(EMBEDDING_SECONDS, "for" => what).record(took.as_secs_f64());
        });
    }

    /// Tells how many embeddings questions are compared with.
    pub fn embeddings_loaded(&self, count: usize) {
        self.record(|| gauge!(EMBEDDINGS).set(count as f64));
    }

    fn open(self: &Arc<Self>, what: &'static str) -> InFlightGauge {
        self.record(|| gauge!(what).increment(1.0));
        InFlightGauge { telemetry: Arc::clone(self), what }
    }

    fn record<T>(&self, note: impl FnOnce() -> T) -> T {
        metrics::with_local_recorder(&self.recorder, note)
    }
}

/// Something that is under way.
pub struct InFlightGauge {
    telemetry: Arc<Telemetry>,
    what: &'static str,
}

impl Drop for InFlightGauge {
    fn drop(&mut self) {
        self.telemetry.record(|| gauge!(self.what).decrement(1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::Telemetry;
    use crate::error::HubCode;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn each_hub_counts_for_itself() {
        let (one, other) = (Arc::new(Telemetry::default()), Telemetry::default());
        let open = one.request();
        one.record_response("/a2a/hello", "POST", 429, Duration::from_millis(3));
        one.refused(HubCode::HelloRateLimit);
        let text = one.text();
        assert!(
            text.contains(r#"capsid_hub_requests_total{route="/a2a/hello",method="POST",status="4xx"} 1"#),
            "{text}"
        );
        assert!(text.contains(r#"capsid_hub_refusals_total{code="hello_rate_limit"} 1"#), "{text}");
        assert!(text.contains(r#"le="0.005"} 1"#), "{text}");
        assert!(text.contains("capsid_hub_requests_in_flight 1"), "{text}");
        drop(open);
        assert!(one.text().contains("capsid_hub_requests_in_flight 0"));
        assert!(!other.text().contains("hello"));
    }
}
