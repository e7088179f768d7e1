//! The results of the tasks that this node took, stored on disk: after an interruption the next start continues.

use crate::store;
use crate::workspace::Workspace;
use capsid_model::{Object, Result, Time, Value, json};
use std::path::PathBuf;

/// The most tasks that are remembered.
const KEPT: usize = 200;

/// How far the work on a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkStage {
    /// A cycle works on it.
    Working,
    /// There is a capsule; it is to be published.
    Solved,
    /// The hub has the bundle; the task is to be completed.
    Published,
    /// The cycle failed; the task is to be released.
    Failed,
    Done,
    /// It was released, or is gone. It is not taken again.
    Over,
}

impl WorkStage {
    const ALL: [Self; 6] =
        [Self::Working, Self::Solved, Self::Published, Self::Failed, Self::Done, Self::Over];

    fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Solved => "solved",
            Self::Published => "published",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Over => "over",
        }
    }

    /// Whether something is still to be reported to the hub.
    pub fn is_owed(self) -> bool {
        matches!(self, Self::Solved | Self::Published | Self::Failed)
    }
}

/// The work on one task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskWork {
    pub task_id: String,
    pub stage: WorkStage,
    /// The run that works on it.
    pub run_id: Option<String>,
    /// The capsule that solves it, by its local id.
    pub capsule_id: Option<String>,
    /// The capsule as it was published.
    pub asset_id: Option<String>,
    pub at: Time,
}

impl TaskWork {
    /// Work that begins.
    pub fn begun(task_id: &str, now: Time) -> Self {
        Self {
            task_id: task_id.to_owned(),
            stage: WorkStage::Working,
            run_id: None,
            capsule_id: None,
            asset_id: None,
            at: now,
        }
    }

    fn to_value(&self) -> Value {
        json!({
            "task_id": self.task_id,
            "stage": self.stage.word(),
            "run_id": self.run_id,
            "capsule_id": self.capsule_id,
            "asset_id": self.asset_id,
            "at": self.at.iso(),
        })
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let word = text("stage")?;
        Some(Self {
            task_id: text("task_id").filter(|id| !id.is_empty())?,
            stage: WorkStage::ALL.into_iter().find(|stage| stage.word() == word)?,
            run_id: text("run_id"),
            capsule_id: text("capsule_id"),
            asset_id: text("asset_id"),
            at: text("at").as_deref().and_then(Time::parse).unwrap_or_default(),
        })
    }
}

/// Everything that is remembered, oldest first.
pub fn all(workspace: &Workspace) -> Result<Vec<TaskWork>> {
    let state = store::read_state(&path(workspace)?)?;
    let list = state.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(list.iter().filter_map(TaskWork::read).collect())
}

/// Notes how far the work on a task is.
pub fn save_work(workspace: &Workspace, work: &TaskWork) -> Result<()> {
    let mut stored = all(workspace)?;
    stored.retain(|known| known.task_id != work.task_id);
    stored.push(work.clone());
    // What is still owed is never forgotten.
    let mut surplus = stored.len().saturating_sub(KEPT);
    stored.retain(|known| {
        let goes = surplus > 0 && matches!(known.stage, WorkStage::Done | WorkStage::Over);
        surplus -= usize::from(goes);
        !goes
    });
    let list: Vec<Value> = stored.iter().map(TaskWork::to_value).collect();
    let state = Object::from_iter([("version".to_owned(), json!(1)), ("tasks".to_owned(), list.into())]);
    workspace.create_state_dir()?;
    store::write_state(&path(workspace)?, &state)
}

fn path(workspace: &Workspace) -> Result<PathBuf> {
    workspace.state_file("task_work.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_read_as_it_was_written_and_nonsense_is_passed_over() {
        for stage in WorkStage::ALL {
            let work = TaskWork {
                stage,
                run_id: Some("run_1".into()),
                asset_id: Some("sha256:ab".into()),
                ..TaskWork::begun("task_1", Time(1_770_000_000_000))
            };
            assert_eq!(TaskWork::read(&work.to_value()), Some(work));
        }
        for bad in [
            json!(1),
            json!({}),
            json!({"task_id": "", "stage": "done"}),
            json!({"task_id": "x", "stage": "?"}),
        ] {
            assert_eq!(TaskWork::read(&bad), None);
        }
    }
}
