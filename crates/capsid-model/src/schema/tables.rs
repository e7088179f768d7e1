//! One table per type. A member must be there where the protocol's documents require it; what the shipped stores
//! leave out is only noted; shapes that existing engines write beside the published ones are taken too.

use super::kind::ValueKind::{self, Any, Either, Flag, List, Number, OneOf, Open, Record, Text, Whole};
use super::kind::{
    AMOUNT, ASSET_ID, COUNT, FieldSchema, NAME, NUMBER, OBJECT, POSITIVE, SHARE, SLUG, SOME_TEXTS, TEXT,
    TEXTS, TIME, VERSION, list, may, must, should,
};

/// The table of a type.
pub(super) fn fields_of(name: &str) -> Option<&'static [FieldSchema]> {
    Some(match name {
        "Gene" => GENE,
        "Capsule" => CAPSULE,
        "EvolutionEvent" => EVOLUTION_EVENT,
        "ValidationReport" => VALIDATION_REPORT,
        "Mutation" => MUTATION,
        "PersonalityState" => PERSONALITY_STATE,
        "MemoryGraphEvent" => MEMORY_GRAPH_EVENT,
        "Pack" => PACK,
        "Recipe" => RECIPE,
        "Task" => TASK,
        "CapabilityCandidate" => CAPABILITY_CANDIDATE,
        _ => return None,
    })
}

const INTENT: ValueKind = OneOf(&["repair", "optimize", "innovate", "explore"]);
const STATUS: ValueKind = OneOf(&["success", "failed", "failure"]);
const SOURCE: ValueKind = OneOf(&["generated", "reused", "reference", "user_authored"]);
const VISIBILITY: ValueKind = OneOf(&["private", "unlisted", "public"]);
const TEXT_OR_OBJECT: ValueKind = Either(&TEXT, &OBJECT);

const BLAST_RADIUS: ValueKind = Open(&[must("files", COUNT), must("lines", COUNT)]);
const OUTCOME: ValueKind = Either(&Open(&[must("status", STATUS), must("score", SHARE)]), &STATUS);
const ENV_FINGERPRINT: ValueKind = Open(&[
    may("node_version", TEXT),
    may("platform", TEXT),
    may("arch", TEXT),
    may("os_release", TEXT),
    may("evolver_version", TEXT),
    may("cwd", TEXT),
    may("captured_at", TIME),
    may("device_id", TEXT),
    may("hostname", TEXT),
    may("client", TEXT),
    may("client_version", TEXT),
    may("region", TEXT),
    may("container", Flag),
]);
const A2A: ValueKind = Open(&[may("eligible_to_broadcast", Flag), may("status", TEXT), may("source", TEXT)]);
const TRIGGER_CONTEXT: ValueKind = Record(&[
    may("prompt", Text(0, 2000)),
    may("reasoning_trace", Text(0, 4000)),
    may("context_signals", TEXTS),
    may("session_id", TEXT),
    may("agent_model", TEXT),
]);

const GENE: &[FieldSchema] = &[
    must("type", NAME),
    should("schema_version", VERSION),
    must("id", NAME),
    must("category", INTENT),
    must("signals_match", SOME_TEXTS),
    may("preconditions", TEXTS),
    must("strategy", SOME_TEXTS),
    must("constraints", Open(&[must("max_files", POSITIVE), must("forbidden_paths", SOME_TEXTS)])),
    must("validation", TEXTS),
    may("summary", TEXT),
    may(
        "epigenetic_marks",
        list(&Either(
            &TEXT,
            &Open(&[
                must("context", Text(0, 100)),
                must("boost", Number(-0.5, 0.5)),
                may("reason", Text(0, 200)),
                may("created_at", TIME),
            ]),
        )),
    ),
    may("learning_history", List(&OBJECT, 0, 20)),
    may("anti_patterns", List(&TEXT_OR_OBJECT, 0, 12)),
    may(
        "routing_hint",
        Open(&[
            may("tier", OneOf(&["cheap", "mid", "expensive"])),
            may("reasoning_level", OneOf(&["off", "low", "medium", "high"])),
        ]),
    ),
    may(
        "tool_policy",
        Open(&[
            may("allow_only", SOME_TEXTS),
            may("deny", SOME_TEXTS),
            may("severity", OneOf(&["warn", "block"])),
        ]),
    ),
    may(
        "claims",
        list(&Open(&[
            must("predicate", NAME),
            must("kind", OneOf(&["behavioral", "structural", "performance", "safety"])),
        ])),
    ),
    may("scope", Open(&[may("signals", SOME_TEXTS), may("predicate", TEXT)])),
    may(
        "runtime_profile",
        Open(&[may("runtime", TEXT), may("env_class", OneOf(&["ci", "local", "prod", "sandbox"]))]),
    ),
    may(
        "verifier_profile",
        Open(&[may("verifier", TEXT), may("decision", OneOf(&["pass", "fail", "inconclusive"]))]),
    ),
    should("asset_id", ASSET_ID),
];

const CAPSULE: &[FieldSchema] = &[
    must("type", NAME),
    must("schema_version", VERSION),
    must("id", NAME),
    must("trigger", SOME_TEXTS),
    must("gene", NAME),
    must("summary", NAME),
    must("confidence", SHARE),
    must("blast_radius", BLAST_RADIUS),
    must("outcome", OUTCOME),
    must("success_streak", COUNT),
    must("env_fingerprint", ENV_FINGERPRINT),
    may("a2a", A2A),
    may("success_reason", Text(0, 1000)),
    may("source_type", SOURCE),
    may("reused_asset_id", TEXT),
    may("content", TEXT_OR_OBJECT),
    may("diff", TEXT_OR_OBJECT),
    may("strategy", TEXTS),
    may("execution_trace", list(&Open(&[may("stage", OneOf(&["build", "validate", "canary"]))]))),
    may("gene_library_version", Any),
    may("cost_tokens", COUNT),
    may("cost_usd", AMOUNT),
    may(
        "derivation_tokens",
        Open(&[
            may("input_tokens", COUNT),
            may("output_tokens", COUNT),
            may("total_tokens", COUNT),
            may("basis", TEXT),
        ]),
    ),
    may("trigger_context", TRIGGER_CONTEXT),
    may(
        "resolution_status",
        OneOf(&[
            "pending",
            "suppressed_observationally",
            "resolved_by_evidence",
            "regressed",
            "inconclusive",
        ]),
    ),
    may(
        "proof_of_work",
        Open(&[may("kind", OneOf(&["git_diff", "artifact_hash", "external_receipt", "tool_call_trace"]))]),
    ),
    may("visibility", VISIBILITY),
    may("scope", TEXTS),
    may("cost_tier", OneOf(&["cheap", "standard", "premium"])),
    may("pack_of", list(&ASSET_ID)),
    may("author", Open(&[may("handle", TEXT), may("evox_install_id", TEXT)])),
    may("validation_errors", TEXTS),
    may("diff_snapshot", TEXT),
    may("failure_reason", Text(0, 2000)),
    may("constraint_violations", TEXTS),
    may("created_at", TIME),
    must("asset_id", ASSET_ID),
];

const EVOLUTION_EVENT: &[FieldSchema] = &[
    must("type", NAME),
    must("schema_version", VERSION),
    must("id", NAME),
    may("parent", TEXT),
    must("intent", INTENT),
    must("signals", TEXTS),
    must("genes_used", TEXTS),
    may("mutation_id", TEXT),
    may("personality_state", Record(PERSONALITY_STATE)),
    must("blast_radius", BLAST_RADIUS),
    must("outcome", OUTCOME),
    may("capsule_id", TEXT),
    may("source_type", SOURCE),
    may("reused_asset_id", TEXT),
    may("trigger_context", TRIGGER_CONTEXT),
    must("env_fingerprint", ENV_FINGERPRINT),
    may("validation_report_id", TEXT),
    may("mutations_tried", COUNT),
    may("total_cycles", COUNT),
    may("meta", Open(&[may("at", TIME), may("signal_key", TEXT)])),
    should("asset_id", ASSET_ID),
];

const VALIDATION_REPORT: &[FieldSchema] = &[
    must("type", NAME),
    should("schema_version", VERSION),
    must("id", NAME),
    should("gene_id", TEXT),
    should("env_fingerprint", ENV_FINGERPRINT),
    may("env_fingerprint_key", TEXT),
    must(
        "commands",
        list(&Open(&[must("command", NAME), must("ok", Flag), may("stdout", TEXT), may("stderr", TEXT)])),
    ),
    must("overall_ok", Flag),
    may("duration_ms", AMOUNT),
    may("isolation", TEXT),
    should("created_at", TIME),
    should("asset_id", ASSET_ID),
];

const MUTATION: &[FieldSchema] = &[
    must("type", NAME),
    may("schema_version", VERSION),
    must("id", NAME),
    must("category", INTENT),
    must("trigger_signals", TEXTS),
    must("target", NAME),
    must("expected_effect", NAME),
    must("risk_level", OneOf(&["low", "medium", "high"])),
    may("rationale", TEXT),
    may("asset_id", ASSET_ID),
];

const PERSONALITY_STATE: &[FieldSchema] = &[
    must("type", OneOf(&["PersonalityState"])),
    must("rigor", SHARE),
    must("creativity", SHARE),
    must("verbosity", SHARE),
    must("risk_tolerance", SHARE),
    must("obedience", SHARE),
];

const MEMORY_GRAPH_EVENT: &[FieldSchema] = &[
    must("type", NAME),
    must(
        "kind",
        OneOf(&[
            "signal",
            "hypothesis",
            "attempt",
            "outcome",
            "confidence_edge",
            "confidence_gene_outcome",
            "external_candidate",
        ]),
    ),
    must("id", NAME),
    must("ts", TIME),
    may("signal", Open(&[may("key", TEXT), may("signals", TEXTS), may("error_signature", TEXT)])),
    may("hypothesis", OBJECT),
    may("mutation", OBJECT),
    may("personality", OBJECT),
    may("gene", OBJECT),
    may("action", OBJECT),
    may("capsules", OBJECT),
    may("outcome", OBJECT),
    may("confidence", OBJECT),
    may("edge", OBJECT),
    may("stats", OBJECT),
    may("derived_from", OBJECT),
    may("observed", OBJECT),
    may("baseline", OBJECT),
    may("external", OBJECT),
    may("asset", OBJECT),
    may("candidate", OBJECT),
];

const PACK: &[FieldSchema] = &[
    must("type", NAME),
    must("id", SLUG),
    must("name", Text(1, 80)),
    may("description", Text(0, 500)),
    must("gene_ids", List(&NAME, 0, 64)),
    must("visibility", VISIBILITY),
    may("scope", TEXTS),
    may("owner", Open(&[may("handle", TEXT), may("install_id", TEXT)])),
    may("author_node_id", TEXT),
    may("source_type", OneOf(&["user_authored"])),
    must("created_at", TIME),
    may("updated_at", TIME),
];

const RECIPE: &[FieldSchema] = &[
    must("type", NAME),
    must("title", Text(3, 200)),
    may("description", Text(0, 2000)),
    must(
        "steps",
        List(
            &Open(&[
                must("asset_id", ASSET_ID),
                must("asset_type", OneOf(&["Gene", "Capsule"])),
                may("position", COUNT),
                may("condition", Any),
                may("parameters", Any),
                may("optional", Flag),
                may("fallback_gene_id", TEXT),
            ]),
            1,
            20,
        ),
    ),
    may("price_per_execution", Number(1.0, f64::INFINITY)),
    may("currency", TEXT),
    may("max_concurrent", Whole(1.0, 20.0)),
    may("input_schema", OBJECT),
    may("output_schema", OBJECT),
];

const TASK: &[FieldSchema] = &[
    must("type", NAME),
    must("task_id", NAME),
    must("status", OneOf(&["open", "claimed", "completed", "expired", "cancelled"])),
    may("title", TEXT),
    may("signals", TEXT),
    may("claimed_by", TEXT),
    may("bounty_id", TEXT),
    may("bounty_amount", AMOUNT),
    may("complexity_score", NUMBER),
    may("historical_completion_rate", NUMBER),
    may("expires_at", TIME),
    may("body", TEXT),
    may("description", TEXT),
    may("nonce", TEXT),
    may("validation_commands", TEXTS),
    may("result_asset_id", TEXT),
    may("atp_order_id", TEXT),
];

const CAPABILITY_CANDIDATE: &[FieldSchema] = &[
    must("type", NAME),
    must("id", NAME),
    must("title", NAME),
    must("source", OneOf(&["transcript", "signals"])),
    must("created_at", TIME),
    must("signals", TEXTS),
    must(
        "shape",
        Open(&[
            may("title", Text(0, 120)),
            may("input", Any),
            may("output", Any),
            may("invariants", Any),
            may("params", Any),
            may("failure_points", Any),
            may("evidence", Text(0, 240)),
        ]),
    ),
    may("asset_id", ASSET_ID),
];
