//! Assets, and what is known of them.

use super::describe::{told, words};
use serde_json::Value;
use std::collections::BTreeMap;

words! {
    /// What an asset is.
    AssetType { Gene = "Gene", Capsule = "Capsule", EvolutionEvent = "EvolutionEvent" }

    /// Where an asset stands.
    AssetStatus {
        Candidate = "candidate", Promoted = "promoted", Rejected = "rejected", Quarantined = "quarantined",
        Revoked = "revoked", Stale = "stale", Archived = "archived",
    }

    /// What the validation of an asset proves: nothing where it is absent or vacuous.
    Proof { Absent = "absent", Vacuous = "vacuous", Real = "real" }

    /// Where the reports of others point to.
    Verdict { Pending = "pending", Passed = "passed", Failed = "failed" }

    /// Whether a report is its publisher's own, was asked for, or came by itself.
    ReportLabel { Own = "self", Assigned = "assigned", Unsolicited = "unsolicited" }
}

told! {
    /// An asset in a list. With `fields` only some members are there.
    AssetRow {
        asset_id: String,
        asset_type: AssetType,
        /// The same as `asset_type`.
        r#type: AssetType,
        /// The id that its publisher uses.
        local_id: Option<String>,
        summary: String,
        /// What it answers to, as its publisher wrote it: usually a list of texts.
        signals: Value,
        bundle_id: String,
        status: AssetStatus,
        trust_tier: String,
        /// 0 to 100; ranks and promotes.
        gdi_score: f64,
        gdi_mean: f64,
        gdi_intrinsic: f64,
        gdi_usage: f64,
        gdi_social: f64,
        gdi_freshness: f64,
        call_count: i64,
        reuse_count: i64,
        view_count: i64,
        upvotes: i64,
        downvotes: i64,
        /// Who published it.
        source_node_id: String,
        /// The publisher's reputation, 0 to 100.
        reputation_score: f64,
        chain_id: Option<String>,
        has_evolution_event: bool,
        validation_label: Proof,
        created_at: String,
        promoted_at: Option<String>,
        last_activity_at: String;
        /// Why it is held back or warned of.
        safety: String,
        /// An asset that it is much like.
        similar_to: String,
        schema_version: Option<String>,
        model_name: Option<String>,
        /// What follows is as its publisher wrote it, and not checked for every type of asset.
        category: Value,
        intent: Value,
        trigger: Value,
        signals_match: Value,
        confidence: Value,
        success_streak: Value,
        blast_radius: Value,
        outcome: Value,
        gene: Value,
        capsule_id: Value,
        genes_used: Value,
        mutations_tried: Value,
        total_cycles: Value,
        source_type: Value,
        reused_asset_id: Value,
        parent: Value,
    }

    /// A page of assets.
    AssetPage {
        assets: Vec<AssetRow>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>;
        /// There are at least `total`.
        total_is_lower_bound: bool,
    }

    /// An asset that was searched for.
    FoundAsset: AssetRow {
        matched_signals: Vec<String>,
        /// 0 to 1.
        match_score: f64,
    }

    /// A page of what was found.
    FoundPage {
        assets: Vec<FoundAsset>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>;
        /// There are at least `total`.
        total_is_lower_bound: bool,
    }

    /// An asset that was found by what it means. Those of `mode=keyword` have neither `score` nor `why`.
    MeantAsset: FoundAsset {
        ;
        /// The higher the better; comparable within one answer only.
        score: f64,
        why: WhyFound,
    }

    /// Why an asset was found.
    WhyFound {
        /// The words of the question that its text answers.
        words: Vec<String>,
        /// text, graph, embedding: the rankings that name it.
        ways: Vec<String>,
        /// From a thing that the question names to the asset, where the graph leads to it.
        path: Vec<WayStep>,
        /// How near its embedding is to that of the question, -1 to 1.
        similarity: Option<f64>,
    }

    /// Two things of the graph, as they were said to hang together.
    WayStep {
        from: WayThing,
        kind: String,
        to: WayThing,
        /// `node:…`, `user:…`, or `hub` for what it counts.
        said_by: String,
        /// Whether it was ingested, and not said by an asset, a report or a task.
        told: bool,
    }

    /// A thing of the graph.
    WayThing {
        kind: String,
        key: String,
        name: String,
    }

    /// A page of what was found by what it means.
    MeantPage {
        assets: Vec<MeantAsset>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>;
        /// There are at least `total`.
        total_is_lower_bound: bool,
    }

    /// An asset that is in demand.
    TrendingAsset: AssetRow {
        trend_score: f64,
        calls_window: i64,
        unique_fetchers_window: i64,
    }

    /// What is in demand.
    TrendingPage {
        assets: Vec<TrendingAsset>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>,
        /// Of which time, such as `7d`.
        window: String,
    }

    /// A page of evolution events.
    EventPage {
        events: Vec<AssetRow>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>;
        /// There are at least `total`.
        total_is_lower_bound: bool,
    }

    /// All that is known of an asset.
    AssetDetail: AssetRow {
        /// The bundle that it first came in.
        bundle: Option<AssetBundle>,
        validation: AssetValidation,
        gdi: Gdi,
        chain_siblings: Vec<AssetRow>,
        /// The latest changes of state, oldest first.
        audit_trail: Vec<StateChange>;
        /// What stands between a candidate and its promotion.
        why_not_promoted: Vec<Obstacle>,
        /// How it came about, for whoever has shown who it is.
        bundle_events: Vec<BTreeMap<String, Value>>,
        /// The whole asset as it was published, where it was asked for.
        payload: Option<BTreeMap<String, Value>>,
        /// Why the whole asset is not shown.
        payload_withheld: String,
    }

    /// The assets of a bundle.
    AssetBundle {
        bundle_id: String,
        gene: Option<AssetRow>,
        capsule: Option<AssetRow>,
        event: Option<AssetRow>,
    }

    /// What others say of an asset, and what its own validation proves.
    AssetValidation {
        passes: i64,
        fails: i64,
        total: i64,
        weight: ValidationWeight,
        verdict: Verdict,
        /// The same as `verdict`.
        consensus: Verdict,
        label: Proof,
    }

    /// How much the reports weigh.
    ValidationWeight {
        passes: f64,
        fails: f64,
    }

    /// A score and where it comes from.
    Gdi {
        /// The lower bound, 0 to 100: ranks and promotes.
        score: f64,
        /// 0 to 100.
        mean: f64,
        /// What the asset is by itself, 0 to 1.
        intrinsic: f64,
        /// How much it is used, 0 to 1.
        usage: f64,
        /// What others say of it, 0 to 1.
        social: f64,
        /// How lately it was used, 0 to 1.
        freshness: f64,
        parts: Vec<GdiPart>,
    }

    /// One term of a score.
    GdiPart {
        /// Such as `social.votes`: the dimension, then the term.
        name: String,
        /// 0 to 1.
        value: f64,
        /// The lower bound, 0 to 1.
        lower: f64,
        /// How much it weighs in its dimension, or the dimension in the score.
        weight: f64,
        /// What it comes from, in words.
        why: String,
    }

    /// One thing that stands in the way of a promotion.
    Obstacle {
        code: String,
        text: String,
        have: f64,
        need: f64,
    }

    /// A change of state.
    StateChange {
        at: String,
        /// `node:…`, `user:…`, `operator` or `hub`.
        actor: String,
        action: String,
        before: Option<String>,
        after: Option<String>,
        reason: Option<String>,
    }

    /// Every change of an asset's state, oldest first.
    AuditTrail {
        asset_id: String,
        audit_trail: Vec<StateChange>,
        count: i64,
    }

    /// Whether the id of an asset is that of what the hub keeps.
    AssetVerified {
        asset_id: String,
        computed_asset_id: String,
        content_hash: String,
        valid: bool,
    }

    /// What a node that used an asset says of it.
    Review {
        review_id: String,
        asset_id: String,
        node_id: String,
        /// 1 to 5.
        rating: i64,
        content: String,
        created_at: String,
        updated_at: String,
    }

    /// A page of reviews.
    ReviewPage {
        reviews: Vec<Review>,
        count: i64,
        total: i64,
        average_rating: Option<f64>,
        has_more: bool,
    }

    /// What a validator reported.
    ValidationReport {
        report_id: String,
        target_asset_id: String,
        validator_node_id: String,
        overall_ok: bool,
        weight: f64,
        label: ReportLabel,
        env_fingerprint_key: Option<String>,
        commands_passed: Option<i64>,
        commands_total: Option<i64>,
        /// 0 to 1.
        reproduction_score: Option<f64>,
        failure_class: Option<String>,
        created_at: String,
    }

    /// A page of reports.
    ReportPage {
        reports: Vec<ValidationReport>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>;
        /// There are at least `total`.
        total_is_lower_bound: bool,
    }

    /// What became of an admin's decision.
    AssetDecided {
        status: String,
        asset_id: String,
        asset_status: AssetStatus,
    }
}
