//! Every setting, once: its name, how it is read and how it is shown.

use super::admission::{hosts, origins, ranges, shown_ranges};
use super::quotas::{by_level, shown_size, shown_sizes, size, whole};
use super::{GraphAccess, HoldWarned, HubConfig, HubProfile, RowValues, SecretText, TlsConfig, TrialAccess};
use crate::outbound::endpoint::EmbeddingEndpoint;
use capsid_rules::credits::{GrantedUse, StakeSource, from_shown, text, to_decimal};
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::evaluation::owners::UnclaimedOwners;
use capsid_rules::evaluation::quorum::ArbiterRule;
use capsid_rules::identity::secret_clients::SecretClient;
use capsid_rules::identity::secrets::{KeylessPin, RequireSecret};
use capsid_rules::meaning::vectors;
use capsid_rules::rate_limit::RateLimit;
use capsid_rules::work::bounties::UndecidedOutcome;
use capsid_rules::work::swarm::AggregatorFallback;
use capsid_rules::work::tasks::RewardRequirement;
use serde_json::{Value, json};
use std::path::PathBuf;
use toml::Value as Toml;

/// What a setting looks like in a variable or on the command line, where everything is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    Text,
    Number,
    /// `true` or `false`.
    Flag,
    /// Words with commas between them.
    List,
}

/// One setting.
pub struct SettingKey {
    /// Its section and name, such as `server.listen`.
    pub name: &'static str,
    /// How it is written where everything is text.
    pub kind: SettingKind,
    /// What it should be, for the message when it is not.
    pub expected: &'static str,
    pub(super) set: fn(&mut HubConfig, &Toml) -> Option<()>,
    pub(super) show: fn(&HubConfig) -> Value,
}

impl SettingKey {
    /// Its variable: `CAPSID_HUB_LISTEN` for `server.listen`, `CAPSID_HUB_LIMITS_HELLO` for `limits.hello`.
    pub fn variable(&self) -> String {
        let name = match self.name {
            "database.url" => "database",
            name => name.strip_prefix("server.").unwrap_or(name),
        };
        format!("CAPSID_HUB_{}", name.replace('.', "_").to_ascii_uppercase())
    }

    /// Its present value. A password within it is not shown.
    pub fn to_json(&self, config: &HubConfig) -> Value {
        (self.show)(config)
    }

    /// Reads a text as the setting's kind of value.
    pub(super) fn parse_text(&self, text: &str) -> Option<Toml> {
        let text = text.trim();
        match self.kind {
            SettingKind::Text => Some(Toml::String(text.to_owned())),
            SettingKind::Number => match text.parse::<i64>() {
                Ok(whole) => Some(Toml::Integer(whole)),
                Err(_) => text.parse::<f64>().ok().map(Toml::Float),
            },
            SettingKind::Flag => text.parse::<bool>().ok().map(Toml::Boolean),
            SettingKind::List => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Some(Toml::Array(words.map(|word| Toml::String(word.to_owned())).collect()))
            }
        }
    }
}

macro_rules! keys {
    ($($name:literal, $kind:ident, $expected:literal, |$into:ident, $value:ident| $set:expr, |$from:ident| $show:expr;)*) => {
        /// Every setting, in the order of the sample.
        pub const KEYS: &[SettingKey] = &[$(SettingKey {
            name: $name,
            kind: SettingKind::$kind,
            expected: $expected,
            set: |$into, $value| { $set; Some(()) },
            show: |$from| json!($show),
        },)*];
    };
}

keys! {
    "server.profile", Text, "private or public",
        |c, v| c.profile = HubProfile::parse(v.as_str()?)?, |c| c.profile.as_str();
    "server.listen", Text, "an address and a port, such as 127.0.0.1:4000",
        |c, v| c.listen = v.as_str()?.parse().ok()?, |c| c.listen.to_string();
    "server.public_url", Text, "an http:// or https:// address without a query, such as https://hub.example.org",
        |c, v| c.public_url = Some(public_url(v.as_str()?)?), |c| c.public_url;
    "server.max_connections", Number, "a whole number from 1 to 1000000",
        |c, v| c.max_connections = parse_integer(v, 1, 1_000_000)? as usize, |c| c.max_connections;
    "server.connections_per_address", Number, "a whole number from 1 to 1000000",
        |c, v| c.admission.connections_per_address = parse_integer(v, 1, 1_000_000)? as usize,
        |c| c.admission.connections_per_address;
    "server.connections_per_network", Number, "a whole number from 1 to 1000000",
        |c, v| c.admission.connections_per_network = parse_integer(v, 1, 1_000_000)? as usize,
        |c| c.admission.connections_per_network;
    "server.reserve_percent", Number, "a whole number from 0 to 90",
        |c, v| c.admission.reserve_percent = parse_integer(v, 0, 90)? as usize, |c| c.admission.reserve_percent;
    "server.allowed_hosts", List, "names of this hub, such as [\"hub.example.org\"]",
        |c, v| c.admission.allowed_hosts = hosts(v)?, |c| c.admission.allowed_hosts;
    "server.allowed_origins", List, "schemes and hosts of web pages, such as [\"https://app.example.org\"]",
        |c, v| c.admission.allowed_origins = origins(v)?, |c| c.admission.allowed_origins;
    "server.trusted_proxies", List, "addresses and ranges of addresses, such as [\"127.0.0.1\", \"10.0.0.0/8\"]",
        |c, v| c.admission.trusted_proxies = ranges(v)?, |c| shown_ranges(&c.admission.trusted_proxies);
    "server.tls_certificate", Text, "the path of a PEM file",
        |c, v| tls(c).certificate = path(v)?, |c| c.tls.as_ref().map(|tls| &tls.certificate);
    "server.tls_key", Text, "the path of a PEM file",
        |c, v| tls(c).key = path(v)?, |c| c.tls.as_ref().map(|tls| &tls.key);
    "database.url", Text, "a URL such as postgres://user:password@host:5432/name",
        |c, v| c.database = Some(database(v.as_str()?)?), |c| c.database.as_deref().map(without_password);
    "database.read_url", Text, "a URL such as postgres://user:password@standby:5432/name",
        |c, v| c.read_database = Some(database(v.as_str()?)?), |c| c.read_database.as_deref().map(without_password);
    "identity.require_secret", Text, "never, tofu or always",
        |c, v| c.require_secret = RequireSecret::parse(v.as_str()?)?, |c| c.require_secret.as_str();
    "identity.open_registration", Flag, "true or false",
        |c, v| c.open_registration = v.as_bool()?, |c| c.open_registration;
    "identity.issue_window_seconds", Number, "a number of seconds from 0.1 to 600",
        |c, v| c.identity.issue_window_ms = seconds(v, 600.0)?, |c| c.identity.issue_window_ms as f64 / 1000.0;
    "identity.secret_clients", List, "clients, such as [\"capsid\", \"evolver>=1.29.4\"]",
        |c, v| c.identity.secret_clients = secret_clients(v)?, |c| shown_clients(&c.identity.secret_clients);
    "identity.pin_keyless", Text, "off or network",
        |c, v| c.identity.pin_keyless = KeylessPin::parse(v.as_str()?)?, |c| c.identity.pin_keyless.as_str();
    "identity.keyless_repin_hours", Number, "a number of hours from 0.001 to 8760",
        |c, v| c.identity.keyless_repin_ms = hours(v)?, |c| in_hours(c.identity.keyless_repin_ms);
    "identity.count_keyless_reports", Flag, "true or false",
        |c, v| c.identity.count_keyless_reports = v.as_bool()?, |c| c.identity.count_keyless_reports;
    "identity.pay_keyless", Flag, "true or false",
        |c, v| c.identity.pay_keyless = v.as_bool()?, |c| c.identity.pay_keyless;
    "identity.recovery_quiet_hours", Number, "a number of hours from 0 to 8760; 0 for never",
        |c, v| c.identity.recovery_quiet_ms = hours_or_never(v)?, |c| in_hours(c.identity.recovery_quiet_ms);
    "identity.claim_grace_hours", Number, "a number of hours from 0 to 8760; 0 for never",
        |c, v| c.identity.claim_grace_ms = hours_or_never(v)?, |c| in_hours(c.identity.claim_grace_ms);
    "identity.reserved_names", List, "names, such as [\"admin\", \"support\"]",
        |c, v| c.identity.reserved_names = names(v)?, |c| c.identity.reserved_names;
    "identity.assign_ids", Flag, "true or false",
        |c, v| c.identity.assign_ids = v.as_bool()?, |c| c.identity.assign_ids;
    "protocol.max_skew_ms", Number, "a whole number of milliseconds; 0 for no check",
        |c, v| c.max_skew_ms = Some(parse_integer(v, 0, YEAR_MS)?).filter(|ms| *ms > 0), |c| c.max_skew_ms.unwrap_or(0);
    "validation.programs", List, "names of programs, such as [\"python3\", \"cargo\"]",
        |c, v| c.extra_programs = programs(v)?, |c| c.extra_programs;
    "validation.runner", Text, "off or on",
        |c, v| c.runner.is_on = on_or_off(v.as_str()?)?, |c| if c.runner.is_on { "on" } else { "off" };
    "validation.runner_token", Text, "a token of visible ASCII characters",
        |c, v| c.runner.token = hidden(v.as_str()?)?, |c| shown_hidden(&c.runner.token);
    "validation.command_seconds", Number, "a whole number of seconds from 1 to 3600",
        |c, v| c.runner.command_seconds = parse_integer(v, 1, 3600)? as u64, |c| c.runner.command_seconds;
    "validation.seconds_by_level", List, "three numbers of seconds, such as [60, 600, 3600]",
        |c, v| c.runner.seconds_by_level = by_level(v, whole)?.try_into().ok()?, |c| c.runner.seconds_by_level;
    "validation.runner_slots", Number, "a whole number from 1 to 64",
        |c, v| c.runner.slots = parse_integer(v, 1, 64)?, |c| c.runner.slots;
    "webhooks.allow_local", Flag, "true or false",
        |c, v| c.allow_local_webhooks = v.as_bool()?, |c| c.allow_local_webhooks;
    "webhooks.timeout_seconds", Number, "a number of seconds from 0.1 to 300",
        |c, v| c.webhooks.timeout_ms = seconds(v, 300.0)?, |c| c.webhooks.timeout_ms as f64 / 1000.0;
    "webhooks.first_retry_seconds", Number, "a number of seconds from 0.1 to 86400",
        |c, v| c.webhooks.first_retry_ms = seconds(v, 86_400.0)?, |c| c.webhooks.first_retry_ms as f64 / 1000.0;
    "webhooks.longest_retry_seconds", Number, "a number of seconds from 0.1 to 604800",
        |c, v| c.webhooks.longest_retry_ms = seconds(v, 604_800.0)?,
        |c| c.webhooks.longest_retry_ms as f64 / 1000.0;
    "webhooks.give_up_hours", Number, "a number of hours from 0.001 to 8760",
        |c, v| c.webhooks.give_up_ms = hours(v)?, |c| in_hours(c.webhooks.give_up_ms);
    "search.embeddings_url", Text, "an http:// or https:// address such as http://127.0.0.1:11434/v1, or nothing",
        |c, v| c.search.embeddings_url = endpoint(v.as_str()?)?, |c| c.search.embeddings_url;
    "search.embeddings_model", Text, "the name of a model",
        |c, v| c.search.embeddings_model = name(v.as_str()?)?, |c| c.search.embeddings_model;
    "search.embeddings_key", Text, "a key of visible ASCII characters",
        |c, v| c.search.embeddings_key = hidden(v.as_str()?)?, |c| shown_hidden(&c.search.embeddings_key);
    "search.embeddings_dimensions", Number, "a whole number from 0 to 8192; 0 for as many as the model gives",
        |c, v| c.search.embeddings_dimensions = parse_integer(v, 0, vectors::MAX_DIMS as i64)? as usize,
        |c| c.search.embeddings_dimensions;
    "search.embeddings_batch", Number, "a whole number from 1 to 128",
        |c, v| c.search.embeddings_batch = parse_integer(v, 1, 128)? as usize, |c| c.search.embeddings_batch;
    "search.embeddings_timeout_seconds", Number, "a number of seconds from 0.1 to 300",
        |c, v| c.search.embeddings_timeout_ms = seconds(v, 300.0)?,
        |c| c.search.embeddings_timeout_ms as f64 / 1000.0;
    "limits.hello", Text, "a limit such as 600/hour",
        |c, v| c.limits.hello = limit(v)?, |c| rate(c.limits.hello);
    "limits.register", Text, "a limit such as 30/hour",
        |c, v| c.limits.register = limit(v)?, |c| rate(c.limits.register);
    "limits.publish", Text, "a limit such as 600/minute",
        |c, v| c.limits.publish = limit(v)?, |c| rate(c.limits.publish);
    "limits.heartbeat", Text, "a limit such as 12/minute",
        |c, v| c.limits.heartbeat = limit(v)?, |c| rate(c.limits.heartbeat);
    "limits.messages", Text, "a limit such as 600/minute",
        |c, v| c.limits.messages = limit(v)?, |c| rate(c.limits.messages);
    "limits.vote", Text, "a limit such as 30/minute",
        |c, v| c.limits.vote = limit(v)?, |c| rate(c.limits.vote);
    "limits.read", Text, "a limit such as 60000/minute",
        |c, v| c.limits.read = limit(v)?, |c| rate(c.limits.read);
    "limits.other", Text, "a limit such as 600/minute",
        |c, v| c.limits.other = limit(v)?, |c| rate(c.limits.other);
    "limits.wrong_credentials", Text, "a limit such as 20/minute",
        |c, v| c.limits.wrong_credentials = limit(v)?, |c| rate(c.limits.wrong_credentials);
    "limits.graph_query", Text, "a limit such as 300/minute",
        |c, v| c.limits.graph_query = limit(v)?, |c| rate(c.limits.graph_query);
    "limits.graph_ingest", Text, "a limit such as 150/minute",
        |c, v| c.limits.graph_ingest = limit(v)?, |c| rate(c.limits.graph_ingest);
    "limits.min_free_bytes", Number, "a whole number of bytes; 0 for no check",
        |c, v| c.admission.min_free_bytes = parse_integer(v, 0, 1 << 50)?.unsigned_abs(),
        |c| c.admission.min_free_bytes;
    "promotion.interval_seconds", Number, "a whole number of seconds; 0 for never",
        |c, v| c.promotion.interval_ms = parse_integer(v, 0, 31_536_000)? * 1000, |c| c.promotion.interval_ms / 1000;
    "promotion.require_report", Flag, "true or false",
        |c, v| c.promotion.rule.require_report = v.as_bool()?, |c| c.promotion.rule.require_report;
    "promotion.min_gdi", Number, "a number from 0 to 100",
        |c, v| c.promotion.rule.min_gdi = real(v, 100.0)?, |c| c.promotion.rule.min_gdi;
    "promotion.min_intrinsic", Number, "a number from 0 to 1",
        |c, v| c.promotion.rule.min_intrinsic = real(v, 1.0)?, |c| c.promotion.rule.min_intrinsic;
    "promotion.min_confidence", Number, "a number from 0 to 1",
        |c, v| c.promotion.rule.min_confidence = real(v, 1.0)?, |c| c.promotion.rule.min_confidence;
    "promotion.min_streak", Number, "a whole number from 0 to 1000000",
        |c, v| c.promotion.rule.min_streak = parse_integer(v, 0, 1_000_000)? as u32, |c| c.promotion.rule.min_streak;
    "promotion.min_reputation", Number, "a number from 0 to 100",
        |c, v| c.promotion.rule.min_reputation = real(v, 100.0)?, |c| c.promotion.rule.min_reputation;
    "promotion.validators", Number, "a whole number from 1 to 100",
        |c, v| c.promotion.validators = parse_integer(v, 1, 100)? as usize, |c| c.promotion.validators;
    "promotion.assignment_seconds", Number, "a whole number of seconds from 1",
        |c, v| c.promotion.assignment_ms = parse_integer(v, 1, 31_536_000)? * 1000, |c| c.promotion.assignment_ms / 1000;
    "promotion.audit_share", Number, "a number from 0 to 1",
        |c, v| c.promotion.audit_share = real(v, 1.0)?, |c| c.promotion.audit_share;
    "promotion.min_owners", Number, "a whole number from 1 to 1000",
        |c, v| c.promotion.rule.quorum.min_owners = parse_integer(v, 1, 1000)? as u32,
        |c| c.promotion.rule.quorum.min_owners;
    "promotion.min_weight", Number, "a number from 0 to 1000",
        |c, v| c.promotion.rule.quorum.min_weight = real(v, 1000.0)?, |c| c.promotion.rule.quorum.min_weight;
    "promotion.arbiter", Text, "off, small or always",
        |c, v| c.promotion.rule.quorum.arbiter = ArbiterRule::parse(v.as_str()?)?,
        |c| c.promotion.rule.quorum.arbiter.as_str();
    "promotion.use_owners", Number, "a whole number from 0 to 1000; 0 for the same rule as for other assets",
        |c, v| c.promotion.rule.quorum.use_owners = parse_integer(v, 0, 1000)? as u32,
        |c| c.promotion.rule.quorum.use_owners;
    "promotion.use_hours", Number, "a number of hours from 0 to 8760",
        |c, v| c.promotion.rule.quorum.use_hours = real(v, 8760.0)?, |c| c.promotion.rule.quorum.use_hours;
    "promotion.proof", Text, "fetched, used, applied, assigned, reproduced or hub",
        |c, v| c.promotion.rule.lowest_grade = counted_grade(v.as_str()?)?, |c| c.promotion.rule.lowest_grade.as_str();
    "promotion.trial", Text, "node or level1",
        |c, v| c.promotion.trial = TrialAccess::parse(v.as_str()?)?, |c| c.promotion.trial.as_str();
    "promotion.demote_owners", Number, "a whole number from 1 to 1000",
        |c, v| c.promotion.rule.demote_owners = parse_integer(v, 1, 1000)? as u32, |c| c.promotion.rule.demote_owners;
    "owners.unclaimed", Text, "node or network",
        |c, v| c.owners.unclaimed = UnclaimedOwners::parse(v.as_str()?)?, |c| c.owners.unclaimed.as_str();
    "owners.min_age_days", Number, "a number of days from 0 to 3650",
        |c, v| c.owners.min_age_days = real(v, 3650.0)?, |c| c.owners.min_age_days;
    "owners.min_days_seen", Number, "a whole number from 0 to 3650",
        |c, v| c.owners.min_days_seen = parse_integer(v, 0, 3650)? as u32, |c| c.owners.min_days_seen;
    "owners.level2_days", Number, "a number of days from 0 to 3650",
        |c, v| c.owners.level2_days = real(v, 3650.0)?, |c| c.owners.level2_days;
    "owners.level2_settled", Number, "a whole number from 0 to 1000000",
        |c, v| c.owners.level2_settled = parse_integer(v, 0, 1_000_000)? as u32, |c| c.owners.level2_settled;
    "owners.level2_weight", Number, "a number from 0 to 1",
        |c, v| c.owners.level2_weight = real(v, 1.0)?, |c| c.owners.level2_weight;
    "owners.settled_for_weight", Number, "a whole number from 0 to 1000000; 0 gives every owner a weight of 1",
        |c, v| c.owners.settled_for_weight = parse_integer(v, 0, 1_000_000)? as u32,
        |c| c.owners.settled_for_weight;
    "owners.reputation_caps", Text, "off or on",
        |c, v| c.owners.reputation_caps = switch(v)?, |c| shown_switch(c.owners.reputation_caps);
    "ranking.belief_floor", Number, "a number from 0 to 1",
        |c, v| c.ranking.belief.floor = real(v, 1.0)?, |c| c.ranking.belief.floor;
    "ranking.belief_half", Number, "a number above 0, to 1000",
        |c, v| c.ranking.belief.half = real(v, 1000.0).filter(|half| *half > 0.0)?, |c| c.ranking.belief.half;
    "ranking.row_values", Text, "declared or adjusted",
        |c, v| c.ranking.row_values = RowValues::parse(v.as_str()?)?, |c| c.ranking.row_values.as_str();
    "credits.node_grant", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.node_grant = credits(v)?, |c| to_decimal(c.node_grant);
    "credits.account_grant", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.account_grant = credits(v)?, |c| to_decimal(c.account_grant);
    "credits.promotion_reward", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.promotion_reward = credits(v)?, |c| to_decimal(c.credits.promotion_reward);
    "credits.reuse_reward", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.reuse_reward = credits(v)?, |c| to_decimal(c.credits.reuse_reward);
    "credits.report_reward_min", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.report_reward_min = credits(v)?, |c| to_decimal(c.credits.report_reward_min);
    "credits.report_reward_max", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.report_reward_max = credits(v)?, |c| to_decimal(c.credits.report_reward_max);
    "credits.reward_quorum", Number, "a whole number from 1 to 1000",
        |c, v| c.credits.reward_quorum = parse_integer(v, 1, 1000)?, |c| c.credits.reward_quorum;
    "credits.daily_reward_cap", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.daily_reward_cap = credits(v)?, |c| to_decimal(c.credits.daily_reward_cap);
    "credits.referrer_reward", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.referrer_reward = credits(v)?, |c| to_decimal(c.credits.referrer_reward);
    "credits.referred_reward", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.referred_reward = credits(v)?, |c| to_decimal(c.credits.referred_reward);
    "credits.validator_stake", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.validator_stake = credits(v)?, |c| to_decimal(c.credits.validator_stake);
    "credits.fetch_price", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.credits.fetch_price = credits(v)?, |c| to_decimal(c.credits.fetch_price);
    "credits.commission_percent", Number, "a number from 0 to 100",
        |c, v| c.credits.commission_milli = percent(v)?, |c| c.credits.commission_milli as f64 / 1000.0;
    "credits.service_commission_percent", Number, "a number from 0 to 100",
        |c, v| c.credits.service_commission_milli = percent(v)?,
        |c| c.credits.service_commission_milli as f64 / 1000.0;
    "tasks.high_value", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.work.high_value = credits(v)?, |c| to_decimal(c.work.high_value);
    "tasks.claim_hours", Number, "a number of hours from 0.001 to 8760",
        |c, v| c.work.claim_ms = hours(v)?, |c| in_hours(c.work.claim_ms);
    "tasks.reputation_gates", List, "amounts and reputations, such as [\"1:20\", \"10:65\"]",
        |c, v| c.work.gates = gates(v)?, |c| shown_gates(&c.work.gates);
    "tasks.model_tiers", List, "models and tiers from 0 to 5, such as [\"my-model:3\"]",
        |c, v| c.work.model_tiers = tiers(v)?, |c| shown_tiers(&c.work.model_tiers);
    "tasks.aggregator_min_reputation", Number, "a number from 0 to 100",
        |c, v| c.work.aggregator.min_reputation = real(v, 100.0)?, |c| c.work.aggregator.min_reputation;
    "tasks.aggregator_fallback", Text, "proposer or none",
        |c, v| c.work.aggregator.fallback = AggregatorFallback::parse(v.as_str()?)?,
        |c| c.work.aggregator.fallback.as_str();
    "bounties.decision_hours", Number, "a number of hours from 0.001 to 8760",
        |c, v| c.work.decision_ms = hours(v)?, |c| in_hours(c.work.decision_ms);
    "bounties.undecided", Text, "refund or pay",
        |c, v| c.work.undecided = UndecidedOutcome::parse(v.as_str()?)?, |c| c.work.undecided.as_str();
    "bounties.reduced_payouts", Flag, "true or false",
        |c, v| c.work.reduced_payouts = v.as_bool()?, |c| c.work.reduced_payouts;
    "bounties.preview", Flag, "true or false",
        |c, v| c.work.preview = v.as_bool()?, |c| c.work.preview;
    "bounties.dispute_hours", Number, "a number of hours from 0 to 8760; 0 for no disputes",
        |c, v| c.work.dispute_ms = (real(v, 8760.0)? * 3_600_000.0).round() as i64, |c| in_hours(c.work.dispute_ms);
    "credits.granted", Text, "any or fees",
        |c, v| c.credits.granted = GrantedUse::parse(v.as_str()?)?, |c| c.credits.granted.as_str();
    "credits.reward_hold_days", Number, "a number of days from 0 to 365",
        |c, v| c.credits.reward_hold_ms = (real(v, 365.0)? * DAY_MS).round() as i64,
        |c| c.credits.reward_hold_ms as f64 / DAY_MS;
    "credits.stake_from", Text, "any or earned",
        |c, v| c.credits.stake_from = StakeSource::parse(v.as_str()?)?, |c| c.credits.stake_from.as_str();
    "credits.slash_percent", Number, "a whole number from 0 to 100",
        |c, v| c.credits.slash_percent = parse_integer(v, 0, 100)?, |c| c.credits.slash_percent;
    "limits.publish_bytes", List, "sizes for owners of level 0, 1 and 2, or one for all, such as [\"64 MiB\"]",
        |c, v| c.quotas.publish_bytes = by_level(v, size)?, |c| shown_sizes(&c.quotas.publish_bytes);
    "limits.publish_bundles", List, "numbers for owners of level 0, 1 and 2, or one for all; none for no limit",
        |c, v| c.quotas.publish_bundles = by_level(v, whole)?, |c| c.quotas.publish_bundles;
    "limits.asset_bytes", Text, "a size from 1 KiB to 1 MiB, such as 256 KiB",
        |c, v| c.quotas.asset_bytes = size(v).filter(|bytes| (1024..=1_048_576).contains(bytes))?,
        |c| shown_size(c.quotas.asset_bytes);
    "safety.hold_warned", Text, "off or level0",
        |c, v| c.hold_warned = HoldWarned::parse(v.as_str()?)?, |c| c.hold_warned.as_str();
    "graph.access", Text, "everyone, admins or nobody",
        |c, v| c.graph.access = GraphAccess::parse(v.as_str()?)?, |c| c.graph.access.as_str();
    "graph.query_price", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.graph.query_price = credits(v)?, |c| to_decimal(c.graph.query_price);
    "graph.ingest_price", Number, "an amount of credits from 0 to 1000000000",
        |c, v| c.graph.ingest_price = credits(v)?, |c| to_decimal(c.graph.ingest_price);
    "graph.most_told", Number, "a whole number from 0 to 1000000000",
        |c, v| c.graph.most_told = parse_integer(v, 0, 1_000_000_000)?, |c| c.graph.most_told;
}

const YEAR_MS: i64 = 31_536_000_000;
const DAY_MS: f64 = 86_400_000.0;

/// A grade of reports that can count.
fn counted_grade(text: &str) -> Option<EvidenceGrade> {
    EvidenceGrade::parse(text).filter(|grade| *grade >= EvidenceGrade::Fetched)
}

fn parse_integer(value: &Toml, least: i64, most: i64) -> Option<i64> {
    value.as_integer().filter(|number| (least..=most).contains(number))
}

fn real(value: &Toml, most: f64) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))?;
    (0.0..=most).contains(&number).then_some(number)
}

/// Reads `on` and `off`.
fn switch(value: &Toml) -> Option<bool> {
    match value.as_str()? {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn shown_switch(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// Credits are counted in thousandths.
fn credits(value: &Toml) -> Option<i64> {
    real(value, 1e9).map(|amount| (amount * 1000.0).round() as i64)
}

fn seconds(value: &Toml, most: f64) -> Option<i64> {
    real(value, most).filter(|seconds| *seconds >= 0.1).map(|seconds| (seconds * 1000.0).round() as i64)
}

fn hours(value: &Toml) -> Option<i64> {
    real(value, 8760.0).filter(|hours| *hours >= 0.001).map(|hours| (hours * 3_600_000.0).round() as i64)
}

fn hours_or_never(value: &Toml) -> Option<i64> {
    real(value, 8760.0).map(|hours| (hours * 3_600_000.0).round() as i64)
}

fn secret_clients(value: &Toml) -> Option<Vec<SecretClient>> {
    value.as_array()?.iter().map(|client| SecretClient::parse(client.as_str()?)).collect()
}

fn shown_clients(clients: &[SecretClient]) -> Vec<String> {
    clients.iter().map(SecretClient::to_string).collect()
}

fn names(value: &Toml) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|value| name(value.as_str()?).filter(|name| !name.is_empty())).collect()
}

fn in_hours(ms: i64) -> f64 {
    ms as f64 / 3_600_000.0
}

fn percent(value: &Toml) -> Option<i64> {
    real(value, 100.0).map(|percent| (percent * 1000.0).round() as i64)
}

/// Reads `["10:65"]`: words with a colon and a number.
fn pairs(value: &Toml) -> Option<Vec<(&str, &str)>> {
    value.as_array()?.iter().map(|pair| pair.as_str()?.rsplit_once(':')).collect()
}

fn gates(value: &Toml) -> Option<Vec<RewardRequirement>> {
    let gate = |(amount, reputation): (&str, &str)| {
        let amount = from_shown(amount.trim().parse().ok()?).filter(|amount| *amount >= 0)?;
        let reputation = reputation.trim().parse().ok().filter(|needed| (0.0..=100.0).contains(needed))?;
        Some(RewardRequirement { amount, reputation })
    };
    pairs(value)?.into_iter().map(gate).collect()
}

fn shown_gates(gates: &[RewardRequirement]) -> Vec<String> {
    gates.iter().map(|gate| format!("{}:{}", text(gate.amount), gate.reputation)).collect()
}

fn tiers(value: &Toml) -> Option<Vec<(String, i64)>> {
    let tier = |(model, tier): (&str, &str)| {
        let tier = tier.trim().parse().ok().filter(|tier| (0..=5).contains(tier))?;
        Some((model.trim().to_owned(), tier))
    };
    pairs(value)?.into_iter().map(tier).collect()
}

fn shown_tiers(tiers: &[(String, i64)]) -> Vec<String> {
    tiers.iter().map(|(model, tier)| format!("{model}:{tier}")).collect()
}

fn path(value: &Toml) -> Option<PathBuf> {
    value.as_str().filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn tls(config: &mut HubConfig) -> &mut TlsConfig {
    config.tls.get_or_insert_with(|| TlsConfig { certificate: PathBuf::new(), key: PathBuf::new() })
}

/// An address that clients can be told: a host, perhaps a path, and nothing secret.
fn public_url(text: &str) -> Option<String> {
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split('/').next().filter(|host| !host.is_empty() && !host.starts_with(':'))?;
    let odd = |c: char| c.is_whitespace() || c.is_control() || "?#\"'<>\\`".contains(c);
    (!host.contains('@') && !rest.contains(odd)).then(|| url.to_owned())
}

/// Where embeddings are made; nothing where none are.
fn endpoint(text: &str) -> Option<Option<String>> {
    let url = text.trim().trim_end_matches('/');
    match url.is_empty() {
        true => Some(None),
        false => EmbeddingEndpoint::parse(url).map(|_| Some(url.to_owned())),
    }
}

fn name(text: &str) -> Option<String> {
    let name = text.trim();
    (name.len() <= 200 && !name.chars().any(char::is_control)).then(|| name.to_owned())
}

fn hidden(text: &str) -> Option<SecretText> {
    let key = text.trim();
    key.bytes().all(|byte| byte.is_ascii_graphic()).then(|| SecretText(key.to_owned()))
}

fn on_or_off(text: &str) -> Option<bool> {
    match text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn shown_hidden(key: &SecretText) -> &'static str {
    if key.0.is_empty() { "" } else { "…" }
}

fn database(text: &str) -> Option<String> {
    (text.starts_with("postgres://") || text.starts_with("postgresql://")).then(|| text.to_owned())
}

/// A database URL as it may be shown.
pub(super) fn without_password(url: &str) -> String {
    let query = |text: &str| match text.split_once('?') {
        // A password may also stand behind the question mark.
        Some((before, _)) => format!("{before}?…"),
        None => text.to_owned(),
    };
    let Some((scheme, rest)) = url.split_once("://") else { return "…".to_owned() };
    match rest.rsplit_once('@') {
        Some((user, place)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}:…@{}", query(place))
        }
        None => format!("{scheme}://{}", query(rest)),
    }
}

fn programs(value: &Toml) -> Option<Vec<String>> {
    let plain = |name: &str| {
        !name.is_empty()
            && name.len() <= 64
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b))
    };
    let name = |value: &Toml| value.as_str().filter(|name| plain(name)).map(str::to_owned);
    value.as_array()?.iter().map(name).collect()
}

const WINDOWS: [(&str, i64); 4] =
    [("second", 1_000), ("minute", 60_000), ("hour", 3_600_000), ("day", 86_400_000)];

/// Reads `600/hour`.
fn limit(value: &Toml) -> Option<RateLimit> {
    let (count, window) = value.as_str()?.split_once('/')?;
    let (_, window_ms) = WINDOWS.iter().find(|(name, _)| *name == window.trim())?;
    Some(RateLimit { count: count.trim().parse().ok()?, window_ms: *window_ms })
}

/// Writes `600/hour`.
pub(crate) fn rate(limit: RateLimit) -> String {
    match WINDOWS.iter().find(|(_, ms)| *ms == limit.window_ms) {
        Some((name, _)) => format!("{}/{name}", limit.count),
        None => format!("{}/{} ms", limit.count, limit.window_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::{KEYS, public_url, without_password};

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:s3cret@db:5432/hub", "postgres://me:…@db:5432/hub"),
            ("postgres://me:p@ss@db/hub?password=x", "postgres://me:…@db/hub?…"),
            ("postgres:///hub?password=x", "postgres:///hub?…"),
            ("postgres://db/hub", "postgres://db/hub"),
            ("s3cret", "…"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn a_public_address_is_one_that_can_be_told() {
        assert_eq!(public_url("https://hub.example.org/").as_deref(), Some("https://hub.example.org"));
        assert_eq!(public_url("http://127.0.0.1:4000/a").as_deref(), Some("http://127.0.0.1:4000/a"));
        for bad in [
            "hub.example.org",
            "ftp://x",
            "https://",
            "https:///x",
            "https://u:p@x",
            "https://x/?q",
            "https://x y",
        ] {
            assert_eq!(public_url(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_and_variables_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for key in KEYS {
            assert!(seen.insert(key.name.to_owned()) && seen.insert(key.variable()), "{}", key.name);
        }
        assert!(seen.contains("CAPSID_HUB_LISTEN") && seen.contains("CAPSID_HUB_DATABASE"));
        assert!(seen.contains("CAPSID_HUB_PROMOTION_REQUIRE_REPORT"));
    }
}
