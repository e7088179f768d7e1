//! What an operator may set. Every value has a default that suits a hub on one's own machine.

mod admission;
mod identity;
mod keys;
mod load;
mod profile;
mod quotas;

pub use admission::AdmissionConfig;
pub use identity::IdentityConfig;
pub use keys::{KEYS, SettingKey};
pub use load::{LoadedConfig, SAMPLE, SettingOrigin, SettingSources, load};
pub use profile::HubProfile;
pub use quotas::{HoldWarned, QuotasConfig};

use capsid_rules::credits::{self, GrantedUse, StakeSource};
use capsid_rules::evaluation::gdi::BeliefRule;
use capsid_rules::evaluation::owners::OwnerPolicy;
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::evaluation::trust_policy::TrustPolicy;
use capsid_rules::identity::owner_level::LevelPolicy;
use capsid_rules::identity::secrets::RequireSecret;
use capsid_rules::rate_limit::RateLimit;
use capsid_rules::work::bounties::UndecidedOutcome;
use capsid_rules::work::swarm::{AggregatorFallback, AggregatorTerms};
use capsid_rules::work::tasks::{AGGREGATOR_REPUTATION, RewardRequirement};
use capsid_store::accounts::grants::GrantPolicy;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::work::bounties::settle::SettlementTerms;
use capsid_store::work::tasks::complete::CompletionTerms;
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use utoipa::ToSchema;

/// The settings of one hub.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// Who can reach it; decides the defaults.
    pub profile: HubProfile,
    pub listen: SocketAddr,
    pub data: PathBuf,
    /// `postgres://…`, or nothing for SQLite in the data folder.
    pub database: Option<String>,
    /// A standby of that server, for reads that may be a second old.
    pub read_database: Option<String>,
    /// How others reach it, without a slash at the end. By default `http://` and the address it listens on.
    pub public_url: Option<String>,
    /// A certificate and its key, as PEM files.
    pub tls: Option<TlsConfig>,
    pub max_connections: usize,
    /// Who is let in.
    pub admission: AdmissionConfig,
    /// How long the server waits for what.
    pub timeouts: TimeoutsConfig,
    /// Whether a node has to show its secret.
    pub require_secret: RequireSecret,
    /// How nodes prove who they are.
    pub identity: IdentityConfig,
    /// Whether anybody may make an account.
    pub open_registration: bool,
    /// Messages whose time is further away than this are refused. Off by default.
    pub max_skew_ms: Option<i64>,
    /// Programs that validation commands may use beside node, npm and npx.
    pub extra_programs: Vec<String>,
    /// The runner that an operator may start beside the hub.
    pub runner: RunnerConfig,
    /// Whether webhooks may go to this machine, for trying things out.
    pub allow_local_webhooks: bool,
    /// How much of what is taken.
    pub limits: RateLimitsConfig,
    /// When a candidate is promoted.
    pub promotion: PromotionConfig,
    /// What a new node and a new account get, in milli-credits.
    pub node_grant: i64,
    /// What a new account gets, in milli-credits.
    pub account_grant: i64,
    /// What is earned and what things cost.
    pub credits: CreditsConfig,
    /// How tasks and bounties go.
    pub work: TasksConfig,
    /// How much an owner may publish.
    pub quotas: QuotasConfig,
    /// Which assets wait for moderation.
    pub hold_warned: HoldWarned,
    pub webhooks: WebhooksConfig,
    /// Who may ask the knowledge graph, and what that costs.
    pub graph: GraphConfig,
    /// How assets are found by meaning.
    pub search: SearchConfig,
    /// What is asked of owners.
    pub owners: OwnerPolicy,
    /// How assets are ranked, and what rows tell.
    pub ranking: RankingConfig,
}

/// How assets are ranked, and what rows tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct RankingConfig {
    pub belief: BeliefRule,
    pub row_values: RowValues,
}

/// What rows of assets tell of confidence, streak and reputation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowValues {
    /// What the publisher declares.
    #[default]
    Declared,
    /// As far as others bear it out.
    Adjusted,
}

impl RowValues {
    /// Reads a setting.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Declared, Self::Adjusted].into_iter().find(|values| values.as_str() == text)
    }

    /// The word of the setting.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Adjusted => "adjusted",
        }
    }
}

/// The runner that an operator may start beside the hub.
#[derive(Debug, Clone)]
pub struct RunnerConfig {
    /// Whether jobs are queued for it.
    pub is_on: bool,
    /// What it shows to the hub; empty for the one in the data folder.
    pub token: SecretText,
    pub command_seconds: u64,
    /// Seconds that one owner's bundles may take in a day, for owners of level 0, 1 and 2.
    pub seconds_by_level: [i64; 3],
    /// How many jobs run at the same time.
    pub slots: i64,
}

impl Default for RunnerConfig {
    fn default() -> Self {
        Self {
            is_on: false,
            token: SecretText::default(),
            command_seconds: 60,
            seconds_by_level: [60, 600, 3600],
            slots: 1,
        }
    }
}

/// Who may ask the knowledge graph, and what that costs.
#[derive(Debug, Clone)]
pub struct GraphConfig {
    /// Who may ask it and tell it things.
    pub access: GraphAccess,
    /// What a question costs, in milli-credits.
    pub query_price: i64,
    /// What telling it something costs, in milli-credits.
    pub ingest_price: i64,
    /// How many things and relations one account or node may have told.
    pub most_told: i64,
}

impl GraphConfig {
    /// Whether anybody may ask it, for nothing.
    pub fn is_open(&self) -> bool {
        self.access == GraphAccess::Everyone && self.query_price == 0
    }
}

/// Who may ask the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraphAccess {
    Everyone,
    /// Accounts of admins, and their nodes.
    Admins,
    Nobody,
}

impl GraphAccess {
    /// Reads a setting.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Everyone, Self::Admins, Self::Nobody].into_iter().find(|access| access.as_str() == text)
    }

    /// The word of the setting.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Admins => "admins",
            Self::Nobody => "nobody",
        }
    }
}

impl Default for GraphConfig {
    fn default() -> Self {
        Self {
            access: GraphAccess::Everyone,
            query_price: 0,
            ingest_price: 0,
            most_told: capsid_store::graph::MAX_TOLD,
        }
    }
}

/// How assets are found by meaning.
#[derive(Debug, Clone)]
pub struct SearchConfig {
    /// An endpoint that makes embeddings, such as `http://127.0.0.1:11434/v1`; nothing is sent anywhere without one.
    pub embeddings_url: Option<String>,
    /// The model that makes them.
    pub embeddings_model: String,
    /// What the endpoint wants to be shown.
    pub embeddings_key: SecretText,
    /// How many numbers each has; 0 for as many as the first one.
    pub embeddings_dimensions: usize,
    /// How many texts are sent at once.
    pub embeddings_batch: usize,
    /// How long the endpoint has for these. A question waits for two seconds at most.
    pub embeddings_timeout_ms: i64,
}

/// A text that is used and never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretText(pub String);

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "…" })
    }
}

/// What is earned and what things cost, in milli-credits.
#[derive(Debug, Clone)]
pub struct CreditsConfig {
    /// For the publisher of a promoted bundle.
    pub promotion_reward: i64,
    /// The most for the publisher when another owner reuses an asset; less by its score.
    pub reuse_reward: i64,
    /// The least for a validator whose report agrees with the outcome.
    pub report_reward_min: i64,
    pub report_reward_max: i64,
    /// How many owners must have reported before validators are rewarded.
    pub reward_quorum: i64,
    /// The most that all rewards out of the mint together give one owner on one day; 0 for no bound.
    pub daily_reward_cap: i64,
    /// For a node that brought in another one.
    pub referrer_reward: i64,
    /// For the node that was brought in.
    pub referred_reward: i64,
    /// The least a validator puts aside.
    pub validator_stake: i64,
    /// What a node pays for an asset of another owner, once.
    pub fetch_price: i64,
    /// What the hub keeps of bounties and sales, in thousandths of a percent.
    pub commission_milli: i64,
    /// What it keeps of services, in thousandths of a percent.
    pub service_commission_milli: i64,
    /// What granted credits can be used for.
    pub granted: GrantedUse,
    /// How long rewards are held before they are paid.
    pub reward_hold_ms: i64,
    /// Which credits can be staked.
    pub stake_from: StakeSource,
    /// What a report that contradicts an arbitrated outcome costs of the stake, in percent.
    pub slash_percent: i64,
}

/// How tasks and bounties go.
#[derive(Debug, Clone)]
pub struct TasksConfig {
    /// From how many milli-credits up nodes are told of a task at once.
    pub high_value: i64,
    /// How long a node has that promised nothing.
    pub claim_ms: i64,
    /// How long the creator of a bounty has to decide on what was handed in.
    pub decision_ms: i64,
    /// What becomes of what nobody decided on.
    pub undecided: UndecidedOutcome,
    /// Whether nodes of a reputation below 30 are paid half.
    pub reduced_payouts: bool,
    /// Whether creators see only a preview of what was handed in until they open or accept it.
    pub preview: bool,
    /// How long a rejection can be disputed after the creator has read the answer; 0 for not at all.
    pub dispute_ms: i64,
    /// What amounts ask of whoever wants to earn them.
    pub gates: Vec<RewardRequirement>,
    /// Models by name, and their tiers.
    pub model_tiers: Vec<(String, i64)>,
    /// Who merges the results of a swarm.
    pub aggregator: AggregatorTerms,
}

impl TasksConfig {
    /// What follows when something was handed in.
    pub fn completion_terms(&self) -> CompletionTerms {
        CompletionTerms { decide_ms: self.decision_ms, aggregator: self.aggregator }
    }
}

/// How webhooks are called.
#[derive(Debug, Clone)]
pub struct WebhooksConfig {
    /// How long a call may take.
    pub timeout_ms: i64,
    /// The first pause after a call that failed.
    pub first_retry_ms: i64,
    pub longest_retry_ms: i64,
    /// When an event that cannot be delivered is given up.
    pub give_up_ms: i64,
}

/// A certificate and its key.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// How long the server waits for what. They protect the hub and are no settings; tests shorten them.
#[derive(Debug, Clone, Copy)]
pub struct TimeoutsConfig {
    /// For the head of a request, and for a TLS handshake.
    pub head: Duration,
    /// For the whole body of a request. Shorter than `request`, so that a slow client is told that it is slow.
    pub body: Duration,
    /// For the next request on an open connection.
    pub idle: Duration,
    /// For an answer, except of calls that wait by their nature.
    pub request: Duration,
    /// For a client that reads nothing.
    pub stall: Duration,
    /// For what is under way when the hub stops.
    pub drain: Duration,
    /// For an asset that is handed in before it is published.
    pub publication: Duration,
}

impl Default for TimeoutsConfig {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            head: seconds(10),
            body: seconds(25),
            idle: seconds(75),
            request: seconds(30),
            stall: seconds(30),
            drain: seconds(10),
            publication: seconds(3),
        }
    }
}

/// How much of what is taken in which time.
#[derive(Debug, Clone)]
pub struct RateLimitsConfig {
    /// Hellos of one address, and other messages of nodes that the hub has not heard of.
    pub hello: RateLimit,
    /// Accounts made from one address.
    pub register: RateLimit,
    pub publish: RateLimit,
    pub heartbeat: RateLimit,
    /// Reports, decisions and withdrawals of one node, together.
    pub messages: RateLimit,
    pub vote: RateLimit,
    /// Searches and fetches of one address.
    pub read: RateLimit,
    /// Other writing calls of one node or address.
    pub other: RateLimit,
    /// Wrong secrets, tokens and keys of one address.
    pub wrong_credentials: RateLimit,
    /// Questions of one account or node to the knowledge graph; drawings count too.
    pub graph_query: RateLimit,
    /// What one account or node tells the knowledge graph.
    pub graph_ingest: RateLimit,
}

/// When a candidate is promoted.
#[derive(Debug, Clone)]
pub struct PromotionConfig {
    /// How often the job runs; 0 never.
    pub interval_ms: i64,
    pub rule: PromotionRule,
    /// How many validators are asked about one asset.
    pub validators: usize,
    pub assignment_ms: i64,
    /// How many of all assignments have an answer that the hub knows, 0 to 1.
    pub audit_share: f64,
    /// Who may take a candidate on trial.
    pub trial: TrialAccess,
}

/// Who may take a candidate on trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialAccess {
    /// Every node that the hub knows.
    Node,
    /// Nodes of owners of level 1.
    Level1,
}

capsid_model::text_enum!(TrialAccess {
    Node = "node",
    Level1 = "level1",
});

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            profile: HubProfile::Private,
            listen: SocketAddr::from(([127, 0, 0, 1], 4000)),
            data: PathBuf::from("hub"),
            database: None,
            read_database: None,
            public_url: None,
            tls: None,
            max_connections: 4096,
            admission: AdmissionConfig::default(),
            timeouts: TimeoutsConfig::default(),
            require_secret: RequireSecret::Tofu,
            identity: IdentityConfig::default(),
            open_registration: true,
            max_skew_ms: None,
            extra_programs: Vec::new(),
            runner: RunnerConfig::default(),
            allow_local_webhooks: false,
            limits: RateLimitsConfig::default(),
            promotion: PromotionConfig::default(),
            node_grant: 500_000,
            account_grant: 200_000,
            credits: CreditsConfig::default(),
            work: TasksConfig::default(),
            quotas: QuotasConfig::default(),
            hold_warned: HoldWarned::default(),
            webhooks: WebhooksConfig::default(),
            graph: GraphConfig::default(),
            search: SearchConfig::default(),
            owners: OwnerPolicy::PRIVATE,
            ranking: RankingConfig::default(),
        }
    }
}

impl Default for CreditsConfig {
    fn default() -> Self {
        Self {
            promotion_reward: credits::PROMOTION_REWARD,
            reuse_reward: credits::REUSE_REWARD_MAX,
            report_reward_min: credits::REPORT_REWARD_MIN,
            report_reward_max: credits::REPORT_REWARD_MAX,
            reward_quorum: 2,
            daily_reward_cap: 1_000 * credits::CREDIT,
            referrer_reward: 0,
            referred_reward: 0,
            validator_stake: credits::VALIDATOR_STAKE,
            fetch_price: 0,
            commission_milli: 0,
            service_commission_milli: 0,
            granted: GrantedUse::Any,
            reward_hold_ms: 0,
            stake_from: StakeSource::Any,
            slash_percent: 0,
        }
    }
}

impl Default for TasksConfig {
    fn default() -> Self {
        Self {
            high_value: 10 * credits::CREDIT,
            claim_ms: 24 * HOUR,
            decision_ms: 72 * HOUR,
            undecided: UndecidedOutcome::Refund,
            reduced_payouts: false,
            preview: false,
            dispute_ms: 0,
            gates: Vec::new(),
            model_tiers: Vec::new(),
            aggregator: AggregatorTerms {
                min_reputation: AGGREGATOR_REPUTATION,
                fallback: AggregatorFallback::Proposer,
            },
        }
    }
}

impl Default for WebhooksConfig {
    fn default() -> Self {
        Self { timeout_ms: 10_000, first_retry_ms: 10_000, longest_retry_ms: 6 * HOUR, give_up_ms: 72 * HOUR }
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            embeddings_url: None,
            embeddings_model: String::new(),
            embeddings_key: SecretText::default(),
            embeddings_dimensions: 0,
            embeddings_batch: 32,
            embeddings_timeout_ms: 20_000,
        }
    }
}

impl Default for RateLimitsConfig {
    fn default() -> Self {
        let per = |count, window_ms| RateLimit { count, window_ms };
        Self {
            hello: per(600, HOUR),
            register: per(30, HOUR),
            publish: per(600, MINUTE),
            heartbeat: per(12, MINUTE),
            messages: per(600, MINUTE),
            vote: per(30, MINUTE),
            read: per(60_000, MINUTE),
            other: per(600, MINUTE),
            wrong_credentials: per(20, MINUTE),
            graph_query: per(300, MINUTE),
            graph_ingest: per(150, MINUTE),
        }
    }
}

impl Default for PromotionConfig {
    fn default() -> Self {
        Self {
            interval_ms: MINUTE,
            rule: PromotionRule::default(),
            validators: 3,
            assignment_ms: HOUR,
            audit_share: 0.0,
            trial: TrialAccess::Node,
        }
    }
}

impl HubConfig {
    /// The address that the hub tells others, without a slash at the end.
    pub fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        match &self.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("{scheme}://{}", self.reachable()),
        }
    }

    /// Where somebody on this machine finds it: a hub that listens everywhere is also here.
    fn reachable(&self) -> SocketAddr {
        let mut address = self.listen;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        address
    }

    /// What this hub rewards.
    pub fn rewards(&self) -> RewardRates {
        let credits = &self.credits;
        RewardRates {
            promotion: credits.promotion_reward,
            reuse: credits.reuse_reward,
            report_min: credits.report_reward_min,
            report_max: credits.report_reward_max,
            quorum: credits.reward_quorum,
            daily_cap: credits.daily_reward_cap,
            referrer: credits.referrer_reward,
            referred: credits.referred_reward,
            hold_ms: credits.reward_hold_ms,
            levels: self.levels(),
            slash_percent: credits.slash_percent,
            keyless: self.identity.keyless_pay(),
        }
    }

    /// Whether owners have to earn their level.
    pub fn levels(&self) -> LevelPolicy {
        match self.profile {
            HubProfile::Private => LevelPolicy::Trusted,
            HubProfile::Public => LevelPolicy::Earned,
        }
    }

    /// Who is granted what.
    pub fn grants(&self) -> GrantPolicy {
        GrantPolicy { account: self.account_grant, levels: self.levels() }
    }

    /// How evidence counts on this hub.
    pub fn trust(&self) -> TrustPolicy {
        let base = match self.profile {
            HubProfile::Private => TrustPolicy::PRIVATE,
            HubProfile::Public => TrustPolicy::PUBLIC,
        };
        let owners = OwnerPolicy { least_level: base.owners.least_level, ..self.owners };
        TrustPolicy {
            owners,
            belief: self.ranking.belief,
            validator_stake: self.credits.validator_stake,
            ..base
        }
    }

    /// How this hub settles bounties.
    pub fn settlement_terms(&self) -> SettlementTerms {
        SettlementTerms {
            commission_milli: self.credits.commission_milli,
            service_commission_milli: self.credits.service_commission_milli,
            reduces: self.work.reduced_payouts,
            undecided: self.work.undecided,
            preview: self.work.preview,
            dispute_ms: self.work.dispute_ms,
            keyless: self.identity.keyless_pay(),
        }
    }

    /// What validation commands may be.
    pub fn command_policy(&self) -> capsid_model::gate::CommandPolicy {
        let mut policy = capsid_model::gate::CommandPolicy::default();
        policy.programs.extend(self.extra_programs.iter().cloned());
        policy
    }
}
