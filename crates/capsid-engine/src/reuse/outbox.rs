//! What a hub is still to be told. Written down first, then sent, then taken off; a hub that is away finds it there.
//!
//! The file lies where no clone and no pull can plant one: what is in it is sent in this node's name.

use super::log;
use crate::store::lines;
use crate::workspace::Workspace;
use capsid_client::Node;
use capsid_client::refusal::may_pass;
use capsid_disk::{Lock, files};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The most that waits; the oldest give way.
const LIMIT: usize = 200;

/// After this long the rest waits for the next time.
const LONGEST: Duration = Duration::from_secs(20);

/// What became of what waited.
#[derive(Debug, Default)]
pub struct Flushed {
    /// How many the hub took.
    pub sent: usize,
    /// How many still wait, for this hub or another.
    pub left: usize,
    /// What the hub will never take, with its reasons; taken off as well.
    pub refused: Vec<Problem>,
    /// Why the rest was not sent.
    pub problem: Option<Problem>,
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.repository.private_dir().join("hub_outbox.jsonl")
}

/// What waits, oldest first.
pub fn pending(workspace: &Workspace) -> Result<Vec<Object>> {
    let lines = lines::tail(&path(workspace), LIMIT)?;
    Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Keeps an entry until it is sent; one a run. The caller holds the store's lock.
pub fn queue(workspace: &Workspace, entry: &Object) -> Result<()> {
    let waiting = pending(workspace)?;
    if waiting.iter().any(|known| known.get("run_id") == entry.get("run_id")) {
        return Ok(());
    }
    let newest = waiting.iter().skip((waiting.len() + 1).saturating_sub(LIMIT));
    write(workspace, newest.chain([entry]))
}

/// What is said in this node's name is nobody else's to read.
fn write<'a>(workspace: &Workspace, entries: impl Iterator<Item = &'a Object>) -> Result<()> {
    let text: String = entries.map(line_of).collect();
    files::replace_secret(&path(workspace), text.as_bytes())
}

/// Sends what waits for the node's hub. The store is not locked meanwhile; whoever else sends already does it alone.
pub fn flush(workspace: &Workspace, node: &Node) -> Result<Flushed> {
    if pending(workspace)?.is_empty() {
        return Ok(Flushed::default());
    }
    let sending = workspace.repository.private_dir().join("hub_outbox.lock");
    let Ok(_alone) = Lock::acquire(&sending, "The outbox of this repository", Duration::ZERO) else {
        return Ok(Flushed::default());
    };
    let waiting = pending(workspace)?;
    let mut flushed = Flushed::default();
    let mut done: Vec<(Object, Option<String>)> = Vec::new();
    let start = Instant::now();
    for entry in waiting.iter().filter(|entry| text(entry, "hub") == node.hub_url()) {
        if start.elapsed() > LONGEST {
            break;
        }
        let report = entry.get("report").cloned().unwrap_or_default();
        match node.report(text(entry, "asset_id"), &report) {
            Ok(_) => {
                flushed.sent += 1;
                done.push((entry.clone(), None));
            }
            Err(problem) if is_final(&problem) => {
                done.push((entry.clone(), Some(problem.hub_code.clone().unwrap_or_default())));
                flushed.refused.push(problem);
            }
            Err(problem) => {
                flushed.problem = Some(problem);
                break;
            }
        }
    }
    flushed.left = take_off(workspace, &done)?;
    Ok(flushed)
}

/// Whether sending the same again can only be refused again. What fails on this machine is no word of the hub.
pub(crate) fn is_final(problem: &Problem) -> bool {
    problem.code == Code::HubRefused && !may_pass(problem)
}

/// Takes off what is done, and notes it; gives how much is left.
fn take_off(workspace: &Workspace, done: &[(Object, Option<String>)]) -> Result<usize> {
    let _lock = workspace.lock()?;
    let mut waiting = pending(workspace)?;
    if done.is_empty() {
        return Ok(waiting.len());
    }
    waiting.retain(|entry| !done.iter().any(|(sent, _)| sent.get("run_id") == entry.get("run_id")));
    write(workspace, waiting.iter())?;
    let at = workspace.now().iso();
    let notes: Vec<Value> = done
        .iter()
        .map(|(entry, refused)| {
            json!({
                "timestamp": at,
                "run_id": entry.get("run_id"),
                "action": if refused.is_none() { "asset_report" } else { "asset_report_refused" },
                "asset_id": entry.get("asset_id"),
                "asset_type": "Capsule",
                "reason": refused,
                "via": entry.get("hub"),
            })
        })
        .collect();
    log::append(workspace, &notes)?;
    Ok(waiting.len())
}

fn line_of(entry: &Object) -> String {
    format!("{}\n", serde_json::to_string(entry).unwrap_or_default())
}

fn text<'a>(entry: &'a Object, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_model::SystemClock;
    use capsid_testkit::repo::Repo;
    use std::sync::Arc;

    fn entry(n: usize) -> Object {
        json!({"kind": "report", "run_id": format!("run_{n}")}).as_object().cloned().unwrap()
    }

    #[test]
    fn each_run_waits_once_and_the_oldest_give_way() {
        let repo = Repo::new();
        let workspace = Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(|_| None)).unwrap();
        assert!(pending(&workspace).unwrap().is_empty());
        for n in [0, 1, 1, 0] {
            queue(&workspace, &entry(n)).unwrap();
        }
        assert_eq!(pending(&workspace).unwrap(), [entry(0), entry(1)]);
        for n in 2..=LIMIT {
            queue(&workspace, &entry(n)).unwrap();
        }
        let waiting = pending(&workspace).unwrap();
        assert_eq!((waiting.len(), &waiting[0]), (LIMIT, &entry(1)));
        assert_eq!(waiting[LIMIT - 1], entry(LIMIT));
        assert_eq!(repo.git(&["status", "--short"]), "", "it lies where no commit takes it along");
    }

    #[cfg(unix)]
    #[test]
    fn it_is_the_owners_alone_from_the_first_entry_on() {
        use std::os::unix::fs::PermissionsExt;
        let repo = Repo::new();
        let workspace = Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(|_| None)).unwrap();
        let path = path(&workspace);
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        queue(&workspace, &entry(0)).unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        queue(&workspace, &entry(1)).unwrap();
        assert_eq!((mode(), pending(&workspace).unwrap().len()), (0o600, 2));
    }

    #[test]
    fn only_what_a_hub_will_never_take_is_given_up() {
        let refused = Problem::new(Code::HubRefused, "no");
        assert!(is_final(&refused.clone().hub_code("asset_not_found").hub_status(404)));
        assert!(!is_final(&refused.clone().hub_code("node_secret_required").hub_status(401)));
        assert!(!is_final(&refused));
        for code in [Code::NodeSecretRefused, Code::IdentityInvalid, Code::PermissionDenied] {
            assert!(!is_final(&Problem::new(code, "not now")), "{code}");
        }
    }
}
