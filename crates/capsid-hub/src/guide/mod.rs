//! `/skill.md`: the page from which an agent learns to use this hub. The guide is written by hand; the list of calls is
//! made from the hub's own description, so that it names every call and none that is not there.

use crate::error::HubCode;
use crate::http::envelope::VERSION;
use serde_json::{Map, Value, json};

const GUIDE: &str = include_str!("guide.md");
/// How deep a sample goes into a description.
const SAMPLE_DEPTH: usize = 6;

/// A part of the guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideTopic {
    /// Its name in lower case, such as `publish`.
    pub name: String,
    pub text: String,
}

/// One call of the hub.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideCall {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path, with `{names}` for its variable parts.
    pub path: String,
    /// What it does, in a sentence.
    pub summary: String,
    pub query: Vec<String>,
    pub body: Option<Value>,
}

impl GuideCall {
    /// How to make it from a shell.
    fn curl(&self, base: &str) -> String {
        let Self { method, path, .. } = self;
        match &self.body {
            Some(body) => {
                let body = body.to_string().replace('\'', "'\\''");
                format!("curl -X {method} '{base}{path}' -H 'content-type: application/json' -d '{body}'")
            }
            None if method == "GET" => format!("curl '{base}{path}'"),
            None => format!("curl -X {method} '{base}{path}'"),
        }
    }
}

/// The whole page.
pub fn page(document: &Value, base: &str) -> String {
    let mut page = introduction(base);
    for topic in topics(document, base) {
        page.push_str(&format!("\n## {}\n\n{}\n", capital(&topic.name), topic.text));
    }
    page.push_str("\n## Every call\n");
    for call in calls(document) {
        page.push_str(&format!("\n### {} {}\n\n{}\n", call.method, call.path, call.summary));
        if !call.query.is_empty() {
            page.push_str(&format!("\nQuery: `{}`.\n", call.query.join("`, `")));
        }
        page.push_str(&format!("\n```\n{}\n```\n", call.curl(base)));
    }
    page
}

/// The parts of the guide that are about calls this hub has.
pub fn topics(document: &Value, base: &str) -> Vec<GuideTopic> {
    let has = |path: &str| document["paths"].get(path).is_some();
    let mut topics = Vec::new();
    for section in GUIDE.split("\n## ").skip(1) {
        let (name, text) = section.split_once('\n').unwrap_or((section, ""));
        let text = match text.trim().strip_prefix("<!-- needs ").and_then(|rest| rest.split_once(" -->")) {
            Some((path, text)) if has(path) => text,
            Some(_) => continue,
            None => text,
        };
        topics.push(GuideTopic { name: name.to_lowercase(), text: filled(text.trim(), base) });
    }
    topics
}

/// What the hub tells about an error code.
pub fn error_topic(code: &str) -> Option<GuideTopic> {
    let code = HubCode::ALL.iter().find(|known| known.as_str() == code)?;
    let text = format!("HTTP {}. {} {}", code.status(), code.meaning(), usual_fix(*code));
    Some(GuideTopic { name: code.as_str().to_owned(), text })
}

/// What mostly helps. The refusal itself knows more, and says so in `fix`.
fn usual_fix(code: HubCode) -> &'static str {
    match code {
        HubCode::InvalidProtocolMessage => {
            "Send one JSON object with all seven fields of the envelope; /a2a/skill?topic=envelope lists them."
        }
        HubCode::MessageTypeMismatch => "Send each message to /a2a/ and its own type.",
        HubCode::InvalidCursor => "Use `next_cursor` of the answer before as it is, or leave `cursor` out.",
        HubCode::NodeSecretRequired | HubCode::NodeSecretInvalid => {
            "Send `Authorization: Bearer <node_secret>` with the secret from hello; the node's owner can reset it."
        }
        HubCode::NodeSecretNotSet | HubCode::NodeNotFound => "Say hello first: POST /a2a/hello.",
        HubCode::Unauthorized => "Log in with POST /auth/login and send `Authorization: Bearer <token>`.",
        HubCode::RouteNotFound => "See /openapi.json for every path and its methods.",
        HubCode::DuplicateMessageId => "Give every new message a `message_id` of its own.",
        HubCode::BundleRequired => "Publish the gene and the capsule in one message, as `payload.assets`.",
        HubCode::AssetIdMismatch => {
            "Compute the id anew; POST /a2a/validate tells the ids that the hub computes."
        }
        HubCode::ValidationCommandRejected => "See GET /a2a/policy for the commands that this hub takes.",
        code => match code.status() {
            400 | 422 => "Correct the fields that `details` names, and send the request again.",
            401..=403 => "See `fix` of the refusal for what is needed to do this.",
            404 | 410 => "Check the id; a list of the same kind shows what there is.",
            409 => "Look at how the thing stands now, and send what fits.",
            413 => "Send less at a time.",
            415 => "Send plain JSON in UTF-8.",
            408 | 429 | 503 => "Wait for `retry_after_ms`, then send the same again.",
            _ => "Try again later, and tell the operator of this hub when it goes on.",
        },
    }
}

/// Every call in the hub's description.
pub fn calls(document: &Value) -> Vec<GuideCall> {
    let nothing = Map::new();
    let paths = document["paths"].as_object().unwrap_or(&nothing);
    let operations = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    });
    operations.map(|(path, method, operation)| call(document, path, method, operation)).collect()
}

fn call(document: &Value, path: &str, method: &str, operation: &Value) -> GuideCall {
    let text = |key: &str| operation[key].as_str().map(str::to_owned);
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let query = parameters.filter(|parameter| parameter["in"] == "query").filter_map(|p| p["name"].as_str());
    let media = &operation["requestBody"]["content"]["application/json"];
    let mut body = (!media.is_null()).then(|| {
        media.get("example").cloned().unwrap_or_else(|| sample(document, &media["schema"], SAMPLE_DEPTH))
    });
    // A message names its own type.
    let kind = path.rsplit('/').next().unwrap_or_default();
    if let Some(named) = body.as_mut().and_then(|body| body.get_mut("message_type")) {
        *named = kind.into();
    }
    GuideCall {
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text("summary").or_else(|| text("description")).unwrap_or_default(),
        query: query.map(str::to_owned).collect(),
        body,
    }
}

/// A value that fits a schema: its own example where it has one.
fn sample(document: &Value, schema: &Value, depth: usize) -> Value {
    if let Some(example) =
        schema.get("example").or_else(|| schema["examples"].get(0)).or(schema.get("default"))
    {
        return example.clone();
    }
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        return target.map_or(Value::Null, |target| sample(document, target, depth));
    }
    if let Some(first) = ["oneOf", "anyOf", "allOf"]
        .iter()
        .find_map(|many| schema[*many].as_array()?.iter().find(|one| one["type"] != "null"))
    {
        return sample(document, first, depth);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kinds = schema["type"].as_array().into_iter().flatten().chain([&schema["type"]]);
    match kinds.filter_map(Value::as_str).find(|kind| *kind != "null") {
        Some("string") => json!("text"),
        Some("integer") => json!(1),
        Some("number") => json!(0.5),
        Some("boolean") => json!(true),
        Some("array") => json!([sample(document, &schema["items"], depth)]),
        _ => {
            let members = schema["properties"].as_object().into_iter().flatten();
            members
                .map(|(name, member)| (name.clone(), sample(document, member, depth)))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}

fn introduction(base: &str) -> String {
    filled(GUIDE.split("\n## ").next().unwrap_or_default(), base)
}

fn filled(text: &str, base: &str) -> String {
    text.replace("{base}", base).replace("{version}", VERSION)
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{calls, error_topic, page, topics};
    use serde_json::json;

    #[test]
    fn the_page_tells_of_what_is_there_and_of_nothing_else() {
        let document = json!({
            "paths": { "/a2a/hello": { "post": { "summary": "Registers.", "requestBody": { "content": {
                "application/json": { "schema": { "$ref": "#/components/schemas/Message" } } } } } },
              "/a2a/x": { "get": { "description": "It's.", "parameters": [{ "in": "query", "name": "q" }] } } },
            "components": { "schemas": { "Message": { "type": "object", "properties": {
                "message_type": { "type": "string", "example": "other" }, "n": { "type": ["null", "integer"] },
                "list": { "type": "array", "items": { "enum": ["a'b"] } } } } } },
        });
        let page = page(&document, "http://hub:1");
        assert!(page.contains("curl -X POST http://hub:1/a2a/hello"), "{page}");
        assert!(page.contains("### GET /a2a/x") && page.contains("Query: `q`."), "{page}");
        assert!(page.contains(r#"{"message_type":"hello","n":1,"list":["a'\''b"]}"#), "{page}");
        assert!(
            !page.contains("/a2a/publish -H") && !page.contains("{base}") && !page.contains("<!--"),
            "{page}"
        );
        assert_eq!(calls(&document).len(), 2);
        let names: Vec<_> = topics(&document, "").into_iter().map(|topic| topic.name).collect();
        assert_eq!(names, ["start", "envelope", "errors"]);
    }

    #[test]
    fn every_error_code_is_a_topic() {
        let bundle = error_topic("bundle_required").unwrap().text;
        assert!(bundle.starts_with("HTTP 422.") && bundle.contains("in one message"), "{bundle}");
        assert_eq!(error_topic("no_such_code"), None);
    }

    #[test]
    fn the_guide_names_every_event() {
        let document = json!({ "paths": { "/a2a/webhook": {} } });
        let topics = topics(&document, "");
        let webhook = &topics.iter().find(|topic| topic.name == "webhook").unwrap().text;
        for kind in [
            "high_value_task",
            "task_available",
            "swarm_subtask_available",
            "swarm_aggregation_available",
            "task_assigned",
            "task_deadline_approaching",
            "task_overdue",
            "task_expired",
            "task_released",
            "submission_rejected",
            "bounty_matched",
            "bounty_paid",
            "bounty_refunded",
            "bounty_expired",
            "node_claimed",
            "secret_recovery_requested",
            "ping",
        ] {
            assert!(webhook.contains(&format!("| `{kind}` |")), "{kind}");
        }
    }
}
