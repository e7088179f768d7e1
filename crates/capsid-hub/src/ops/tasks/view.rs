//! A task as responses show it. Clients know these names and no other states than these.

use crate::error::ApiResult;
use crate::ops::assets::view::rounded;
use capsid_model::text::cut;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::swarm::WHOLE;
use capsid_rules::work::tasks::{SubtaskRole, TaskStatus, complexity};
use capsid_store::db::tx::Tx;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::list::TakenTaskRow;
use capsid_store::work::tasks::submissions::SubmissionRow;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// A task.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Task)]
pub struct TaskView {
    pub task_id: String,
    pub title: String,
    pub body: String,
    /// The same as `body`.
    pub description: String,
    // One text: a client that finds a list here reads nothing.
    /// With commas between them.
    pub signals: String,
    pub status: TaskStatus,
    #[schema(required)]
    pub claimed_by: Option<String>,
    #[schema(required)]
    pub claimed_at: Option<String>,
    #[schema(required)]
    pub submission_id: Option<String>,
    #[schema(required)]
    pub bounty_id: Option<String>,
    #[schema(value_type = f64)]
    pub bounty_amount: Number,
    pub complexity_score: f64,
    pub min_reputation: f64,
    #[schema(required)]
    pub min_model_tier: Option<i64>,
    #[schema(required)]
    pub allowed_models: Option<Vec<String>>,
    #[schema(required)]
    pub reserved_for: Option<String>,
    #[schema(required)]
    pub swarm_role: Option<SubtaskRole>,
    #[schema(required)]
    pub parent_task_id: Option<String>,
    #[schema(required)]
    pub contribution_weight: Option<f64>,
    pub is_decomposed: bool,
    #[schema(required)]
    pub commitment_deadline: Option<String>,
    #[schema(required)]
    pub result_asset_id: Option<String>,
    #[schema(required)]
    pub completed_at: Option<String>,
    pub created_at: String,
    pub expires_at: String,
    /// What the whole asks, where this is a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    pub parent_instruction: Option<Option<String>>,
}

/// The most of what the whole asks that is shown with a part of it.
const MAX_INSTRUCTION: usize = 2000;

impl TaskView {
    /// A task as it stands at a moment.
    pub fn from_row(task: &TaskRow, now: Time) -> Self {
        let time = |ms: Option<i64>| ms.map(|ms| Time(ms).iso());
        Self {
            task_id: task.task_id.clone(),
            title: task.title.clone(),
            body: task.body.clone(),
            description: task.body.clone(),
            signals: task.signals.clone(),
            status: task.status_at(now),
            claimed_by: task.claimed_by.clone(),
            claimed_at: time(task.claimed_at),
            submission_id: task.submission_id.clone(),
            bounty_id: task.bounty_id.clone(),
            bounty_amount: credits::to_decimal(task.amount),
            complexity_score: complexity(&task.title, &task.body, &task.signals),
            min_reputation: rounded(task.min_reputation),
            min_model_tier: task.min_model_tier,
            allowed_models: allowed_models(task),
            reserved_for: task.reserved_for.clone(),
            swarm_role: task.role,
            parent_task_id: task.parent_task_id.clone(),
            contribution_weight: task.weight.map(|weight| weight as f64 / WHOLE as f64),
            is_decomposed: task.decomposed_at.is_some(),
            commitment_deadline: time(task.commitment_deadline),
            result_asset_id: task.result_asset.map(|id| id.to_string()),
            completed_at: time(task.completed_at),
            created_at: Time(task.created_at).iso(),
            expires_at: Time(task.expires_at).iso(),
            parent_instruction: None,
        }
    }

    /// The same for whoever looks at this task alone: a part also shows what the whole asks.
    pub fn load_with_parent(tx: &mut dyn Tx, task: &TaskRow, now: Time) -> ApiResult<Self> {
        let mut view = Self::from_row(task, now);
        if let Some(parent) = &task.parent_task_id {
            let whole = tasks::get(tx, parent)?;
            view.parent_instruction = Some(whole.map(|whole| cut(&whole.body, MAX_INSTRUCTION).to_owned()));
        }
        Ok(view)
    }

    /// Tasks as they stand at a moment.
    pub fn from_rows(tasks: &[TaskRow], now: Time) -> Vec<Self> {
        tasks.iter().map(|task| Self::from_row(task, now)).collect()
    }
}

/// The models that may do a task, where only some may.
pub fn allowed_models(task: &TaskRow) -> Option<Vec<String>> {
    task.allowed_models.as_ref().map(|models| models.0.clone())
}

/// A task that a node took, and what became of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = TaskRow)]
pub struct OwnTaskView {
    #[serde(flatten)]
    task: TaskView,
    my_submission_id: String,
    my_submission_status: String,
    #[schema(required)]
    my_submission_asset: Option<String>,
}

impl OwnTaskView {
    pub fn from_row(taken: &TakenTaskRow, now: Time) -> Self {
        Self {
            task: TaskView::from_row(&taken.task, now),
            my_submission_id: taken.submission.submission_id.clone(),
            my_submission_status: taken.submission.status.clone(),
            my_submission_asset: taken.submission.asset_id.map(|id| id.to_string()),
        }
    }
}

/// Who took a task, and what came of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Submission)]
pub struct SubmissionView {
    submission_id: String,
    task_id: String,
    node_id: String,
    status: String,
    #[schema(required)]
    asset_id: Option<String>,
    created_at: String,
    updated_at: String,
}

impl From<SubmissionRow> for SubmissionView {
    fn from(row: SubmissionRow) -> Self {
        Self {
            submission_id: row.submission_id,
            task_id: row.task_id,
            node_id: row.node_id,
            status: row.status,
            asset_id: row.asset_id.map(|id| id.to_string()),
            created_at: Time(row.created_at).iso(),
            updated_at: Time(row.updated_at).iso(),
        }
    }
}
