//! Reports that are still to be sent to a hub. They are stored first, then sent, then removed: an outage loses nothing.
//!
//! The files are where no clone and no pull can plant one: what is in them is sent in this user's name.

use super::Workspace;
use crate::store::lines;
use capsid_disk::{Lock, files};
use capsid_model::{Object, Problem, Result, Value};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// After this long the rest waits for the next time, where nobody is in a hurry.
pub(crate) const MAX_LEN: Duration = Duration::from_secs(20);

/// The file of one kind of entries that wait for a hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxFile {
    /// Reports of reused solutions, one a run.
    HubReports,
    /// Records for the shared memory, each by its id. The graph of the repository has all of them, also those that were
    /// dropped here.
    MemoryRecords,
}

/// What became of what waited.
#[derive(Debug, Default)]
pub struct FlushSummary {
    /// How many the hub took.
    pub sent: usize,
    /// How many still wait, for this hub or another.
    pub left: usize,
    /// What the hub will never take, with its reasons; taken off as well.
    pub refused: Vec<Problem>,
    /// Why the rest was not sent.
    pub problem: Option<Problem>,
    /// What was taken off, with the hub's code where it was refused.
    pub(crate) done: Vec<(Object, Option<String>)>,
}

impl OutboxFile {
    /// What its file and its lock are called, without their endings.
    fn name(self) -> &'static str {
        match self {
            Self::HubReports => "hub_outbox",
            Self::MemoryRecords => "memory_outbox",
        }
    }

    /// The member that names an entry; each waits once.
    fn key(self) -> &'static str {
        match self {
            Self::HubReports => "run_id",
            Self::MemoryRecords => "id",
        }
    }

    /// The most entries that wait; the oldest are dropped.
    fn limit(self) -> usize {
        match self {
            Self::HubReports => 200,
            Self::MemoryRecords => 1000,
        }
    }

    pub(crate) fn path(self, workspace: &Workspace) -> Result<PathBuf> {
        workspace.state_file(&format!("{}.jsonl", self.name()))
    }

    /// What waits, oldest first.
    pub(crate) fn pending(self, workspace: &Workspace) -> Result<Vec<Object>> {
        let lines = lines::tail(&self.path(workspace)?, self.limit())?;
        Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Stores entries until they are sent. The caller holds the store's lock.
    pub(crate) fn append(
        self,
        workspace: &Workspace,
        entries: impl IntoIterator<Item = Object>,
    ) -> Result<()> {
        let mut waiting = self.pending(workspace)?;
        let before = waiting.len();
        let mut known: HashSet<String> = waiting.iter().map(|entry| self.name_of(entry)).collect();
        waiting.extend(entries.into_iter().filter(|entry| known.insert(self.name_of(entry))));
        if waiting.len() == before {
            return Ok(());
        }
        let surplus = waiting.len().saturating_sub(self.limit());
        self.write(workspace, &waiting[surplus..])
    }

    /// Sends those that are meant for this hub, for no longer than `patience` and one call more. `is_final` says whether
    /// sending the same again can only be refused again. The store is not locked meanwhile; whoever else sends already
    /// does it alone.
    pub(crate) fn flush(
        self,
        workspace: &Workspace,
        patience: Duration,
        is_meant: impl Fn(&Object) -> bool,
        is_final: fn(&Problem) -> bool,
        send: impl Fn(&Object) -> Result<()>,
    ) -> Result<FlushSummary> {
        if self.pending(workspace)?.is_empty() {
            return Ok(FlushSummary::default());
        }
        let sending = workspace.state_dir()?.join(format!("{}.lock", self.name()));
        let Ok(_alone) = Lock::acquire(&sending, "An outbox of this repository", Duration::ZERO) else {
            return Ok(FlushSummary::default());
        };
        let start = Instant::now();
        let mut flushed = FlushSummary::default();
        for entry in self.pending(workspace)?.into_iter().filter(is_meant) {
            if start.elapsed() > patience {
                break;
            }
            match send(&entry) {
                Ok(()) => {
                    flushed.sent += 1;
                    flushed.done.push((entry, None));
                }
                Err(problem) if is_final(&problem) => {
                    flushed.done.push((entry, Some(problem.hub_code.clone().unwrap_or_default())));
                    flushed.refused.push(problem);
                }
                Err(problem) => {
                    flushed.problem = Some(problem);
                    break;
                }
            }
        }
        flushed.left = self.remove_sent(workspace, &flushed.done)?;
        Ok(flushed)
    }

    /// Takes off what is done; gives how much is left.
    fn remove_sent(self, workspace: &Workspace, done: &[(Object, Option<String>)]) -> Result<usize> {
        let _lock = workspace.lock()?;
        let mut waiting = self.pending(workspace)?;
        if !done.is_empty() {
            let gone: HashSet<String> = done.iter().map(|(entry, _)| self.name_of(entry)).collect();
            waiting.retain(|entry| !gone.contains(&self.name_of(entry)));
            self.write(workspace, &waiting)?;
        }
        Ok(waiting.len())
    }

    /// What is sent in a user's name is private.
    fn write(self, workspace: &Workspace, entries: &[Object]) -> Result<()> {
        let line = |entry: &Object| format!("{}\n", serde_json::to_string(entry).unwrap_or_default());
        let text: String = entries.iter().map(line).collect();
        workspace.create_state_dir()?;
        files::replace_secret(&self.path(workspace)?, text.as_bytes())
    }

    fn name_of(self, entry: &Object) -> String {
        entry.get(self.key()).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_model::{Code, SystemClock, json};
    use capsid_testkit::store;
    use capsid_testkit::test_repo::TestRepo;
    use std::sync::Arc;

    const BOX: OutboxFile = OutboxFile::MemoryRecords;

    fn open(repo: &TestRepo) -> Workspace {
        Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(repo.env())).unwrap()
    }

    fn entry(n: usize) -> Object {
        json!({"id": n.to_string()}).as_object().cloned().unwrap()
    }

    fn waiting(workspace: &Workspace) -> Vec<String> {
        BOX.pending(workspace).unwrap().iter().map(|entry| BOX.name_of(entry)).collect()
    }

    #[test]
    fn each_waits_once_and_the_oldest_give_way() {
        let repo = TestRepo::new();
        let workspace = open(&repo);
        BOX.append(&workspace, [0, 1, 1, 0].map(entry)).unwrap();
        BOX.append(&workspace, [entry(1)]).unwrap();
        assert_eq!(waiting(&workspace), ["0", "1"]);
        BOX.append(&workspace, (2..1001).map(entry)).unwrap();
        let waiting = waiting(&workspace);
        assert_eq!((waiting.len(), waiting[0].as_str(), waiting[999].as_str()), (1000, "1", "1000"));
        assert_eq!(repo.git(&["status", "--short"]), "", "no commit includes it");
    }

    #[test]
    fn what_was_taken_or_refused_for_good_goes_and_the_rest_stays() {
        let repo = TestRepo::new();
        store::write_store(&repo, &[]);
        let workspace = open(&repo);
        BOX.append(&workspace, (0..5).map(entry)).unwrap();
        let is_final = |problem: &Problem| problem.code == Code::HubRefused;
        let send = |entry: &Object| match BOX.name_of(entry).as_str() {
            "1" => Err(Problem::new(Code::HubRefused, "never").hub_code("odd")),
            "3" => Err(Problem::new(Code::HubUnreachable, "not now")),
            _ => Ok(()),
        };
        let flushed =
            BOX.flush(&workspace, MAX_LEN, |entry| BOX.name_of(entry) != "0", is_final, send).unwrap();
        assert_eq!((flushed.sent, flushed.refused.len(), flushed.left), (1, 1, 3));
        assert_eq!(flushed.problem.unwrap().message, "not now");
        assert_eq!(flushed.done, [(entry(1), Some("odd".to_owned())), (entry(2), None)]);
        assert_eq!(waiting(&workspace), ["0", "3", "4"]);
        let late = BOX.flush(&workspace, Duration::ZERO, |_| true, is_final, |_| Ok(())).unwrap();
        assert_eq!((late.sent, late.left), (0, 3), "the rest waits for the next time");
    }

    #[cfg(unix)]
    #[test]
    fn it_is_the_owners_alone_from_the_first_entry_on() {
        use std::os::unix::fs::PermissionsExt;
        let repo = TestRepo::new();
        let workspace = open(&repo);
        let path = BOX.path(&workspace).unwrap();
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        BOX.append(&workspace, [entry(0)]).unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        BOX.append(&workspace, [entry(1)]).unwrap();
        assert_eq!((mode(), waiting(&workspace).len()), (0o600, 2));
    }
}
