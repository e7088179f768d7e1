//! Tasks: what agents are asked to do.
//!
//! A task and its bounty change together, in one transaction, and always in the same order: the node, the whole task,
//! the part of it, the bounty, then the accounts. Whoever keeps to it waits for others, but never for each other.

pub mod access;
pub mod claim;
pub mod cleanup;
pub mod complete;
pub mod expire;
pub mod list;
pub mod submissions;

use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::row::{Json, row, select};
use crate::db::tx::Tx;
use crate::nodes::{self, NodeRow};
use crate::notifications::notices::NodeNotice;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::text::cut;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::models;
use capsid_rules::work::models::ModelRequirement;
use capsid_rules::work::tasks::{SubtaskRole, TaskState, TaskStatus};
use serde_json::{Map, Value};

/// How much of a task's signals a notice repeats.
const MAX_SIGNALS: usize = 500;

row! {
    /// A task.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TaskRow {
        /// Its place in the order of all tasks.
        pub seq: i64 = "t.seq",
        pub task_id: String = "t.task_id",
        /// Who asked: `user:…` or `node:…`.
        pub asker: String = "t.asker",
        pub title: String = "t.title",
        /// What is to be done.
        pub body: String = "t.body",
        /// What it is about, with commas between.
        pub signals: String = "t.signals",
        pub status: TaskStatus = "t.status",
        /// The bounty on it, or on the whole that it is a part of.
        pub bounty_id: Option<String> = "t.bounty_id",
        /// What it may earn, in milli-credits.
        pub amount: i64 = "t.amount",
        pub min_reputation: f64 = "t.min_reputation",
        pub min_model_tier: Option<i64> = "t.min_model_tier",
        /// Models that may do it.
        pub allowed_models: Option<Json<Vec<String>>> = "t.allowed_models",
        /// The only node that may take it.
        pub reserved_for: Option<String> = "t.reserved_for",
        /// Who works on it, or did.
        pub claimed_by: Option<String> = "t.claimed_by",
        pub claimed_at: Option<i64> = "t.claimed_at",
        /// The submission of whoever works on it.
        pub submission_id: Option<String> = "t.submission_id",
        /// By when it is promised.
        pub commitment_deadline: Option<i64> = "t.commitment_deadline",
        /// How often that was put off.
        pub extensions: i64 = "t.extensions",
        pub result_asset: Option<AssetId> = "t.result_asset",
        pub completed_at: Option<i64> = "t.completed_at",
        /// What part of another task it is.
        pub role: Option<SubtaskRole> = "t.swarm_role",
        /// The whole that it is a part of.
        pub parent_task_id: Option<String> = "t.parent_task_id",
        pub weight: Option<i64> = "t.weight",
        /// When it was cut into parts.
        pub decomposed_at: Option<i64> = "t.decomposed_at",
        pub created_at: i64 = "t.created_at",
        /// Until when it may be done.
        pub expires_at: i64 = "t.expires_at",
    }
}

impl TaskRow {
    /// How it stands, as far as its next state depends on it.
    pub fn state(&self) -> TaskState {
        TaskState {
            status: self.status,
            is_part: self.parent_task_id.is_some(),
            is_decomposed: self.decomposed_at.is_some(),
        }
    }

    /// Where it stands at a moment: a task whose time is over is expired, though nobody has written that down yet.
    pub fn status_at(&self, now: Time) -> TaskStatus {
        let waits = matches!(self.status, TaskStatus::Open | TaskStatus::Claimed);
        if waits && self.expires_at <= now.0 { TaskStatus::Expired } else { self.status }
    }

    /// The models that may do it whatever their tier.
    pub fn allowed_models(&self) -> &[String] {
        self.allowed_models.as_ref().map_or(&[], |models| &models.0)
    }

    /// Whether a node's model is good enough for it.
    pub fn allows_model(&self, model: Option<&str>, tiers: &[(String, i64)]) -> bool {
        let wanted = ModelRequirement { min_tier: self.min_model_tier, allowed: self.allowed_models() };
        models::is_enough(model, wanted, tiers)
    }

    /// A notice to a node about the self.
    pub(crate) fn notice(&self, kind: &'static str) -> NodeNotice {
        let mut payload = Map::new();
        let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
        put("type", kind.into());
        put("task_id", self.task_id.clone().into());
        put("title", self.title.clone().into());
        // Many may be told, and whoever wants to know more looks at the self.
        put("signals", cut(&self.signals, MAX_SIGNALS).into());
        put("bounty_id", self.bounty_id.clone().into());
        put("bounty_amount", credits::to_decimal(self.amount).into());
        put("min_reputation", self.min_reputation.into());
        put("expires_at", Time(self.expires_at).iso().into());
        if let Some(parent) = &self.parent_task_id {
            put("parent_task_id", parent.clone().into());
            put("swarm_role", self.role.map(SubtaskRole::as_str).into());
        }
        if let Some(deadline) = self.commitment_deadline {
            put("commitment_deadline", Time(deadline).iso().into());
        }
        NodeNotice { kind, payload }
    }

    /// Its weight, which every part has.
    pub(crate) fn weight_of_part(&self) -> Result<i64> {
        self.weight
            .ok_or_else(|| crate::damaged(format!("The part {} of a task has no weight.", self.task_id)))
    }

    /// The node that completed it, which every completed task has.
    pub(crate) fn completed_by(&self) -> Result<&str> {
        let missing = || crate::damaged(format!("The task {} is completed, but by nobody.", self.task_id));
        self.claimed_by.as_deref().ok_or_else(missing)
    }

    /// Whether a node works on it, or did.
    pub fn is_of(&self, node_id: &str) -> bool {
        self.claimed_by.as_deref() == Some(node_id)
    }
}

/// Whether a node would do what it asked itself, or what its owner or another node of its owner did.
pub fn is_own(tx: &mut dyn Tx, node: &NodeRow, task: &TaskRow) -> Result<bool> {
    let owner = node.owner.as_deref();
    match task.asker.split_once(':') {
        Some(("user", user)) => Ok(owner == Some(user)),
        Some(("node", asker)) if asker == node.node_id => Ok(true),
        Some(("node", asker)) if owner.is_some() => {
            Ok(nodes::get(tx, asker)?.is_some_and(|asker| asker.owner.as_deref() == owner))
        }
        _ => Ok(false),
    }
}

/// A task to be asked.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    /// Its id, which is new.
    pub task_id: String,
    /// Who asks: `user:…` or `node:…`.
    pub asker: String,
    pub title: String,
    /// What is to be done.
    pub body: String,
    /// What it is about, with commas between.
    pub signals: String,
    pub bounty_id: Option<String>,
    /// What it may earn, in milli-credits.
    pub amount: i64,
    pub min_reputation: f64,
    pub min_model_tier: Option<i64>,
    /// Models that may do it, as a JSON list.
    pub allowed_models: Option<String>,
    /// The only node that may take it.
    pub reserved_for: Option<String>,
    /// What part of another task it is, of which, and its weight in billionths.
    pub part: Option<(SubtaskRole, String, i64)>,
    /// Until when it may be done.
    pub expires_at: i64,
}

/// Adds an open task.
pub fn add(tx: &mut dyn Tx, task: &NewTask, now: Time) -> Result<()> {
    let (role, parent, weight) = match &task.part {
        Some((role, parent, weight)) => (Some(role.as_str()), Some(parent.as_str()), Some(*weight)),
        None => (None, None, None),
    };
    tx.run(
        "INSERT INTO tasks (task_id, asker, title, body, signals, status, bounty_id, amount, min_reputation,
            min_model_tier, allowed_models, reserved_for, swarm_role, parent_task_id, weight, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, 'open', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        params![
            &task.task_id,
            &task.asker,
            &task.title,
            &task.body,
            &task.signals,
            &task.bounty_id,
            task.amount,
            task.min_reputation,
            task.min_model_tier,
            &task.allowed_models,
            &task.reserved_for,
            role,
            parent,
            weight,
            now,
            task.expires_at
        ],
    )?;
    audit_change(tx, &task.asker, &task.task_id, "create", None, TaskStatus::Open, None, now)
}

/// Finds a task.
pub fn get(tx: &mut dyn Tx, task_id: &str) -> Result<Option<TaskRow>> {
    tx.query_first(select!(TaskRow, "FROM tasks t WHERE t.task_id = $1"), params![task_id])
}

/// A task that must be there: it was just changed, or a part of it was.
pub(crate) fn reload(tx: &mut dyn Tx, task_id: &str) -> Result<TaskRow> {
    get(tx, task_id)?
        .ok_or_else(|| crate::damaged(format!("The task {task_id} is not there after it was changed.")))
}

/// Finds a task and keeps others from changing it meanwhile. Of a part, the whole is locked before.
pub fn lock(tx: &mut dyn Tx, task_id: &str) -> Result<Option<TaskRow>> {
    let parent = tx.query_first::<Option<String>>(
        "SELECT parent_task_id FROM tasks WHERE task_id = $1",
        params![task_id],
    )?;
    if let Some(Some(parent)) = parent {
        lock_one(tx, &parent)?;
    }
    lock_one(tx, task_id)
}

fn lock_one(tx: &mut dyn Tx, task_id: &str) -> Result<Option<TaskRow>> {
    tx.query_first(select!(TaskRow, "FROM tasks t WHERE t.task_id = $1 FOR UPDATE"), params![task_id])
}

/// The parts of a task, the solvers' first, in the order in which they were proposed.
pub fn parts(tx: &mut dyn Tx, task_id: &str) -> Result<Vec<TaskRow>> {
    tx.query_all(
        select!(TaskRow, "FROM tasks t WHERE t.parent_task_id = $1 ORDER BY t.seq"),
        params![task_id],
    )
}

/// Sets a task's status. The task is locked and the step allowed.
pub(crate) fn set_status(
    tx: &mut dyn Tx,
    task: &TaskRow,
    after: TaskStatus,
    actor: &str,
    action: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    tx.run("UPDATE tasks SET status = $2 WHERE task_id = $1", params![&task.task_id, after.as_str()])?;
    audit_change(tx, actor, &task.task_id, action, Some(task.status), after, reason, now)
}

#[allow(clippy::too_many_arguments)]
fn audit_change(
    tx: &mut dyn Tx,
    actor: &str,
    task_id: &str,
    action: &str,
    before: Option<TaskStatus>,
    after: TaskStatus,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    let change = AuditChange {
        kind: "task",
        subject: task_id,
        action,
        before: before.map(TaskStatus::as_str),
        after: Some(after.as_str()),
        reason,
    };
    audit::add(tx, actor, change, now)
}
