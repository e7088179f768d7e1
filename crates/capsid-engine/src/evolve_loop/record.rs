//! `loop.json`: what the loop spent today, what it tried in vain, and the run it is working on. It is in the engine's
//! private state, where no agent can write.

use crate::workspace::Workspace;
use capsid_disk::{Lock, files};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result};
use capsid_rules::learning::daily_budget::DailySpending;
use capsid_rules::learning::suspension::AttemptLedger;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

const FILE: &str = "loop.json";
/// How long a command waits for another one that changes the record.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// The most that is kept of a problem's text.
const MAX_TEXT: usize = 200;

/// What the loop remembers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopRecord {
    pub spending: DailySpending,
    /// Failed attempts by the id of the problem or request.
    pub attempts: AttemptLedger,
    /// What those ids stand for, for people.
    pub texts: BTreeMap<String, String>,
    /// The run that the loop began and did not finish yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The problem for which the budget did not suffice, and the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedProblem>,
}

/// A problem for which no agent was called because the budget was used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedProblem {
    pub id: String,
    pub date: String,
}

impl LoopRecord {
    /// Reads the record; an empty one where no loop ever ran. Writes nothing.
    pub fn load(workspace: &Workspace) -> Result<Self> {
        let path = workspace.state_dir()?.join(FILE);
        let Some(text) = files::read_optional(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            Problem::new(Code::StoreDamaged, format!("`{}` cannot be read: {error}.", path.display()))
                .fix("Move the file away; the loop then counts its budget and its attempts from zero.")
        })
    }

    /// Changes the record. Others that change it wait.
    pub fn update<T>(workspace: &Workspace, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let folder = workspace.create_state_dir()?;
        let _lock = Lock::acquire(&folder.join("loop_record.lock"), "The record of the loop", LOCK_WAIT)?;
        let mut record = Self::load(workspace)?;
        let changed = change(&mut record)?;
        record.attempts.prune(workspace.now());
        let Self { texts, attempts, .. } = &mut record;
        texts.retain(|id, _| attempts.has_attempts(id));
        let text = serde_json::to_string(&record).unwrap_or_default();
        files::replace_private(&folder.join(FILE), text.as_bytes())?;
        Ok(changed)
    }

    /// Remembers what an id stands for.
    pub fn name_problem(&mut self, id: &str, text: &str) {
        self.texts.insert(id.to_owned(), cut(&inert_line(text), MAX_TEXT).to_owned());
    }

    /// Whether the budget of the day did not suffice for this problem.
    pub fn is_refused(&self, id: &str, date: &str) -> bool {
        self.refused.as_ref().is_some_and(|refused| refused.id == id && refused.date == date)
    }
}

/// Ends the suspension of a problem on its owner's word. `id` may be the beginning of an id. Gives the id and what it
/// stands for.
pub fn resume_problem(workspace: &Workspace, id: &str) -> Result<(String, String)> {
    LoopRecord::update(workspace, |record| {
        let now = workspace.now();
        let suspended = record.attempts.list_suspended(now);
        let named: Vec<String> = suspended
            .into_iter()
            .filter(|(known, _)| !id.is_empty() && known.starts_with(id))
            .map(|(known, _)| known.to_owned())
            .collect();
        let [found] = named.as_slice() else {
            let many = if named.is_empty() { "No suspended problem has" } else { "Several problems have" };
            return Err(Problem::new(Code::NotFound, format!("{many} the id `{}`.", inert_line(id)))
                .fix("`capsid status` lists the suspended problems with their ids."));
        };
        record.attempts.resume(found, now);
        Ok((found.clone(), record.texts.get(found).cloned().unwrap_or_default()))
    })
}
