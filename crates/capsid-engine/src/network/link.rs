//! The line between a loop and its hub: threads of their own that talk, and a shelf where the loop finds what they brought.
//!
//! The loop never waits for the network. It takes a task from the shelf, puts back what became of it, and goes on.

use super::heartbeat::{Heard, Heart, Pace, Told};
use super::sync;
use super::tasks::{self, Taken, Task};
use super::work::{self, Stage};
use crate::workspace::Workspace;
use capsid_client::{Node, Settings};
use capsid_model::{Code, Problem, Result};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the threads look whether there is something to do.
const TICK: Duration = Duration::from_millis(100);
/// How often the hub is asked for tasks when nothing tells of one.
const LOOK_FOR_TASKS: Duration = Duration::from_secs(60);
/// How often while a run waits to be settled.
const LOOK_WHILE_WAITING: Duration = Duration::from_secs(5);
/// How often it is looked whether a sync is due.
const LOOK_AT_SYNC: Duration = Duration::from_secs(60);
/// How long a delivery that failed rests; each further failure doubles it.
const FIRST_REST: Duration = Duration::from_secs(30);
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(30 * 60);
/// The most notes that wait to be told.
const MOST_NOTES: usize = 200;
/// How long a loop that ends by itself waits for what is still owed to the hub.
const LAST_WORDS: Duration = Duration::from_secs(15);
/// How long one that was stopped waits.
const STOPPED: Duration = Duration::from_secs(2);

/// Opens the repository anew.
pub type Open = Arc<dyn Fn() -> Result<Workspace> + Send + Sync>;

/// Something worth a line.
#[derive(Debug, Clone)]
pub struct Note {
    /// The line.
    pub text: String,
    /// What kind of problem it tells of, if it does.
    pub code: Option<Code>,
}

/// The line between a loop and its hub.
#[derive(Clone)]
pub struct Link {
    shelf: Arc<Shelf>,
    /// Who will talk, until they do.
    waiting: Arc<Mutex<Option<(Heart, Node)>>>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

/// What the threads and the loop share.
struct Shelf {
    open: Open,
    stop: Arc<AtomicBool>,
    /// The loop has ended: what is owed is still delivered, and nothing new is begun.
    closing: AtomicBool,
    /// Somebody can work on tasks.
    takes_tasks: AtomicBool,
    /// The hub told of tasks.
    tasks_wanted: AtomicBool,
    /// A cycle was settled.
    settled: AtomicBool,
    /// There is something to tell the hub about a task.
    owed: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    notes: VecDeque<Note>,
    /// A task that is to be worked on.
    task: Option<Task>,
    /// The task that the loop works on.
    working: bool,
}

impl Shelf {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, text: impl Into<String>) {
        self.put(Note { text: text.into(), code: None });
    }

    fn complain(&self, what: &str, problem: &Problem) {
        self.put(Note { text: format!("{what}: {}", problem.message), code: Some(problem.code) });
    }

    fn put(&self, note: Note) {
        let mut inner = self.inner();
        if inner.notes.len() < MOST_NOTES {
            inner.notes.push_back(note);
        }
    }

    /// Whether the loop could work on another task.
    fn wants_task(&self) -> bool {
        let inner = self.inner();
        self.takes_tasks.load(Ordering::Relaxed) && inner.task.is_none() && !inner.working
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Waits, in steps so small that a signal is answered at once.
    fn rest(&self, wait: Duration) {
        let start = Instant::now();
        while start.elapsed() < wait && !self.is_stopped() && !self.is_closing() {
            std::thread::sleep(TICK.min(wait));
        }
    }
}

impl Link {
    /// Prepares the line; nothing is sent yet.
    pub fn new(node: Node, settings: &Settings, open: Open, stop: Arc<AtomicBool>) -> Result<Self> {
        let heart = Heart::new(node.clone(), settings)?;
        let shelf = Shelf {
            open,
            stop,
            closing: AtomicBool::new(false),
            takes_tasks: AtomicBool::new(false),
            tasks_wanted: AtomicBool::new(true),
            settled: AtomicBool::new(false),
            owed: AtomicBool::new(true),
            inner: Mutex::default(),
        };
        let waiting = Arc::new(Mutex::new(Some((heart, node))));
        Ok(Self { shelf: Arc::new(shelf), waiting, threads: Arc::default() })
    }

    /// Starts to talk, on threads of their own; once. Without somebody to work on tasks none are taken.
    pub fn begin(&self, workspace: &Workspace, takes_tasks: bool) {
        self.shelf.takes_tasks.store(takes_tasks, Ordering::Relaxed);
        let Some((heart, node)) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let (first, second) = (Arc::clone(&self.shelf), Arc::clone(&self.shelf));
        let pace = Pace::new(&*workspace.env);
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(std::thread::spawn(move || keep_heartbeat(&first, &heart, pace)));
        threads.push(std::thread::spawn(move || Courier::new(second, node).run()));
    }

    /// What is to be told, oldest first.
    pub fn notes(&self) -> Vec<Note> {
        self.shelf.inner().notes.drain(..).collect()
    }

    /// Whether a task waits to be worked on.
    pub fn has_task(&self) -> bool {
        self.shelf.inner().task.is_some()
    }

    /// Takes the task that waits.
    pub fn take_task(&self) -> Option<Task> {
        let mut inner = self.shelf.inner();
        let task = inner.task.take();
        inner.working = task.is_some();
        task
    }

    /// The loop is done with its task, whatever became of it.
    pub fn task_done(&self) {
        self.shelf.inner().working = false;
        self.shelf.owed.store(true, Ordering::Relaxed);
        self.shelf.tasks_wanted.store(true, Ordering::Relaxed);
    }

    /// A cycle was settled: something may have become eligible, and there is time for a task.
    pub fn settled(&self) {
        self.shelf.tasks_wanted.store(true, Ordering::Relaxed);
        self.shelf.settled.store(true, Ordering::Relaxed);
    }

    /// Ends the talk; what is owed to the hub is delivered first, as far as that does not take long.
    pub fn finish(&self) {
        self.shelf.closing.store(true, Ordering::Relaxed);
        let start = Instant::now();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let patience = if self.shelf.is_stopped() { STOPPED } else { LAST_WORDS };
            // A thread that waits for a hub is left behind: everything it writes is written whole.
            if threads.iter().all(JoinHandle::is_finished) || start.elapsed() >= patience {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        threads.clear();
    }
}

/// Hello first, then heartbeats for as long as the loop runs, whatever goes wrong.
fn keep_heartbeat(shelf: &Shelf, heart: &Heart, mut pace: Pace) {
    let mut greet = true;
    let mut was_fine = true;
    while !shelf.is_stopped() && !shelf.is_closing() {
        let beat = catch_unwind(AssertUnwindSafe(|| beat_once(shelf, heart, greet)));
        let (heard, problem) = beat.unwrap_or((Heard::Failed, None));
        greet = matches!(heard, Heard::Unknown);
        match (&problem, &heard) {
            // One line when it begins to fail and one when it works again, not one each time.
            (Some(problem), _) if was_fine => shelf.complain("heartbeat", problem),
            (None, Heard::Fine(_)) if !was_fine => shelf.say("heartbeat: the hub answers again"),
            _ => {}
        }
        was_fine = problem.is_none();
        shelf.rest(pace.after(&heard));
    }
}

fn beat_once(shelf: &Shelf, heart: &Heart, greet: bool) -> (Heard, Option<Problem>) {
    let told = match (shelf.open)() {
        Ok(workspace) => Told {
            genes: workspace.store.genes.documents().map_or(0, |genes| genes.len()),
            capsules: workspace.store.capsules.documents().map_or(0, |capsules| capsules.len()),
            worker: workspace.config.hub.tasks,
        },
        Err(_) => Told::default(),
    };
    if greet && let Err(problem) = heart.hello(&told) {
        return (Heard::Failed, Some(problem));
    }
    let (heard, news, problem) = heart.beat(&told);
    if news.assigned || news.available > 0 {
        shelf.tasks_wanted.store(true, Ordering::Relaxed);
    }
    if news.overdue > 0 {
        shelf.say(format!("{} task(s) are late", news.overdue));
    }
    (heard, problem)
}

/// Carries things between the shelf and the hub.
struct Courier {
    shelf: Arc<Shelf>,
    node: Node,
    /// When what failed is tried again.
    next_delivery: Instant,
    failures: u32,
    next_look: Instant,
    next_sync: Instant,
    /// The day on which it was said that the budget is used up.
    said_spent: String,
}

impl Courier {
    fn new(shelf: Arc<Shelf>, node: Node) -> Self {
        let now = Instant::now();
        Self {
            shelf,
            node,
            next_delivery: now,
            failures: 0,
            next_look: now,
            next_sync: now,
            said_spent: String::new(),
        }
    }

    /// Looks at the shelf all the time and at the repository only where there is something to do.
    fn run(&mut self) {
        while !self.shelf.is_stopped() {
            let closing = self.shelf.is_closing();
            let now = Instant::now();
            if now >= self.next_delivery && self.shelf.owed.swap(false, Ordering::Relaxed) {
                self.guarded("tasks", Self::deliver);
            }
            if self.shelf.settled.swap(false, Ordering::Relaxed) {
                self.guarded("reports", Self::send_reports);
                self.guarded("publish", Self::publish_eligible);
            }
            if closing {
                return;
            }
            if self.shelf.wants_task()
                && (now >= self.next_look || self.shelf.tasks_wanted.swap(false, Ordering::Relaxed))
            {
                self.next_look = now + LOOK_FOR_TASKS;
                self.guarded("tasks", Self::look_for_task);
            }
            if now >= self.next_sync {
                self.next_sync = now + LOOK_AT_SYNC;
                self.guarded("sync", Self::sync_if_due);
            }
            self.shelf.rest(TICK);
        }
    }

    /// Does one kind of work; what goes wrong is told, and never ends the thread.
    fn guarded(&mut self, what: &str, work: fn(&mut Self, &Workspace) -> Result<()>) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let workspace = (self.shelf.open)()?;
            work(self, &workspace)
        }));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => self.shelf.complain(what, &problem),
            Err(_) => self.shelf.complain(what, &Problem::new(Code::Internal, "an unexpected failure")),
        }
    }

    /// Tells the hub what is owed about tasks.
    fn deliver(&mut self, workspace: &Workspace) -> Result<()> {
        for work in work::all(workspace)?.into_iter().filter(|work| work.stage.is_owed()) {
            let task_id = work.task_id.clone();
            match tasks::deliver(workspace, &self.node, work) {
                Ok(told) => {
                    self.failures = 0;
                    self.shelf.say(format!("task {task_id}: {}", tell(&told)));
                }
                Err(problem) => {
                    self.shelf.owed.store(true, Ordering::Relaxed);
                    self.failures = self.failures.saturating_add(1);
                    let doubled = 2_u32.saturating_pow(self.failures.saturating_sub(1).min(10));
                    self.next_delivery =
                        Instant::now() + FIRST_REST.saturating_mul(doubled).min(LONGEST_REST);
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
            self.shelf.say(format!("{sent} report(s) sent, {left} waiting"));
        }
        Ok(())
    }

    fn publish_eligible(&mut self, workspace: &Workspace) -> Result<()> {
        if !workspace.config.hub.publish {
            return Ok(());
        }
        let published = sync::publish_now(workspace, &self.node)?;
        for (capsule, asset) in &published.sent {
            self.shelf.say(format!("published {capsule} as {asset}"));
        }
        for (capsule, why) in &published.waiting {
            self.shelf.say(format!("{capsule} is not published yet: {why}"));
        }
        Ok(())
    }

    /// Brings a task to the shelf, where the owner allows it and the shelf is empty.
    fn look_for_task(&mut self, workspace: &Workspace) -> Result<()> {
        if !workspace.config.hub.tasks {
            return Ok(());
        }
        // While a run waits, a task could not be worked on; it is not taken from others meanwhile.
        if workspace.run_state()?.pending().is_some() {
            self.next_look = Instant::now() + LOOK_WHILE_WAITING;
            return Ok(());
        }
        self.resume_interrupted(workspace)?;
        match tasks::take(workspace, &self.node)? {
            Taken::Task(task) => {
                self.shelf.say(format!("task {}: taken: {}", task.id(), task.weighed.title));
                self.shelf.inner().task = Some(*task);
            }
            Taken::Nothing => {}
            Taken::Spent(problem) => {
                let today = workspace.now().date();
                if self.said_spent != today {
                    self.shelf.complain("tasks", &problem);
                    self.said_spent = today;
                }
            }
        }
        Ok(())
    }

    /// Work that an earlier start was interrupted in, and whose run is settled since.
    fn resume_interrupted(&mut self, workspace: &Workspace) -> Result<()> {
        for work in work::all(workspace)?.into_iter().filter(|work| work.stage == Stage::Working) {
            if let Some(settled) = tasks::resume(workspace, &work)? {
                work::note(workspace, &settled)?;
                self.shelf.owed.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn sync_if_due(&mut self, workspace: &Workspace) -> Result<()> {
        if sync::due(workspace)? > workspace.now() {
            return Ok(());
        }
        let synced = sync::sync(workspace, &self.node, false)?;
        self.shelf.say(format!("sync: {}", synced.line()));
        for problem in &synced.problems {
            self.shelf.complain("sync", problem);
        }
        Ok(())
    }
}

fn tell(told: &tasks::Told) -> String {
    match told {
        tasks::Told::HandedIn { asset_id, pending } => {
            let credits = pending.filter(|credits| *credits > 0.0);
            let credits =
                credits.map_or_else(String::new, |credits| format!("; {credits} credits are pending"));
            format!("handed in as {asset_id}{credits}")
        }
        tasks::Told::GivenBack => "given back, so that others can take it".to_owned(),
        tasks::Told::Refused(why) => format!("given back: {why}"),
    }
}
