//! Tasks with bounties, offered by a node that has plenty.

use super::TestHub;
use capsid_model::time::Clock;
use capsid_rules::credits::CREDIT;
use capsid_store::nodes;
use capsid_store::work::bounties;
use capsid_store::work::bounties::{NewBounty, OfferOutcome};
use capsid_store::work::tasks::NewTask;
use serde_json::Value;

/// Who offers them.
pub const ASKER: &str = "node_asker";
/// How long a task may be done, where a test does not say.
pub const WEEK_MS: i64 = 7 * 24 * 3_600_000;

impl TestHub {
    /// Offers a task that pays so many credits. Its bounty has the same id with `b_` before it.
    pub fn offer(&self, task_id: &str, credits: i64) {
        self.offer_with(task_id, credits, |_| {});
    }

    /// The same with something changed.
    pub fn offer_with(&self, task_id: &str, credits: i64, change: impl Fn(&mut NewTask)) {
        let now = self.clock.now();
        let mut task = NewTask {
            task_id: task_id.to_owned(),
            asker: format!("node:{ASKER}"),
            title: format!("Mend {task_id}"),
            body: "It fails.".to_owned(),
            signals: "TimeoutError,retry".to_owned(),
            amount: credits * CREDIT,
            expires_at: now.0 + WEEK_MS,
            ..NewTask::default()
        };
        change(&mut task);
        let high_value = self.hub.config.work.high_value;
        let bounty = NewBounty {
            bounty_id: format!("b_{task_id}"),
            source: "bounty",
            request: None,
            listing_id: None,
            task,
            high_value,
            funds: capsid_rules::credits::CreditSource::GrantedFirst,
        };
        let offered = self.hub.store.write_now(move |tx| {
            nodes::lock_or_register(tx, ASKER, 1_000_000 * CREDIT, now)?;
            bounties::offer(tx, &bounty, now)
        });
        assert!(matches!(offered, Ok(OfferOutcome::Done(_))), "{offered:?}");
    }

    /// Sets a node's reputation.
    pub fn set_reputation(&self, node: &str, reputation: f64) {
        self.change(&format!("UPDATE nodes SET reputation_override = {reputation} WHERE node_id = '{node}'"));
    }

    /// Runs a statement, which must change something.
    pub fn change(&self, sql: &str) {
        let sql: &'static str = Box::leak(sql.to_owned().into_boxed_str());
        let changed = self.hub.store.write_now(move |tx| tx.run(sql, &[])).unwrap();
        assert!(changed > 0, "{sql}");
    }

    /// Does what is due by now.
    pub fn run_jobs(&self) {
        self.runtime.block_on(capsid_hub::jobs::run_now(&self.hub)).unwrap();
    }

    /// What a node is told in its next heartbeat, by kind.
    pub fn heartbeat_events(&self, node: &str, secret: &str) -> Vec<Value> {
        let beat = serde_json::json!({ "node_id": node });
        let answer = self.post_as(secret, "/a2a/heartbeat", &beat).expect(200);
        answer["events"].as_array().unwrap().clone()
    }
}
