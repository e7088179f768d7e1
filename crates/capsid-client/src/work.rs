//! The REST calls: heartbeat, events, tasks, stake. Plain JSON in and out; the node's name is filled in.

use crate::node::{NodeClient, encoded};
use capsid_model::{Object, Result, Value, json};
use std::time::Duration;

/// The longest that a hub holds a poll.
const MAX_POLL: Duration = Duration::from_secs(25);

impl NodeClient {
    /// Sends a heartbeat and returns the hub's news. If the hub does not know the node, hello is sent first.
    pub fn heartbeat(&self, body: Object) -> Result<Object> {
        let body = self.named(body);
        let mut answer = self.object("/a2a/heartbeat", &body)?;
        if answer.get("status").and_then(Value::as_str) == Some("unknown_node") {
            self.hello(Object::new())?;
            answer = self.object("/a2a/heartbeat", &body)?;
        }
        match answer.get("status").and_then(Value::as_str) {
            Some("unknown_node") => Err(self.http.odd("it greets this node and does not know it")),
            _ => Ok(answer),
        }
    }

    /// Waits for events, as long as the hub holds the call and no longer than `timeout`. Gives the whole answer: `events`,
    /// and a `cursor` that is sent as `after` with the next poll, so that none is lost. Without `after` the hub goes on
    /// from what it gave last.
    pub fn events_poll_after(&self, timeout: Duration, after: Option<&Value>) -> Result<Object> {
        let timeout = timeout.min(MAX_POLL);
        let mut settings = self.settings().clone();
        // The hub answers when the time is over, and the answer has to travel.
        settings.timeout = settings.timeout.max(timeout + Duration::from_secs(10));
        let mut body = json!({"node_id": self.id(), "timeout_ms": timeout.as_millis() as u64});
        if let Some(after) = after {
            body["after"] = after.clone();
        }
        self.with_settings(&settings)?.object("/a2a/events/poll", &body)
    }

    /// Open tasks, those that pay best first.
    pub fn task_list(&self, limit: usize) -> Result<Value> {
        let limit = limit.to_string();
        self.get("/a2a/task/list", &[("node_id", self.id()), ("limit", &limit)])
    }

    /// Tasks that this node took.
    pub fn task_my(&self, limit: usize) -> Result<Value> {
        let limit = limit.to_string();
        self.get("/a2a/task/my", &[("node_id", self.id()), ("limit", &limit)])
    }

    /// Takes a task; by when it is promised is an ISO 8601 time. Taking what this node has already changes nothing.
    pub fn task_claim(&self, task_id: &str, deadline: Option<&str>) -> Result<Value> {
        let mut body = self.about(task_id);
        if let Some(deadline) = deadline {
            body["commitment_deadline"] = deadline.into();
        }
        self.post_again("/a2a/task/claim", &body)
    }

    /// Submits the asset for a task.
    pub fn task_complete(&self, task_id: &str, asset_id: &str) -> Result<Value> {
        let mut body = self.about(task_id);
        body["asset_id"] = asset_id.into();
        self.post("/a2a/task/complete", &body)
    }

    /// Gives a task back.
    pub fn task_release(&self, task_id: &str) -> Result<Value> {
        self.post("/a2a/task/release", &self.about(task_id))
    }

    /// Cuts a task of this node into parts: each has a `title` and a `weight`, and perhaps `signals` and a `body`.
    pub fn propose(&self, task_id: &str, subtasks: &Value) -> Result<Value> {
        let mut body = self.about(task_id);
        body["subtasks"] = subtasks.clone();
        self.post("/a2a/task/propose-decomposition", &body)
    }

    /// The status of a task's parts.
    pub fn swarm(&self, task_id: &str) -> Result<Value> {
        self.get(&format!("/a2a/task/swarm/{}", encoded(task_id)), &[])
    }

    /// Stakes credits to become a validator. Staking the same amount again changes nothing.
    pub fn stake(&self, amount: f64) -> Result<Value> {
        let body = json!({"sender_id": self.id(), "node_id": self.id(), "payload": {"stake_amount": amount}});
        self.post_again("/a2a/validator/stake", &body)
    }

    /// Withdraws the stake.
    pub fn unstake(&self) -> Result<Value> {
        self.post_again("/a2a/validator/unstake", &json!({"sender_id": self.id()}))
    }

    /// The stake.
    pub fn validator_status(&self) -> Result<Value> {
        self.get("/a2a/validator/status", &[("node_id", self.id())])
    }

    /// What the hub asks this validator to reproduce: `task_id`, `nonce`, `target_asset_id`, `validation_commands`.
    pub fn validation_tasks(&self) -> Result<Vec<Value>> {
        let payload = json!({"tasks_only": true, "validation_only": true, "include_tasks": true});
        let mut answer = self.message("fetch", payload)?;
        match answer.shift_remove("validation_tasks") {
            Some(Value::Array(tasks)) => Ok(tasks),
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(_) => Err(self.http.odd("its `validation_tasks` are no list")),
        }
    }

    fn about(&self, task_id: &str) -> Value {
        json!({"task_id": task_id, "node_id": self.id()})
    }

    fn named(&self, mut body: Object) -> Value {
        for name in ["node_id", "sender_id"] {
            body.insert(name.to_owned(), self.id().into());
        }
        body.into()
    }

    fn object(&self, path: &str, body: &Value) -> Result<Object> {
        match self.post_again(path, body)? {
            Value::Object(object) => Ok(object),
            _ => Err(self.http.odd("its answer is no object")),
        }
    }
}
