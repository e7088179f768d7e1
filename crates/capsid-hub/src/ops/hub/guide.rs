//! What a stranger reads first: `/skill.md`, its topics, and help by words.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::guide::{self, GuideTopic};
use crate::http::envelope::PROTOCOL;
use crate::http::traced_id;
use crate::state::Hub;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cmp::Reverse;
use utoipa::{IntoParams, ToSchema};

/// The most answers that help gives.
const MATCHES: usize = 20;
/// Where the guide is.
const GUIDE: &str = "/skill.md";
/// Where the reference is.
const REFERENCE: &str = "/skill-reference.md";

/// Where a stranger reads on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HubRoot)]
pub struct RootResponse {
    name: &'static str,
    version: &'static str,
    protocol: &'static str,
    guide: &'static str,
    openapi: &'static str,
    health: &'static str,
}

/// Points to where a stranger reads on.
#[tracing::instrument]
pub fn show_root() -> RootResponse {
    RootResponse {
        name: "Capsid hub",
        version: env!("CARGO_PKG_VERSION"),
        protocol: PROTOCOL,
        guide: GUIDE,
        openapi: "/openapi.json",
        health: "/health",
    }
}

/// The guide as Markdown.
#[tracing::instrument(skip_all)]
pub fn render_guide(hub: &Hub) -> String {
    guide::skill_page(&hub.config.base_url())
}

/// The reference as Markdown.
#[tracing::instrument(skip_all)]
pub fn render_reference(hub: &Hub, document: &Value) -> String {
    guide::reference_page(document, &hub.config.base_url())
}

/// The description of every call, with the address of this hub.
#[tracing::instrument(skip_all)]
pub fn describe_calls(hub: &Hub, document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(members) = document.as_object_mut() {
        members.insert("servers".to_owned(), json!([{ "url": hub.config.base_url() }]));
    }
    document
}

/// Which part is asked for.
#[derive(Debug, Deserialize, IntoParams)]
pub struct GuideTopicParams {
    /// A part of the guide, such as `publish`, or an error code.
    topic: Option<String>,
}

/// A part of the guide, or what parts there are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = GuideTopic)]
pub enum GuideTopicResponse {
    /// What parts there are.
    List {
        /// Their names.
        topics: Vec<String>,
        guide: &'static str,
    },
    /// One part.
    Topic {
        topic: String,
        /// Its text as Markdown.
        content: String,
        guide: &'static str,
    },
}

/// Explains one topic, or lists the topics.
#[tracing::instrument(skip_all, fields(topic = params.topic.as_deref().map(traced_id)))]
pub fn show_topic(hub: &Hub, document: &Value, params: GuideTopicParams) -> ApiResult<GuideTopicResponse> {
    let topics = guide::topics(document, &hub.config.base_url());
    let names = || topics.iter().map(|topic| topic.name.clone()).collect::<Vec<_>>();
    let Some(wanted) =
        params.topic.map(|topic| topic.trim().to_lowercase()).filter(|topic| !topic.is_empty())
    else {
        return Ok(GuideTopicResponse::List { topics: names(), guide: GUIDE });
    };
    let found =
        topics.iter().find(|topic| topic.name == wanted).cloned().or_else(|| guide::error_topic(&wanted));
    match found {
        Some(GuideTopic { name, text }) => {
            Ok(GuideTopicResponse::Topic { topic: name, content: text, guide: GUIDE })
        }
        None => Err(ApiError::new(
            HubCode::NotFound,
            "There is no such topic.",
            "Ask for one of `topics` or for an error code, or read /skill.md.",
        )
        .with("topics", names())),
    }
}

/// What is looked for.
#[derive(Debug, Deserialize, IntoParams)]
pub struct HelpParams {
    /// Words, such as `publish` or `rate limit`.
    q: Option<String>,
}

/// What was found by words, the best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Help)]
pub struct HelpResponse {
    matches: Vec<HelpMatch>,
    guide: &'static str,
    reference: &'static str,
    calls: &'static str,
}

/// A call, a topic or an error code.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum HelpMatch {
    /// A call of this hub.
    Call { method: String, path: String, summary: String },
    /// A part of the guide.
    Topic { topic: String, doc: String },
    /// An error code.
    Error { error: &'static str, status: u16, meaning: &'static str },
}

impl HelpMatch {
    fn path_len(&self) -> usize {
        if let Self::Call { path, .. } = self { path.len() } else { 0 }
    }
}

/// Finds calls, topics and error codes by words.
#[tracing::instrument(skip_all)]
pub fn find_help(hub: &Hub, document: &Value, params: HelpParams) -> HelpResponse {
    let asked = params.q.unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        asked.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(16).collect();
    let mut found: Vec<((usize, usize), HelpMatch)> = Vec::new();
    let mut consider = |named: usize, text: String, entry: HelpMatch| {
        let text = text.to_lowercase();
        let mentioned = words.iter().filter(|word| text.contains(**word)).count();
        if mentioned > 0 {
            found.push(((named, mentioned), entry));
        }
    };
    for call in guide::calls(document) {
        let text = format!("{} {}", call.path, call.summary);
        let named = call.named_by(&words);
        consider(
            named,
            text,
            HelpMatch::Call { method: call.method, path: call.path, summary: call.summary },
        );
    }
    for topic in guide::topics(document, &hub.config.base_url()) {
        let doc = format!("/a2a/skill?topic={}", topic.name);
        consider(0, format!("{} {}", topic.name, topic.text), HelpMatch::Topic { topic: topic.name, doc });
    }
    for code in HubCode::ALL {
        let (error, meaning) = (code.as_str(), code.meaning());
        let named = if asked.trim() == error { usize::MAX } else { 0 };
        consider(
            named,
            format!("{error} {meaning}"),
            HelpMatch::Error { error, status: code.status(), meaning },
        );
    }
    // Of calls that are there twice, the one with the shorter path comes first.
    found.sort_by_key(|(score, entry)| (Reverse(*score), entry.path_len()));
    let matches = found.into_iter().take(MATCHES).map(|(_, entry)| entry).collect();
    HelpResponse { matches, guide: GUIDE, reference: REFERENCE, calls: "/openapi.json" }
}
