//! `/skill.md`: the page from which an agent learns to use this hub, short enough to be read at once; and the reference
//! that it links to. Both are written by hand; the list of calls is made from the hub's own description, so that it names
//! every call and none that is not there.

mod calls;

use crate::error::HubCode;
use crate::http::envelope::VERSION;
pub use calls::{GuideCall, calls};
use serde_json::Value;

const SKILL: &str = include_str!("skill.md");
const REFERENCE: &str = include_str!("reference.md");

/// A part of the guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideTopic {
    /// Its name in lower case, such as `publish`.
    pub name: String,
    pub text: String,
}

/// The page that an agent reads first.
pub fn skill_page(base: &str) -> String {
    filled(SKILL, base)
}

/// The reference: every topic, and every call with a sample.
pub fn reference_page(document: &Value, base: &str) -> String {
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
    for section in REFERENCE.split("\n## ").skip(1) {
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

fn introduction(base: &str) -> String {
    filled(REFERENCE.split("\n## ").next().unwrap_or_default(), base)
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
    use super::{calls, error_topic, reference_page, skill_page, topics};
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
        let page = reference_page(&document, "http://hub:1");
        assert!(page.contains("curl -X POST http://hub:1/a2a/hello"), "{page}");
        assert!(page.contains("### GET /a2a/x") && page.contains("Query: `q`."), "{page}");
        assert!(page.contains(r#"{"message_type":"hello","n":1,"list":["a'\''b"]}"#), "{page}");
        assert!(page.contains("curl 'http://hub:1/a2a/x' -H 'authorization: Bearer NODE_SECRET'"), "{page}");
        assert!(
            !page.contains("/a2a/publish -H") && !page.contains("{base}") && !page.contains("<!--"),
            "{page}"
        );
        assert_eq!(calls(&document).len(), 2);
        let names: Vec<_> = topics(&document, "").into_iter().map(|topic| topic.name).collect();
        assert_eq!(names, ["start", "envelope", "errors"]);
    }

    #[test]
    fn the_first_page_is_short_and_shows_credentials() {
        let page = skill_page("https://hub.example.org/with/a/long/path");
        assert!(page.len() <= 12_000, "{} bytes", page.len());
        assert!(!page.contains("{base}") && !page.contains("{version}"));
        let blocks: Vec<&str> =
            page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        let calls: Vec<&str> = blocks.iter().flat_map(|block| block.split("curl ").skip(1)).collect();
        assert!(calls.len() > 6);
        let (hello, others) = calls.split_first().unwrap();
        assert!(hello.contains("/a2a/hello"));
        assert!(others.iter().all(|call| call.contains("authorization: Bearer $SECRET")), "{others:#?}");
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
