//! What the shared memory is still to be told. Written down first, then sent, then taken off.
//!
//! The file lies where no clone and no pull can plant one: what is in it is sent in this user's name.

use super::{Remote, is_wanted, outgoing};
use crate::reuse::outbox::is_final;
use crate::store::lines;
use crate::workspace::Workspace;
use capsid_disk::{Lock, files};
use capsid_model::{Object, Problem, Result, Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The most that waits; the oldest give way. They are not lost: the graph of this repository has them all.
const LIMIT: usize = 1000;

/// After this long the rest waits for the next time.
const LONGEST: Duration = Duration::from_secs(20);

/// What became of what waited.
#[derive(Debug, Default)]
pub struct Flushed {
    /// How many the hub took.
    pub sent: usize,
    /// How many still wait.
    pub left: usize,
    /// What the hub will never take, with its reasons; taken off as well.
    pub refused: Vec<Problem>,
    /// Why the rest was not sent.
    pub problem: Option<Problem>,
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.repository.private_dir().join("memory_outbox.jsonl")
}

/// What waits, oldest first.
pub fn pending(workspace: &Workspace) -> Result<Vec<Object>> {
    let lines = lines::tail(&path(workspace), LIMIT)?;
    Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Keeps records until they are sent, each once, in the form that may leave; nothing where no shared memory is wanted.
/// They are in the graph already, so what cannot be kept here as well fails nothing. The caller holds the store's lock.
pub fn queue(workspace: &Workspace, records: &[Object]) {
    if is_wanted(workspace) {
        let _ = keep(workspace, records);
    }
}

fn keep(workspace: &Workspace, records: &[Object]) -> Result<()> {
    let mut waiting = pending(workspace)?;
    let before = waiting.len();
    let mut known: HashSet<String> = waiting.iter().map(|entry| id_of(entry).to_owned()).collect();
    for (kind, event) in records.iter().filter_map(outgoing::of_record) {
        let entry = json!({
            "id": event.get("id"), "kind": kind, "queued_at": workspace.now().iso(), "event": event,
        });
        let Value::Object(entry) = entry else { continue };
        if known.insert(id_of(&entry).to_owned()) {
            waiting.push(entry);
        }
    }
    if waiting.len() == before {
        return Ok(());
    }
    let surplus = waiting.len().saturating_sub(LIMIT);
    write(workspace, &waiting[surplus..])
}

fn write(workspace: &Workspace, entries: &[Object]) -> Result<()> {
    let line = |entry: &Object| format!("{}\n", serde_json::to_string(entry).unwrap_or_default());
    let text: String = entries.iter().map(line).collect();
    files::replace_secret(&path(workspace), text.as_bytes())
}

/// Sends what waits, for no longer than `patience`. The store is not locked meanwhile; whoever else sends already does
/// it alone.
pub fn flush(workspace: &Workspace, remote: &Remote, patience: Duration) -> Result<Flushed> {
    if pending(workspace)?.is_empty() {
        return Ok(Flushed::default());
    }
    let sending = workspace.repository.private_dir().join("memory_outbox.lock");
    let Ok(_alone) = Lock::acquire(&sending, "The memory's outbox of this repository", Duration::ZERO) else {
        return Ok(Flushed::default());
    };
    let start = Instant::now();
    let mut flushed = Flushed::default();
    let mut done: HashSet<String> = HashSet::new();
    for entry in pending(workspace)? {
        if start.elapsed() > patience {
            break;
        }
        let body = json!({"kind": entry.get("kind"), "event": entry.get("event")});
        match remote.post("/kg/ingest", body) {
            Ok(_) => flushed.sent += 1,
            Err(problem) if is_final(&problem) => flushed.refused.push(problem),
            Err(problem) => {
                flushed.problem = Some(problem);
                break;
            }
        }
        done.insert(id_of(&entry).to_owned());
    }
    flushed.left = take_off(workspace, &done)?;
    Ok(flushed)
}

/// Tells the shared memory what waits, where one is wanted; gives what went wrong, which is told and no more.
pub fn deliver(workspace: &Workspace) -> Option<Problem> {
    let sent = || -> Result<Flushed> {
        match super::of(workspace)? {
            Some(remote) if !pending(workspace)?.is_empty() => flush(workspace, &remote, LONGEST),
            _ => Ok(Flushed::default()),
        }
    };
    match sent() {
        Ok(flushed) => flushed.problem.or_else(|| flushed.refused.into_iter().next()),
        Err(problem) => Some(problem),
    }
}

/// Takes off what is done; gives how much is left.
fn take_off(workspace: &Workspace, done: &HashSet<String>) -> Result<usize> {
    let _lock = workspace.lock()?;
    let mut waiting = pending(workspace)?;
    if !done.is_empty() {
        waiting.retain(|entry| !done.contains(id_of(entry)));
        write(workspace, &waiting)?;
    }
    Ok(waiting.len())
}

fn id_of(entry: &Object) -> &str {
    entry.get("id").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_model::SystemClock;
    use capsid_testkit::repo::Repo;
    use std::sync::Arc;

    fn record(n: usize) -> Object {
        json!({"kind": "signal", "id": format!("mge_{n}"), "signal": {"signals": ["log_error"]}})
            .as_object()
            .cloned()
            .unwrap()
    }

    fn open(repo: &Repo, provider: &'static str) -> Workspace {
        let env = move |name: &str| (name == "MEMORY_GRAPH_PROVIDER").then(|| provider.to_owned());
        Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(env)).unwrap()
    }

    #[test]
    fn each_record_waits_once_and_the_oldest_give_way() {
        let repo = Repo::new();
        let workspace = open(&repo, "remote");
        queue(&workspace, &[record(0), record(1), record(1)]);
        queue(&workspace, &[record(1)]);
        let ids =
            |waiting: &[Object]| waiting.iter().map(|entry| id_of(entry).to_owned()).collect::<Vec<_>>();
        assert_eq!(ids(&pending(&workspace).unwrap()), ["mge_0", "mge_1"]);
        let many: Vec<Object> = (2..=LIMIT).map(record).collect();
        queue(&workspace, &many);
        let waiting = pending(&workspace).unwrap();
        assert_eq!((waiting.len(), id_of(&waiting[0])), (LIMIT, "mge_1"));
        assert_eq!(repo.git(&["status", "--short"]), "", "it lies where no commit takes it along");
    }

    #[test]
    fn where_nobody_asked_for_it_nothing_waits() {
        let repo = Repo::new();
        let workspace = open(&repo, "local");
        queue(&workspace, &[record(0)]);
        assert!(pending(&workspace).unwrap().is_empty() && !path(&workspace).exists());
    }
}
