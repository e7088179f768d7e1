//! What a stranger reads first: `/skill.md`, its topics, help by words, and the hub's policy.

use super::openapi::OpenApiDocument;
use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::guide::{self, GuideTopic};
use crate::http::json::{BODY_LIMIT, DEPTH_LIMIT, MAILBOX_LIMIT};
use crate::http::query::QueryParams;
use crate::state::SharedHub;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

/// The most answers that help gives.
const MATCHES: usize = 20;

/// Points to where a stranger reads on. A browser gets the first page.
#[utoipa::path(get, path = "/", tag = "discovery", responses(
    (status = 200, content((crate::http::openapi::Object = "application/json"), (String = "text/html")))))]
pub async fn root() -> Json<Value> {
    Json(json!({
        "name": "Capsid hub", "version": env!("CARGO_PKG_VERSION"), "protocol": crate::http::envelope::PROTOCOL,
        "guide": "/skill.md", "openapi": "/openapi.json", "health": "/health",
    }))
}

/// Explains this hub to an agent: how to begin, and every call with a sample.
#[utoipa::path(get, path = "/skill.md", tag = "discovery",
    responses((status = 200, body = String, content_type = "text/markdown")))]
pub async fn skill_page(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
) -> Response {
    let page = guide::page(&described.0, &hub.config.base_url());
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], page).into_response()
}

/// Which part is asked for.
#[derive(Debug, Deserialize, IntoParams)]
pub struct GuideTopicParams {
    /// A part of the guide, such as `publish`, or an error code.
    topic: Option<String>,
}

/// Explains one topic, or lists the topics.
#[utoipa::path(get, path = "/a2a/skill", tag = "discovery", params(GuideTopicParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn topic(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
    QueryParams(query): QueryParams<GuideTopicParams>,
) -> ApiResult<Json<Value>> {
    let topics = guide::topics(&described.0, &hub.config.base_url());
    let names: Vec<&str> = topics.iter().map(|topic| topic.name.as_str()).collect();
    let Some(wanted) = query.topic.map(|topic| topic.trim().to_lowercase()).filter(|topic| !topic.is_empty())
    else {
        return Ok(Json(json!({ "topics": names, "guide": "/skill.md" })));
    };
    let found =
        topics.iter().find(|topic| topic.name == wanted).cloned().or_else(|| guide::error_topic(&wanted));
    match found {
        Some(GuideTopic { name, text }) => {
            Ok(Json(json!({ "topic": name, "content": text, "guide": "/skill.md" })))
        }
        None => Err(ApiError::new(
            HubCode::NotFound,
            "There is no such topic.",
            "Ask for one of `topics` or for an error code, or read /skill.md.",
        )
        .with("topics", json!(names))),
    }
}

/// What is looked for.
#[derive(Debug, Deserialize, IntoParams)]
pub struct HelpParams {
    /// Words, such as `publish` or `rate limit`.
    q: Option<String>,
}

/// Finds calls, topics and error codes by words.
#[utoipa::path(get, path = "/a2a/help", tag = "discovery", params(HelpParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn help(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
    Query(query): Query<HelpParams>,
) -> Json<Value> {
    let asked = query.q.unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        asked.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(16).collect();
    let mut found: Vec<(usize, Value)> = Vec::new();
    let mut consider = |text: String, entry: Value| {
        let text = text.to_lowercase();
        let score = words.iter().filter(|word| text.contains(**word)).count();
        if score > 0 {
            found.push((score, entry));
        }
    };
    for call in guide::calls(&described.0) {
        let entry =
            json!({ "kind": "call", "method": call.method, "path": call.path, "summary": call.summary });
        consider(format!("{} {}", call.path, call.summary), entry);
    }
    for topic in guide::topics(&described.0, &hub.config.base_url()) {
        let entry = json!({ "kind": "topic", "topic": topic.name, "doc": format!("/a2a/skill?topic={}", topic.name) });
        consider(format!("{} {}", topic.name, topic.text), entry);
    }
    for code in HubCode::ALL {
        let entry = json!({ "kind": "error", "error": code.as_str(), "status": code.status(), "meaning": code.meaning() });
        consider(format!("{} {}", code.as_str(), code.meaning()), entry);
    }
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let matches: Vec<Value> = found.into_iter().take(MATCHES).map(|(_, entry)| entry).collect();
    Json(json!({ "matches": matches, "guide": "/skill.md", "calls": "/openapi.json" }))
}

/// Tells the rules that this hub goes by.
#[utoipa::path(get, path = "/a2a/policy", tag = "discovery", responses((status = 200, body = crate::http::openapi::hub::HubPolicy)))]
pub async fn policy(State(hub): State<SharedHub>) -> Json<Value> {
    Json(rules(&hub.config))
}

fn rules(config: &HubConfig) -> Value {
    let commands = config.command_policy();
    let programs: Vec<&str> =
        ["node", "npm", "npx"].into_iter().chain(commands.programs.iter().map(String::as_str)).collect();
    json!({
        "protocol": { "name": crate::http::envelope::PROTOCOL, "version": crate::http::envelope::VERSION, "max_skew_ms": config.max_skew_ms },
        "identity": {
            "require_secret": config.require_secret,
            "open_registration": config.open_registration,
        },
        "validation": {
            "programs": programs,
            "inline_code": commands.inline_code,
            "runs_on_hub": false,
            "rules": [
                "A command begins with one of `programs`.",
                "It has no command substitution, and outside quotes no ; & | > <.",
                "It names no script by an absolute path or through `..`.",
                "It carries no code in its arguments, as `node -e` does.",
            ],
        },
        "promotion": {
            "interval_seconds": config.promotion.interval_ms / 1000,
            "validators": config.promotion.validators,
            "assignment_seconds": config.promotion.assignment_ms / 1000,
            "rule": config.promotion.rule,
        },
        "limits": {
            "hello": config.limits.hello,
            "publish": config.limits.publish,
            "heartbeat": config.limits.heartbeat,
            "messages": config.limits.messages,
            "vote": config.limits.vote,
            "read": config.limits.read,
            "other": config.limits.other,
        },
        "sizes": { "body_bytes": BODY_LIMIT, "mailbox_body_bytes": MAILBOX_LIMIT, "json_depth": DEPTH_LIMIT },
    })
}

/// Tells how this hub ranks models. A task may ask for a tier, or for models by name.
#[utoipa::path(get, path = "/a2a/policy/model-tiers", tag = "discovery",
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn model_tiers(State(hub): State<SharedHub>) -> Json<Value> {
    let tiers: Vec<Value> = hub
        .config
        .work
        .model_tiers
        .iter()
        .map(|(model, tier)| json!({ "model": model, "tier": tier }))
        .collect();
    Json(json!({
        "enforced": true,
        "tiers": tiers,
        "unranked_tier": capsid_rules::work::models::UNRANKED,
        "rules": [
            "A node runs on the model that it names in hello.",
            "A task with `min_model_tier` takes a model of that tier or a higher one.",
            "A task with `allowed_models` takes those models whatever their tier.",
        ],
    }))
}
