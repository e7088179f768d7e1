//! The envelope of every protocol message: seven fields, all required.

use capsid_model::{Object, Time, Value, json};

/// The protocol's name.
pub const PROTOCOL: &str = "gep-a2a";
/// Its version.
pub const VERSION: &str = "1.0.0";

/// The types of messages.
pub const KINDS: [&str; 6] = ["hello", "publish", "fetch", "report", "decision", "revoke"];

/// A fresh message id; `random` is chance, passed in.
pub fn message_id(now: Time, random: u32) -> String {
    format!("msg_{}_{random:08x}", now.0)
}

/// A message as it is sent.
pub fn message(kind: &str, message_id: &str, sender: &str, now: Time, payload: Value) -> Value {
    json!({
        "protocol": PROTOCOL,
        "protocol_version": VERSION,
        "message_type": kind,
        "message_id": message_id,
        "sender_id": sender,
        "timestamp": now.iso(),
        "payload": payload,
    })
}

/// The payload of an answer: in its envelope, or flat where a hub answers without one.
pub fn payload(answer: &Value) -> Option<Object> {
    let object = answer.as_object()?;
    match object.get("payload") {
        Some(Value::Object(payload)) if object.contains_key("protocol") => Some(payload.clone()),
        _ => Some(object.clone()),
    }
}

/// Who an answer says it is from; none where it comes without an envelope.
pub fn sender(answer: &Value) -> Option<&str> {
    answer.get("protocol")?;
    answer.get("sender_id")?.as_str()
}
