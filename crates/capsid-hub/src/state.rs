//! The hub: what every request works with.

use crate::config::Config;
use crate::embedding::Embedder;
use crate::http::envelope::Answer;
use crate::ops::graph::Counted;
use crate::ops::hub::health::Health;
use crate::ops::hub::live::Live;
use crate::ops::hub::stats::Stats;
use crate::outbound::resolve::{Resolve, SystemResolver};
use crate::random::Random;
use crate::runtime::bell::Bell;
use crate::runtime::indexer::Indexer;
use crate::runtime::limiter::Limiter;
use crate::runtime::passwords::Passwords;
use crate::runtime::telemetry::Telemetry;
use crate::runtime::usage::Usage;
use crate::runtime::waiting::WaitingRoom;
use capsid_model::problem::Result;
use capsid_model::time::{Clock, Time};
use capsid_store::Store;
use capsid_store::system::meta;
use std::sync::Arc;
use tokio::sync::watch;

/// One hub.
pub struct Hub {
    /// Its database.
    pub store: Store,
    /// Its settings.
    pub config: Config,
    /// Its time.
    pub clock: Arc<dyn Clock>,
    /// Its chance.
    pub random: Arc<dyn Random>,
    /// How much it takes of whom.
    pub limiter: Limiter,
    /// How much it lets whom read.
    pub reads: Limiter,
    /// How it checks passwords.
    pub passwords: Passwords,
    /// Wakes requests that wait for events.
    pub events: Bell,
    /// Who waits for them.
    pub waiting: WaitingRoom,
    /// What was fetched and looked at, before it is written.
    pub usage: Usage,
    /// Brings new assets into the search.
    pub indexer: Indexer,
    /// Finds what says the same in other words, where there is an endpoint for it.
    pub embedder: Embedder,
    /// Whether its database could be written when that was last tried.
    pub health: Health,
    /// What it last told of itself.
    pub stats: Stats,
    /// How much it last counted in its knowledge graph.
    pub graph: Counted,
    /// What it last told whoever watches its numbers.
    pub live: Live,
    /// Its own node id.
    pub hub_id: String,
    /// When this process began.
    pub started: Time,
    /// How it finds the addresses of names.
    pub resolver: Arc<dyn Resolve>,
    /// What it counts of itself.
    pub telemetry: Arc<Telemetry>,
    /// Becomes true when the hub stops. What goes on by itself ends then.
    pub closing: watch::Receiver<bool>,
    close: watch::Sender<bool>,
}

/// The hub as handlers share it.
pub type Shared = Arc<Hub>;

impl Hub {
    /// Makes a hub of an open database.
    pub fn new(
        store: Store,
        config: Config,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Shared> {
        Self::with_resolver(store, config, clock, random, Arc::new(SystemResolver))
    }

    /// The same with its own way to find the addresses of names.
    pub fn with_resolver(
        store: Store,
        config: Config,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Shared> {
        let proposed = format!("hub_{}", random.hex(8));
        let hub_id = store.write_now(move |tx| meta::settle(tx, "hub_id", &proposed))?;
        let (close, closing) = watch::channel(false);
        Ok(Arc::new(Self {
            limiter: Limiter::new(store.dialect()),
            reads: Limiter::local(),
            passwords: Passwords::default(),
            events: Bell::default(),
            waiting: WaitingRoom::default(),
            usage: Usage::default(),
            indexer: Indexer::default(),
            embedder: Embedder::new(&config.search, Arc::clone(&resolver)),
            health: Health::default(),
            stats: Stats::default(),
            graph: Counted::default(),
            live: Live::default(),
            started: clock.now(),
            resolver,
            telemetry: Arc::default(),
            closing,
            close,
            hub_id,
            store,
            config,
            clock,
            random,
        }))
    }

    /// Tells everything that goes on by itself to end: streams, long polls and jobs.
    pub fn close(&self) {
        self.close.send_replace(true);
        self.events.close();
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// A new id such as `rcpt_1736934600123_a1b2c3d4`.
    pub fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.now().0, self.random.hex(6))
    }

    /// The head of an answer.
    pub fn answer(&self, message_type: &'static str) -> Answer {
        let now = self.now();
        Answer {
            message_type,
            message_id: format!("msg_{}_{}", now.0, self.random.hex(4)),
            hub_id: self.hub_id.clone(),
            now,
        }
    }
}
