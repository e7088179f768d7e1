//! The bell: wakes requests that wait for events.
//!
//! Whoever tells an event may ring. An event of another hub on the same database rings nobody, so the waiting requests
//! look for new ones as well: one of them, once a second, for all.

use capsid_model::problem::Result;
use capsid_store::Store;
use capsid_store::notifications::events;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

/// How often the database is looked at while somebody waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a waiting request trusts the bell before it looks for itself.
const TRUST: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NotifierState {
    rings: u64,
    newest: i64,
    closed: bool,
}

/// Wakes requests that wait for events.
pub struct EventNotifier {
    pulse: watch::Sender<NotifierState>,
    looked: Mutex<Option<Instant>>,
}

impl Default for EventNotifier {
    fn default() -> Self {
        let pulse = watch::Sender::new(NotifierState { rings: 0, newest: 0, closed: false });
        Self { pulse, looked: Mutex::default() }
    }
}

impl EventNotifier {
    /// Says that there is something new.
    pub fn notify(&self) {
        self.pulse.send_modify(|pulse| pulse.rings = pulse.rings.wrapping_add(1));
    }

    /// Ends all waiting: streams come to their end and polls answer with what there is.
    pub fn close(&self) {
        self.pulse.send_modify(|pulse| pulse.closed = true);
    }

    /// Whether the hub is closing.
    pub fn is_closed(&self) -> bool {
        self.pulse.borrow().closed
    }

    /// How many listen.
    pub fn listeners(&self) -> usize {
        self.pulse.receiver_count()
    }

    /// A listener. It hears what rings from now on, so take it before looking for events.
    pub fn listen(&self) -> EventListener<'_> {
        EventListener { bell: self, pulse: self.pulse.subscribe() }
    }

    /// Whether it is this caller's turn to look at the database.
    fn my_turn(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        let due = looked.is_none_or(|last| now.duration_since(last) >= LOOK_EVERY);
        if due {
            *looked = Some(now);
        }
        due
    }

    async fn poll_store(&self, store: &Store) -> Result<()> {
        let newest = store.read(events::newest).await?;
        self.pulse.send_if_modified(|pulse| std::mem::replace(&mut pulse.newest, newest) != newest);
        Ok(())
    }
}

/// Somebody who waits.
pub struct EventListener<'b> {
    bell: &'b EventNotifier,
    pulse: watch::Receiver<NotifierState>,
}

impl EventListener<'_> {
    /// Waits until there may be something new, the hub closes, or the time is over.
    pub async fn wait(&mut self, store: &Store, until: Instant) -> Result<()> {
        let until = until.min(Instant::now() + TRUST);
        while !self.bell.is_closed() && Instant::now() < until {
            let pause = until.min(Instant::now() + LOOK_EVERY);
            match timeout_at(pause, self.pulse.changed()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(_)) => sleep_until(until).await,
                Err(_) if self.bell.my_turn() => self.bell.poll_store(store).await?,
                Err(_) => {}
            }
        }
        Ok(())
    }
}
