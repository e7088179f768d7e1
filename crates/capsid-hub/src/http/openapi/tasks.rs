//! Tasks, who took them, and tasks in parts.

use super::describe::{told, words};

words! {
    /// How a task stands.
    TaskStatus {
        Open = "open", Claimed = "claimed", Completed = "completed", Expired = "expired", Cancelled = "cancelled",
    }

    /// What a part of a task is.
    SwarmRole { Solver = "solver", Aggregator = "aggregator" }
}

told! {
    /// A task.
    Task {
        task_id: String,
        title: String,
        body: String,
        /// The same as `body`.
        description: String,
        /// With commas between them.
        signals: String,
        status: TaskStatus,
        claimed_by: Option<String>,
        claimed_at: Option<String>,
        submission_id: Option<String>,
        bounty_id: Option<String>,
        bounty_amount: f64,
        complexity_score: f64,
        min_reputation: f64,
        min_model_tier: Option<i64>,
        allowed_models: Option<Vec<String>>,
        reserved_for: Option<String>,
        swarm_role: Option<SwarmRole>,
        parent_task_id: Option<String>,
        contribution_weight: Option<f64>,
        is_decomposed: bool,
        commitment_deadline: Option<String>,
        result_asset_id: Option<String>,
        completed_at: Option<String>,
        created_at: String,
        expires_at: String;
        /// What the whole asks, where this is a part of it.
        parent_instruction: Option<String>,
    }

    /// A page of open tasks.
    TaskPage {
        tasks: Vec<Task>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>,
    }

    /// A task that a node took, and what became of it.
    TaskRow: Task {
        my_submission_id: String,
        my_submission_status: String,
        my_submission_asset: Option<String>,
    }

    /// A page of the tasks that a node took.
    MyTasks {
        tasks: Vec<TaskRow>,
        count: i64,
        has_more: bool,
        next_cursor: Option<String>,
    }

    /// One task.
    TaskDetail: Task {
        task: Task,
        claimable: bool,
        submission_count: i64,
    }

    /// Who took a task, and what came of it.
    Submission {
        submission_id: String,
        task_id: String,
        node_id: String,
        status: String,
        asset_id: Option<String>,
        created_at: String,
        updated_at: String,
    }

    /// Who took a task, oldest first.
    TaskSubmissions {
        task_id: String,
        count: i64,
        submissions: Vec<Submission>,
    }

    /// A task in parts.
    Swarm {
        parent_task: Task,
        subtasks: Vec<Task>,
        aggregation_task: Option<Task>,
        contributions: Vec<Contribution>,
        shares: SwarmShares,
        progress: SwarmProgress,
        child_progress: ChildProgress,
    }

    /// How what a task in parts earns is shared. Each is a share of the whole, 0 to 1.
    SwarmShares {
        /// Of who proposed the parts.
        proposer: f64,
        /// Of all who solve them together, who share it by weight.
        solvers: f64,
        /// Of who merges the results.
        aggregator: f64,
    }

    /// Who takes part, and what for.
    Contribution {
        node_id: String,
        /// proposer, solver or aggregator.
        role: String,
        task_id: String,
        /// The share of the whole, 0 to 1.
        weight: f64,
        asset_id: Option<String>,
        /// What was paid where it is settled, and what it would be before.
        credits: f64,
        settled: bool,
    }

    /// How far a swarm is.
    SwarmProgress {
        solvers_completed: i64,
        solvers_total: i64,
        /// not_decomposed, solving, aggregating, completed, settled, expired or cancelled.
        status: String,
    }

    /// How many parts are done.
    ChildProgress {
        completed: i64,
        total: i64,
    }
}
