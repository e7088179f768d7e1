//! The envelope of every protocol message: seven fields, all required.

use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Time, Value, json};

/// The protocol's name.
pub const PROTOCOL: &str = "gep-a2a";
/// Its version.
pub const VERSION: &str = "1.0.0";

/// The types of messages.
pub const KINDS: [&str; 6] = ["hello", "publish", "fetch", "report", "decision", "revoke"];

/// The longest id of a message or a node that is taken.
const MAX_ID_LEN: usize = 200;

/// A fresh message id; `random` is chance, passed in.
pub fn message_id(now: Time, random: u32) -> String {
    format!("msg_{}_{random:08x}", now.0)
}

/// A message as it is sent.
pub fn message(kind: &str, message_id: &str, sender: &str, now: Time, payload: Value) -> Value {
    let mut message = json!({
        "protocol": PROTOCOL,
        "protocol_version": VERSION,
        "message_type": kind,
        "message_id": message_id,
        "sender_id": sender,
        "timestamp": now.iso(),
    });
    message["payload"] = payload;
    message
}

/// The payload of an answer: in its envelope, or flat where a hub answers without one.
pub fn payload(answer: &Value) -> Option<Object> {
    let object = answer.as_object()?;
    match object.get("payload") {
        Some(Value::Object(payload)) if object.contains_key("protocol") => Some(payload.clone()),
        _ => Some(object.clone()),
    }
}

/// The sender that an answer names; none if it has no envelope.
pub fn sender(answer: &Value) -> Option<&str> {
    answer.get("protocol")?;
    answer.get("sender_id")?.as_str()
}

/// What an answer has to be to be one to our message.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedResponse<'a> {
    /// The type of the message that was sent.
    pub kind: &'a str,
    /// Our own name, under which nobody else answers.
    pub node_id: &'a str,
    /// The name of the hub, once it is known.
    pub hub_node_id: Option<&'a str>,
}

/// The payload of an answer that is one to our message, or what speaks against it.
pub fn answered(answer: &Value, expected: ExpectedResponse<'_>) -> Result<Object, String> {
    let Some(object) = answer.as_object() else { return Err("its answer is no object".to_owned()) };
    if object.contains_key("protocol") {
        check_envelope(object, expected)?;
    }
    let payload = payload(answer).ok_or_else(|| "its answer is no object".to_owned())?;
    match (sender(answer), payload.get("hub_node_id").and_then(Value::as_str)) {
        (Some(sender), Some(named)) if sender != named => {
            Err("it reports another name than the one it answers under".to_owned())
        }
        _ => Ok(payload),
    }
}

fn check_envelope(object: &Object, expected: ExpectedResponse<'_>) -> Result<(), String> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let shown = |text: &str| inert_line(cut(text, 80));
    if text("protocol") != PROTOCOL || !text("protocol_version").starts_with("1.") {
        return Err(format!("it speaks `{}` {}", shown(text("protocol")), shown(text("protocol_version"))));
    }
    if !object.get("payload").is_some_and(Value::is_object) {
        return Err("its answer has no payload".to_owned());
    }
    // Hubs name their answers in several ways, but none answers one message with another's type. A bundle gets a
    // decision.
    let kind = text("message_type");
    if KINDS.contains(&kind) && kind != expected.kind && kind != "decision" {
        return Err(format!("it answers a message of the type `{}` with a `{}`", expected.kind, shown(kind)));
    }
    let sender = text("sender_id");
    if sender == expected.node_id {
        return Err("it answers under this node's own name".to_owned());
    }
    match expected.hub_node_id {
        Some(known) if sender != known => {
            Err(format!("it calls itself `{}`, and was `{}` before", shown(sender), shown(known)))
        }
        _ => Ok(()),
    }
}

/// Whether a document has the seven fields of a message; otherwise what it lacks.
pub fn check(message: &Value) -> Result<(), String> {
    let Some(object) = message.as_object() else { return Err("it is no object".to_owned()) };
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("protocol") != PROTOCOL {
        return Err(format!("its `protocol` is not `{PROTOCOL}`"));
    }
    if !text("protocol_version").starts_with("1.") {
        return Err("its `protocol_version` is not 1.x".to_owned());
    }
    let name = |name: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c == '_';
        !name.is_empty() && name.len() <= 40 && name.chars().all(fits)
    };
    if !name(text("message_type")) {
        return Err("its `message_type` is not the name of a type".to_owned());
    }
    for field in ["message_id", "sender_id"] {
        let id = text(field);
        if id.is_empty() || id.len() > MAX_ID_LEN || id.chars().any(char::is_control) {
            return Err(format!("its `{field}` is missing or cannot be an id"));
        }
    }
    if Time::parse(text("timestamp")).is_none() {
        return Err("its `timestamp` is no time".to_owned());
    }
    match object.get("payload") {
        Some(Value::Object(_)) => Ok(()),
        _ => Err("its `payload` is no object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: &str, sender: &str) -> Value {
        message(kind, "msg_1", sender, Time(0), json!({"status": "ok"}))
    }

    fn expected<'a>(kind: &'a str, hub: Option<&'a str>) -> ExpectedResponse<'a> {
        ExpectedResponse { kind, node_id: "node_me", hub_node_id: hub }
    }

    #[test]
    fn an_answer_is_taken_from_its_hub_and_to_its_message_only() {
        let good = [
            (answer("fetch", "hub_1"), "fetch", Some("hub_1")),
            (answer("decision", "hub_1"), "publish", None),
            (answer("fetch_result", "hub_1"), "fetch", None),
            (json!({"status": "ok"}), "hello", Some("hub_1")),
        ];
        for (body, kind, hub) in good {
            assert_eq!(answered(&body, expected(kind, hub)).unwrap()["status"], "ok", "{body}");
        }
        let mut other = answer("fetch", "hub_1");
        other["protocol"] = "soap".into();
        let mut bare = answer("fetch", "hub_1");
        bare["payload"] = json!([]);
        let bad = [
            (answer("fetch", "hub_2"), "calls itself"),
            (answer("fetch", "node_me"), "own name"),
            (answer("hello", "hub_1"), "answers a message"),
            (
                json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "fetch",
                "sender_id": "hub_1", "payload": {"hub_node_id": "hub_3"}}),
                "another name",
            ),
            (other, "it speaks `soap`"),
            (bare, "no payload"),
            (json!([1]), "no object"),
        ];
        for (body, reason) in bad {
            let message = answered(&body, expected("fetch", Some("hub_1"))).unwrap_err();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn a_message_has_all_seven_fields() {
        assert_eq!(check(&answer("hello", "node_1")), Ok(()));
        for field in ["protocol", "protocol_version", "message_type", "message_id", "sender_id", "timestamp"]
        {
            for value in [json!(null), json!(""), json!("../x\n"), json!(7)] {
                let mut message = answer("hello", "node_1");
                message[field] = value.clone();
                assert!(check(&message).is_err(), "{field} {value}");
            }
        }
    }
}
