//! The rules that the hub goes by.

use crate::http::envelope::{PROTOCOL, VERSION};
use crate::http::json::{BODY_LIMIT, DEPTH_LIMIT, MAILBOX_LIMIT};
use crate::state::Hub;
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::evaluation::quorum::ArbiterRule;
use capsid_rules::identity::secrets::RequireSecret;
use capsid_rules::rate_limit::RateLimit;
use capsid_rules::work::models;
use serde::Serialize;
use utoipa::ToSchema;

/// The rules that the hub goes by.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HubPolicy)]
pub struct PolicyResponse {
    protocol: ProtocolPolicy,
    identity: IdentityPolicy,
    validation: ValidationPolicy,
    promotion: PromotionPolicy,
    limits: LimitPolicy,
    sizes: SizePolicy,
}

/// Which protocol.
#[derive(Debug, Serialize, ToSchema)]
struct ProtocolPolicy {
    name: &'static str,
    version: &'static str,
    #[schema(required)]
    max_skew_ms: Option<i64>,
}

/// Who may come.
#[derive(Debug, Serialize, ToSchema)]
struct IdentityPolicy {
    /// never, tofu or always.
    #[schema(value_type = String)]
    require_secret: RequireSecret,
    open_registration: bool,
}

/// Which validation commands are taken. The hub runs none of them.
#[derive(Debug, Serialize, ToSchema)]
struct ValidationPolicy {
    programs: Vec<String>,
    inline_code: bool,
    runs_on_hub: bool,
    #[schema(value_type = Vec<String>)]
    rules: [&'static str; 4],
}

/// How candidates are promoted.
#[derive(Debug, Serialize, ToSchema)]
struct PromotionPolicy {
    interval_seconds: i64,
    #[schema(value_type = i64)]
    validators: usize,
    assignment_seconds: i64,
    /// Who may take a candidate on trial: node or level1.
    trial: &'static str,
    rule: PromotionRuleView,
}

/// What a promotion asks for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PromotionRule)]
struct PromotionRuleView {
    min_gdi: f64,
    min_intrinsic: f64,
    min_confidence: f64,
    min_streak: i64,
    min_reputation: f64,
    require_report: bool,
    /// How many owners must have passed it.
    min_owners: i64,
    /// How much their reports must weigh together.
    min_weight: f64,
    /// off, small or always: when an arbiter must be among them.
    #[schema(value_type = String)]
    arbiter: ArbiterRule,
    /// How many owners must have used an asset that has no test that could fail; 0 for the same rule.
    use_owners: i64,
    use_hours: f64,
    /// The lowest grade of reports that count.
    proof: &'static str,
    /// How many owners must have seen an asset fail before it is demoted.
    demote_owners: i64,
}

impl From<PromotionRule> for PromotionRuleView {
    fn from(rule: PromotionRule) -> Self {
        Self {
            min_gdi: rule.min_gdi,
            min_intrinsic: rule.min_intrinsic,
            min_confidence: rule.min_confidence,
            min_streak: i64::from(rule.min_streak),
            min_reputation: rule.min_reputation,
            require_report: rule.require_report,
            min_owners: i64::from(rule.quorum.min_owners),
            min_weight: rule.quorum.min_weight,
            arbiter: rule.quorum.arbiter,
            use_owners: i64::from(rule.quorum.use_owners),
            use_hours: rule.quorum.use_hours,
            proof: rule.lowest_grade.as_str(),
            demote_owners: i64::from(rule.demote_owners),
        }
    }
}

/// How many requests of each kind are taken.
#[derive(Debug, Serialize, ToSchema)]
struct LimitPolicy {
    hello: RateLimitView,
    publish: RateLimitView,
    heartbeat: RateLimitView,
    messages: RateLimitView,
    vote: RateLimitView,
    read: RateLimitView,
    other: RateLimitView,
}

/// So many requests in so many milliseconds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RateLimit)]
struct RateLimitView {
    count: i64,
    window_ms: i64,
}

impl From<RateLimit> for RateLimitView {
    fn from(limit: RateLimit) -> Self {
        Self { count: i64::from(limit.count), window_ms: limit.window_ms }
    }
}

/// How large a request may be.
#[derive(Debug, Serialize, ToSchema)]
struct SizePolicy {
    #[schema(value_type = i64)]
    body_bytes: usize,
    #[schema(value_type = i64)]
    mailbox_body_bytes: usize,
    #[schema(value_type = i64)]
    json_depth: usize,
}

/// Shows the rules that the hub goes by.
#[tracing::instrument(skip_all)]
pub fn show_policy(hub: &Hub) -> PolicyResponse {
    let config = &hub.config;
    let commands = config.command_policy();
    let programs =
        ["node", "npm", "npx"].into_iter().map(str::to_owned).chain(commands.programs.iter().cloned());
    let (promotion, limits) = (&config.promotion, &config.limits);
    PolicyResponse {
        protocol: ProtocolPolicy { name: PROTOCOL, version: VERSION, max_skew_ms: config.max_skew_ms },
        identity: IdentityPolicy {
            require_secret: config.require_secret,
            open_registration: config.open_registration,
        },
        validation: ValidationPolicy {
            programs: programs.collect(),
            inline_code: commands.inline_code,
            runs_on_hub: false,
            rules: [
                "A command begins with one of `programs`.",
                "It has no command substitution, and outside quotes no ; & | > <.",
                "It names no script by an absolute path or through `..`.",
                "It carries no code in its arguments, as `node -e` does.",
            ],
        },
        promotion: PromotionPolicy {
            interval_seconds: promotion.interval_ms / 1000,
            validators: promotion.validators,
            assignment_seconds: promotion.assignment_ms / 1000,
            trial: promotion.trial.as_str(),
            rule: promotion.rule.into(),
        },
        limits: LimitPolicy {
            hello: limits.hello.into(),
            publish: limits.publish.into(),
            heartbeat: limits.heartbeat.into(),
            messages: limits.messages.into(),
            vote: limits.vote.into(),
            read: limits.read.into(),
            other: limits.other.into(),
        },
        sizes: SizePolicy {
            body_bytes: BODY_LIMIT,
            mailbox_body_bytes: MAILBOX_LIMIT,
            json_depth: DEPTH_LIMIT,
        },
    }
}

/// How the hub ranks models.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModelTiers)]
pub struct ModelTiersResponse {
    enforced: bool,
    tiers: Vec<ModelTierView>,
    /// The tier of a model that is not ranked.
    unranked_tier: i64,
    #[schema(value_type = Vec<String>)]
    rules: [&'static str; 3],
}

/// The tier of a model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModelTier)]
struct ModelTierView {
    model: String,
    tier: i64,
}

/// Shows how the hub ranks models.
#[tracing::instrument(skip_all)]
pub fn show_model_tiers(hub: &Hub) -> ModelTiersResponse {
    let ranked = hub.config.work.model_tiers.iter();
    ModelTiersResponse {
        enforced: true,
        tiers: ranked.map(|(model, tier)| ModelTierView { model: model.clone(), tier: *tier }).collect(),
        unranked_tier: models::UNRANKED,
        rules: [
            "A node runs on the model that it names in hello.",
            "A task with `min_model_tier` takes a model of that tier or a higher one.",
            "A task with `allowed_models` takes those models whatever their tier.",
        ],
    }
}
