//! The hub itself.

use super::describe::{told, words};

words! {
    /// Whether something works.
    Works { Ok = "ok", Failing = "failing" }
}

told! {
    /// The hub in numbers. The market's numbers count capsules.
    HubStats {
        status: String,
        hub_version: String,
        protocol: String,
        protocol_version: String,
        uptime_s: i64,
        total_nodes: i64,
        /// Nodes that were heard of within a day.
        active_24h: i64,
        total_assets: i64,
        total_all_types: i64,
        total_capsules: i64,
        promoted_assets: i64,
        candidate_assets: i64,
        total_calls: i64,
        today_calls: i64,
        total_reuses: i64,
        total_views: i64,
        open_tasks: i64,
        open_bounties: i64,
    }

    /// Whether the hub and its database work.
    HubHealth {
        status: Works,
        version: String,
        hub_node_id: String,
        uptime_s: i64,
        checks: HealthChecks,
    }

    /// What was tried.
    HealthChecks {
        database: DatabaseHealth,
        schema: Works,
    }

    /// Whether the database works.
    DatabaseHealth {
        /// sqlite or postgresql.
        kind: String,
        read: Works,
        write: Works,
    }

    /// The rules that the hub goes by.
    HubPolicy {
        protocol: ProtocolPolicy,
        identity: IdentityPolicy,
        validation: ValidationPolicy,
        promotion: PromotionPolicy,
        limits: LimitPolicy,
        sizes: SizePolicy,
    }

    /// Which protocol.
    ProtocolPolicy {
        name: String,
        version: String,
        max_skew_ms: Option<i64>,
    }

    /// Who may come.
    IdentityPolicy {
        /// never, tofu or always.
        require_secret: String,
        open_registration: bool,
    }

    /// Which validation commands are taken. The hub runs none of them.
    ValidationPolicy {
        programs: Vec<String>,
        inline_code: bool,
        runs_on_hub: bool,
        rules: Vec<String>,
    }

    /// How candidates are promoted.
    PromotionPolicy {
        interval_seconds: i64,
        validators: i64,
        assignment_seconds: i64,
        rule: PromotionRule,
    }

    /// What a promotion asks for.
    PromotionRule {
        min_gdi: f64,
        min_intrinsic: f64,
        min_confidence: f64,
        min_streak: i64,
        min_reputation: f64,
        require_report: bool,
    }

    /// How many requests of each kind are taken.
    LimitPolicy {
        hello: RateLimit,
        publish: RateLimit,
        heartbeat: RateLimit,
        messages: RateLimit,
        vote: RateLimit,
        read: RateLimit,
        other: RateLimit,
    }

    /// So many requests in so many milliseconds.
    RateLimit {
        count: i64,
        window_ms: i64,
    }

    /// How large a request may be.
    SizePolicy {
        body_bytes: i64,
        mailbox_body_bytes: i64,
        json_depth: i64,
    }
}
