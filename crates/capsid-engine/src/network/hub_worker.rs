//! The thread that moves tasks, results, reports and syncs between the loop's state and its hub.

use super::loop_state::{LoopState, TICK};
use super::sync;
use super::tasks::{self, TaskSearchOutcome};
use super::work::{self, WorkStage};
use crate::memory::remote;
use crate::run::pending;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::{Code, Problem, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the hub is asked for tasks when no event reports one.
const LOOK_FOR_TASKS: Duration = Duration::from_secs(60);
/// How often while a run waits to be settled.
const LOOK_WHILE_WAITING: Duration = Duration::from_secs(5);
/// How often it is looked whether a sync is due.
const LOOK_AT_SYNC: Duration = Duration::from_secs(60);
/// How long a delivery that failed rests.
const BACKOFF: BackoffPolicy = BackoffPolicy::doubling(30_000, 30 * 60_000);

/// Moves work between the loop's state and the hub.
pub(super) struct HubWorker {
    state: Arc<LoopState>,
    node: NodeClient,
    /// When what failed is tried again.
    next_delivery: Instant,
    failures: u64,
    next_look: Instant,
    next_sync: Instant,
    /// The day on which the used-up budget was last reported.
    budget_warned_on: String,
}

impl HubWorker {
    pub(super) fn new(state: Arc<LoopState>, node: NodeClient) -> Self {
        let now = Instant::now();
        Self {
            state,
            node,
            next_delivery: now,
            failures: 0,
            next_look: now,
            next_sync: now,
            budget_warned_on: String::new(),
        }
    }

    /// Checks the state in each tick, and opens the repository only if there is something to do.
    pub(super) fn run(&mut self) {
        while !self.state.is_stopped() {
            let closing = self.state.is_closing();
            let now = Instant::now();
            if now >= self.next_delivery && self.state.owed.swap(false, Ordering::Relaxed) {
                self.guarded("tasks", Self::deliver);
            }
            if self.state.settled.swap(false, Ordering::Relaxed) {
                self.guarded("reports", Self::send_reports);
                self.guarded("memory", Self::report_memory);
                self.guarded("publish", Self::publish_eligible);
            }
            if closing {
                break;
            }
            if self.state.is_waiting_for_task()
                && (now >= self.next_look || self.state.tasks_wanted.swap(false, Ordering::Relaxed))
            {
                self.next_look = now + LOOK_FOR_TASKS;
                self.guarded("tasks", Self::find_task);
            }
            if now >= self.next_sync {
                self.next_sync = now + LOOK_AT_SYNC;
                self.guarded("sync", Self::sync_if_due);
            }
            self.state.wait(TICK);
        }
        self.release_task();
    }

    /// A task that was taken and not begun is left to others. One that this node had before stays its own.
    fn release_task(&self) {
        let waiting = self.state.inner().task.take();
        let Some(task) = waiting.filter(|task| !task.weighed.is_own) else { return };
        match self.node.task_release(task.id()) {
            Ok(_) => {
                self.state.push_message(format!("task {}: released, because it was not started", task.id()));
            }
            Err(problem) => self.state.complain(&format!("task {}", task.id()), &problem),
        }
    }

    /// Does one kind of work; a failure is reported and never ends the thread.
    fn guarded(&mut self, what: &str, work: fn(&mut Self, &Workspace) -> Result<()>) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let workspace = (self.state.open)()?;
            work(self, &workspace)
        }));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => self.state.complain(what, &problem),
            Err(_) => self.state.complain(what, &Problem::new(Code::Internal, "an unexpected failure")),
        }
    }

    /// Sends the reports that are owed about tasks.
    fn deliver(&mut self, workspace: &Workspace) -> Result<()> {
        if !workspace.config.hub.tasks {
            return Ok(());
        }
        for work in work::all(workspace)?.into_iter().filter(|work| work.stage.is_owed()) {
            let task_id = work.task_id.clone();
            match tasks::deliver(workspace, &self.node, work) {
                Ok(report) => {
                    self.failures = 0;
                    self.state.push_message(format!("task {task_id}: {}", describe_report(&report)));
                }
                Err(problem) => {
                    self.state.owed.store(true, Ordering::Relaxed);
                    self.failures = self.failures.saturating_add(1);
                    self.next_delivery = Instant::now() + BACKOFF.pause(self.failures);
                    return Err(problem);
                }
            }
        }
        Ok(())
    }

    /// What was found out about somebody else's solution.
    fn send_reports(&mut self, workspace: &Workspace) -> Result<()> {
        let (sent, left) = sync::send_queued_reports(workspace, &self.node, false)?;
        if sent > 0 {
            self.state.push_message(format!("{sent} report(s) sent, {left} waiting"));
        }
        Ok(())
    }

    /// Sends pending records to the shared memory, if there is one.
    fn report_memory(&mut self, workspace: &Workspace) -> Result<()> {
        remote::deliver(workspace).map_or(Ok(()), Err)
    }

    fn publish_eligible(&mut self, workspace: &Workspace) -> Result<()> {
        if !workspace.config.hub.publish {
            return Ok(());
        }
        let published = sync::publish_now(workspace, &self.node)?;
        for (capsule, asset) in &published.sent {
            self.state.push_message(format!("published {capsule} as {asset}"));
        }
        for (capsule, reason) in &published.waiting {
            self.state.push_message(format!("{capsule} is not published yet: {reason}"));
        }
        Ok(())
    }

    /// Puts a task into the state, if the owner allows it and the state has none.
    fn find_task(&mut self, workspace: &Workspace) -> Result<()> {
        if !workspace.config.hub.tasks {
            return Ok(());
        }
        // While a run waits, a task could not be worked on; it is not taken from others meanwhile.
        if pending::pending(workspace)?.is_some() {
            self.next_look = Instant::now() + LOOK_WHILE_WAITING;
            return Ok(());
        }
        self.resume_interrupted(workspace)?;
        match tasks::claim_best_task(workspace, &self.node)? {
            TaskSearchOutcome::Task(task) => {
                self.state.push_message(format!("task {}: taken: {}", task.id(), task.weighed.title));
                self.state.inner().task = Some(*task);
            }
            TaskSearchOutcome::Nothing => {}
            TaskSearchOutcome::Spent(problem) => {
                let today = workspace.now().date();
                if self.budget_warned_on != today {
                    self.state.complain("tasks", &problem);
                    self.budget_warned_on = today;
                }
            }
        }
        Ok(())
    }

    /// Work that an earlier start was interrupted in, and whose run is settled since.
    fn resume_interrupted(&mut self, workspace: &Workspace) -> Result<()> {
        for work in work::all(workspace)?.into_iter().filter(|work| work.stage == WorkStage::Working) {
            if let Some(settled) = tasks::resume(workspace, &work)? {
                work::save_work(workspace, &settled)?;
                self.state.owed.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn sync_if_due(&mut self, workspace: &Workspace) -> Result<()> {
        if sync::due(workspace)? > workspace.now() {
            return Ok(());
        }
        let synced = sync::sync(workspace, &self.node, false)?;
        self.state.push_message(format!("sync: {}", synced.line()));
        for problem in &synced.problems {
            self.state.complain("sync", problem);
        }
        Ok(())
    }
}

fn describe_report(report: &tasks::TaskReport) -> String {
    match report {
        tasks::TaskReport::HandedIn { asset_id, pending } => {
            let credits = pending.filter(|credits| *credits > 0.0);
            let credits =
                credits.map_or_else(String::new, |credits| format!("; {credits} credits are pending"));
            format!("handed in as {asset_id}{credits}")
        }
        tasks::TaskReport::GivenBack => "released, so that others can take it".to_owned(),
        tasks::TaskReport::Refused(reason) => format!("not handed in, and not tried again: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_client::{ClientConfig, Identity};
    use capsid_model::{SystemClock, json};
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;

    /// The last request to a hub when a loop stops with a waiting task.
    fn asked_at_the_end(task: &capsid_model::Value) -> Option<String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let hub = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 8192];
            let read = stream.read(&mut buffer).unwrap();
            let _gone = stream.write_all(
                b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
            );
            String::from_utf8_lossy(&buffer[..read]).lines().next().unwrap_or_default().to_owned()
        });
        let home = tempfile::tempdir().unwrap();
        let identity = Identity::open(home.path(), &|_| None).unwrap();
        let settings = ClientConfig::new(&url, false).unwrap();
        let node = NodeClient::new(&settings, identity, Arc::new(SystemClock)).unwrap();
        let open = Arc::new(|| Err(Problem::new(Code::Internal, "nothing is opened")));
        let state = Arc::new(LoopState::new(open, Arc::new(AtomicBool::new(true))));
        state.inner().task = Some(tasks::HubTask::read(task, "node_a").unwrap());
        HubWorker::new(Arc::clone(&state), node).run();
        assert!(state.inner().task.is_none());
        if state.inner().notes.is_empty() {
            return None;
        }
        Some(hub.join().unwrap())
    }

    #[test]
    fn what_was_taken_and_not_begun_is_given_back_when_the_loop_stops() {
        let claimed = json!({"task_id": "task_1", "status": "open"});
        let last_request = asked_at_the_end(&claimed);
        assert!(
            last_request.as_deref().is_some_and(|line| line.starts_with("POST /a2a/task/release")),
            "{last_request:?}"
        );
        let own = json!({"task_id": "task_2", "status": "claimed", "claimed_by": "node_a"});
        assert_eq!(asked_at_the_end(&own), None);
    }
}
