//! The hub: what every request works with.

use crate::config::{HubConfig, HubProfile};
use crate::embedding::{Embedder, EmbedderParts};
use crate::http::envelope::ResponseEnvelope;
use crate::outbound::resolve::{Resolver, SystemResolver};
use crate::random::Random;
use crate::runtime::caches::{BacklogCache, GraphCountCache, HealthCache, LiveStatsCache, StatsCache};
use crate::runtime::event_notifier::EventNotifier;
use crate::runtime::exposure::is_exposed_to_strangers;
use crate::runtime::hub_clock::HubClock;
use crate::runtime::hub_keys::HubKeys;
use crate::runtime::index_follower::IndexFollower;
use crate::runtime::keyed_semaphore::KeyedSemaphore;
use crate::runtime::node_lookup::NodeLookup;
use crate::runtime::password_hasher::PasswordHasher;
use crate::runtime::publish_queue::PublishQueue;
use crate::runtime::rate_limiter::RateLimiter;
use crate::runtime::response_cache::ResponseCache;
use crate::runtime::starter::StarterLoading;
use crate::runtime::telemetry::Telemetry;
use crate::runtime::usage_counter::UsageCounter;
use crate::runtime::welcome_key::WelcomeKey;
use capsid_model::problem::Result;
use capsid_model::time::{Clock, Time};
use capsid_store::Store;
use capsid_store::evaluation::assignments::AssignmentTerms;
use capsid_store::system::meta;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::watch;

/// One hub.
pub struct Hub {
    pub store: Arc<Store>,
    pub config: Arc<HubConfig>,
    pub clock: Arc<HubClock>,
    pub random: Arc<dyn Random>,
    /// How much it takes of whom.
    pub limiter: RateLimiter,
    /// How much it lets whom read.
    pub reads: RateLimiter,
    pub passwords: PasswordHasher,
    /// Wakes requests that wait for events.
    pub events: EventNotifier,
    pub waiting: KeyedSemaphore,
    /// What was fetched and looked at, before it is written.
    pub usage: UsageCounter,
    /// Finds the nodes that requests come from.
    pub nodes: NodeLookup,
    /// Stores publishes that wait together.
    pub publishes: PublishQueue,
    /// What it was asked and nothing has changed since.
    pub responses: ResponseCache,
    /// Brings what was written into the index.
    pub index: IndexFollower,
    /// Finds what says the same in other words, where there is an endpoint for it.
    pub embedder: Embedder,
    /// Whether its database could be written when that was last tried.
    pub health: HealthCache,
    /// What last waited in its database.
    pub backlog: BacklogCache,
    /// Whether it is for friends and strangers can reach it.
    pub is_exposed: bool,
    /// What it last told of itself.
    pub stats: StatsCache,
    /// How much it last counted in its knowledge graph.
    pub graph: GraphCountCache,
    /// What it last told whoever watches its numbers.
    pub live: LiveStatsCache,
    /// The key of the link that makes the first admin.
    pub welcome: WelcomeKey,
    /// How far it has loaded the starter pack, and what runs that.
    pub starter: StarterLoading,
    pub hub_id: String,
    /// What it seals, hashes and signs with.
    pub keys: Arc<HubKeys>,
    pub started: Time,
    /// How it finds the addresses of names.
    pub resolver: Arc<dyn Resolver>,
    /// What it counts of itself.
    pub telemetry: Arc<Telemetry>,
    /// How often a secret, a session token or an API key was compared, for tests.
    pub authentications: Arc<AtomicU64>,
    /// Becomes true when the hub stops. What goes on by itself ends then.
    pub closing: watch::Receiver<bool>,
    close: watch::Sender<bool>,
}

/// The hub as handlers share it.
pub type SharedHub = Arc<Hub>;

impl Hub {
    /// Makes a hub of an open database.
    pub fn new(
        store: Store,
        config: impl Into<Arc<HubConfig>>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<SharedHub> {
        Self::with_resolver(store, config, clock, random, Arc::new(SystemResolver))
    }

    /// The same with its own way to find the addresses of names.
    pub fn with_resolver(
        store: Store,
        config: impl Into<Arc<HubConfig>>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        resolver: Arc<dyn Resolver>,
    ) -> Result<SharedHub> {
        let proposed = format!("hub_{}", random.hex(8));
        // Only the first start writes: a hub whose disk is full still starts, and reads.
        let hub_id = match store.read_now(|tx| meta::find(tx, "hub_id"))? {
            Some(hub_id) => hub_id,
            None => store.write_now(move |tx| meta::get_or_set(tx, "hub_id", &proposed))?,
        };
        let keys = Arc::new(HubKeys::load(&store, random.as_ref())?);
        let (close, closing) = watch::channel(false);
        let config: Arc<HubConfig> = config.into();
        store.set_trust(config.trust());
        let (store, telemetry) = (Arc::new(store), Arc::<Telemetry>::default());
        let clock = HubClock::new(clock);
        let shared_clock = Arc::clone(&clock) as Arc<dyn Clock>;
        let embedder = Embedder::new(
            &config.search,
            EmbedderParts {
                store: Arc::clone(&store),
                clock: Arc::clone(&shared_clock),
                random: Arc::clone(&random),
                resolver: Arc::clone(&resolver),
                telemetry: Arc::clone(&telemetry),
                closing: closing.clone(),
            },
        );
        Ok(Arc::new(Self {
            limiter: RateLimiter::new(store.dialect(), &clock, &telemetry),
            reads: RateLimiter::local(&clock, &telemetry),
            passwords: PasswordHasher::default(),
            events: EventNotifier::default(),
            waiting: KeyedSemaphore::default(),
            usage: UsageCounter::new(Arc::clone(&store), shared_clock, config.rewards()),
            nodes: NodeLookup::new(Arc::clone(&store)),
            publishes: PublishQueue::new(Arc::clone(&store), Arc::clone(&clock)),
            responses: ResponseCache::default(),
            index: IndexFollower::new(Arc::clone(&store), Arc::clone(&clock))?,
            embedder,
            health: HealthCache::default(),
            backlog: BacklogCache::default(),
            is_exposed: is_exposed_to_strangers(&config),
            stats: StatsCache::default(),
            graph: GraphCountCache::default(),
            live: LiveStatsCache::default(),
            welcome: WelcomeKey::default(),
            starter: StarterLoading::default(),
            started: clock.now(),
            resolver,
            telemetry,
            authentications: Arc::default(),
            closing,
            close,
            hub_id,
            keys,
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

    /// Whether the hub is about to stop.
    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// How assignments are made by this hub, with fresh chance.
    pub fn assignment_terms(&self) -> AssignmentTerms {
        let chance = self.random_bytes();
        let promotion = &self.config.promotion;
        AssignmentTerms {
            validators: promotion.validators,
            valid_ms: promotion.assignment_ms,
            audit_share: promotion.audit_share,
            is_drawn: self.config.profile == HubProfile::Public,
            chance,
        }
    }

    /// Bytes that nobody can foretell.
    pub fn random_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.random.fill(&mut bytes);
        bytes
    }

    /// The present moment. It never goes back.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// A new id such as `rcpt_1736934600123_a1b2c3d4`.
    pub fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.now().0, self.random.hex(6))
    }

    /// The head of an answer.
    pub fn answer(&self, message_type: &'static str) -> ResponseEnvelope {
        let now = self.now();
        ResponseEnvelope {
            message_type,
            message_id: format!("msg_{}_{}", now.0, self.random.hex(4)),
            hub_id: self.hub_id.clone(),
            now,
        }
    }
}
