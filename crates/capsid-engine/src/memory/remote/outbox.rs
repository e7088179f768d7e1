//! The records that are still to be sent to the shared memory.

use super::{RemoteMemory, is_wanted, outgoing};
use crate::workspace::Workspace;
use crate::workspace::outbox::{MAX_LEN, OutboxFile};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use std::time::Duration;

pub use crate::workspace::outbox::FlushSummary;

const RECORDS: OutboxFile = OutboxFile::MemoryRecords;

/// What a hub answers with once it has a record; one of them is true.
const TAKEN: [&str; 4] = ["recorded", "duplicate", "ok", "success"];

/// What waits, oldest first.
pub fn pending(workspace: &Workspace) -> Result<Vec<Object>> {
    RECORDS.pending(workspace)
}

/// Keeps records until they are sent, each once, in the form that may leave; nothing where no shared memory is wanted.
/// They are in the graph already, so what cannot be kept here as well fails nothing. The caller holds the store's lock.
pub fn queue(workspace: &Workspace, records: &[Object]) {
    let _ = RECORDS.append(workspace, entries(workspace, records));
}

/// The entries that records become, for a journal that queues them.
pub fn entries(workspace: &Workspace, records: &[Object]) -> Vec<Object> {
    if !is_wanted(workspace) {
        return Vec::new();
    }
    let at = workspace.now().iso();
    let entry = |(kind, event): (_, Object)| {
        let entry = json!({"id": event.get("id"), "kind": kind, "queued_at": at, "event": event});
        entry.as_object().cloned()
    };
    records.iter().filter_map(outgoing::to_event).filter_map(entry).collect()
}

/// Sends what waits, for no longer than `patience` and one call more.
pub fn flush(workspace: &Workspace, remote: &RemoteMemory, patience: Duration) -> Result<FlushSummary> {
    RECORDS.flush(
        workspace,
        patience,
        |_| true,
        is_of_record,
        |entry| {
            let body = json!({"kind": entry.get("kind"), "event": entry.get("event")});
            let answer = remote.post("/kg/ingest", body)?;
            let is_taken = TAKEN.iter().any(|name| answer.get(name).and_then(Value::as_bool) == Some(true));
            is_taken.then_some(()).ok_or_else(|| no_word_of_it(remote))
        },
    )
}

/// A server that answers every call with some JSON has accepted nothing.
fn no_word_of_it(remote: &RemoteMemory) -> Problem {
    let message = format!("`{}` does not say that it took the record.", remote.hub_url());
    Problem::new(Code::HubAnswerInvalid, message)
        .fix("Check the address; a proxy or another service may stand in front of the hub.")
}

/// Whether a hub has something against this very record. What it has against the account, the plan, the address or the
/// hour may change, and the record waits for that.
fn is_of_record(problem: &Problem) -> bool {
    problem.code == Code::HubRefused && matches!(problem.hub_status, Some(400 | 409 | 413 | 422))
}

/// Sends the pending records to the shared memory, where one is wanted; returns what went wrong, with what became of the
/// records. The caller only prints that.
pub fn deliver(workspace: &Workspace) -> Option<Problem> {
    let waits = || -> Result<usize> { Ok(pending(workspace)?.len()) };
    let sent = || -> Result<FlushSummary> {
        match super::connect_remote(workspace)? {
            Some(remote) => flush(workspace, &remote, MAX_LEN),
            None => Ok(FlushSummary::default()),
        }
    };
    match sent() {
        Ok(flushed) => trouble(flushed),
        Err(problem) => Some(waiting(problem, waits().unwrap_or_default())),
    }
}

fn trouble(flushed: FlushSummary) -> Option<Problem> {
    let refused = flushed.refused.len();
    let given_up = flushed.refused.into_iter().next().map(|mut problem| {
        problem.message = format!("{refused} record(s) will not be sent again: {}", problem.message);
        problem
    });
    match (flushed.problem.map(|problem| waiting(problem, flushed.left)), given_up) {
        (Some(mut problem), Some(given_up)) => {
            problem.message = format!("{} {}", problem.message, given_up.message);
            Some(problem)
        }
        (problem, given_up) => problem.or(given_up),
    }
}

fn waiting(mut problem: Problem, left: usize) -> Problem {
    if left > 0 {
        problem.message = format!("{left} record(s) wait for the next time: {}", problem.message);
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::SystemClock;
    use capsid_testkit::test_repo::TestRepo;
    use std::sync::Arc;

    fn record(n: usize) -> Object {
        json!({"kind": "signal", "id": format!("mge_{n}"), "signal": {"signals": ["log_error"]}})
            .as_object()
            .cloned()
            .unwrap()
    }

    fn open(repo: &TestRepo, provider: &'static str) -> Workspace {
        let data = repo.env();
        let env = move |name: &str| match name {
            "MEMORY_GRAPH_PROVIDER" => Some(provider.to_owned()),
            _ => data(name),
        };
        Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(env)).unwrap()
    }

    #[test]
    fn what_was_recorded_waits_where_it_was_asked_for() {
        let repo = TestRepo::new();
        let workspace = open(&repo, "remote");
        queue(&workspace, &[record(0), record(1), record(1)]);
        let ids: Vec<Value> = pending(&workspace).unwrap().iter().map(|entry| entry["id"].clone()).collect();
        assert_eq!(ids, ["mge_0", "mge_1"]);
        let other = TestRepo::new();
        let workspace = open(&other, "local");
        queue(&workspace, &[record(0)]);
        assert!(pending(&workspace).unwrap().is_empty() && !RECORDS.path(&workspace).unwrap().exists());
    }

    #[test]
    fn only_a_word_about_the_record_itself_is_final() {
        let refused = Problem::new(Code::HubRefused, "no");
        for status in [400, 409, 413, 422] {
            assert!(is_of_record(&refused.clone().hub_status(status)), "{status}");
        }
        for status in [301, 401, 402, 403, 404, 405, 410, 418, 500] {
            assert!(!is_of_record(&refused.clone().hub_code("plan_upgrade_required").hub_status(status)));
        }
        assert!(!is_of_record(&refused) && !is_of_record(&Problem::new(Code::HubAnswerInvalid, "odd")));
    }

    #[test]
    fn what_went_wrong_says_what_became_of_the_records() {
        let refused = vec![Problem::new(Code::HubRefused, "odd"), Problem::new(Code::HubRefused, "odd")];
        let reported = trouble(FlushSummary { refused: refused.clone(), ..FlushSummary::default() }).unwrap();
        assert_eq!(reported.message, "2 record(s) will not be sent again: odd");
        let problem = Some(Problem::new(Code::HubUnreachable, "Away."));
        let reported =
            trouble(FlushSummary { problem: problem.clone(), left: 3, ..FlushSummary::default() }).unwrap();
        assert_eq!(reported.message, "3 record(s) wait for the next time: Away.");
        let reported =
            trouble(FlushSummary { problem, refused, left: 3, ..FlushSummary::default() }).unwrap();
        assert_eq!(
            reported.message,
            "3 record(s) wait for the next time: Away. 2 record(s) will not be sent again: odd"
        );
        assert!(trouble(FlushSummary::default()).is_none());
    }
}
