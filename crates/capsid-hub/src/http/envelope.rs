//! The envelope around every message, and the answer in one.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use capsid_model::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The name of the protocol.
pub const PROTOCOL: &str = "gep-a2a";
/// The version that the hub speaks.
pub const VERSION: &str = "1.0.0";
/// The longest message id.
const MESSAGE_ID_LIMIT: usize = 200;
/// The longest node id.
const NODE_ID_LIMIT: usize = 128;

/// A message that has all its seven fields.
#[derive(Debug, Clone)]
pub struct Envelope<'a> {
    /// What the sender says it is.
    pub message_type: String,
    /// Chosen by the sender; unique for it and the endpoint.
    pub message_id: String,
    pub sender_id: String,
    /// When it spoke, by its own clock.
    pub timestamp: Time,
    pub payload: &'a RawValue,
    /// Beside the payload, as some proxies send it.
    pub env_fingerprint: Option<&'a RawValue>,
    /// A secret in the body, for clients that cannot set headers.
    pub node_secret: Option<String>,
}

#[derive(Deserialize)]
struct RawEnvelope<'a> {
    #[serde(borrow)]
    protocol: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    message_type: Option<&'a RawValue>,
    #[serde(borrow)]
    message_id: Option<&'a RawValue>,
    #[serde(borrow)]
    sender_id: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    env_fingerprint: Option<&'a RawValue>,
    #[serde(borrow)]
    node_secret: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Whether a text is an object without the id of a sender.
    pub fn lacks_sender(text: &str) -> bool {
        #[derive(Deserialize)]
        struct SenderOnly<'s> {
            #[serde(borrow)]
            sender_id: Option<&'s RawValue>,
        }
        let sender =
            serde_json::from_str::<SenderOnly<'_>>(text).map(|only| only.sender_id.map(RawValue::get));
        matches!(sender, Ok(None | Some("null" | "\"\"")))
    }

    /// The refusal of a message without the id of a sender.
    pub fn sender_missing() -> ApiError {
        broken("`sender_id` is missing.")
    }

    /// A message that a node with this id could send.
    pub fn example(sender_id: &str) -> Value {
        example(sender_id)
    }

    /// Reads a message whose type is one of `types`.
    pub fn read(text: &'a str, types: &[&str]) -> ApiResult<Self> {
        Self::read_or_assign(text, types, None)
    }

    /// The same where a sender without an id gets one.
    pub fn read_or_assign(text: &'a str, types: &[&str], assigned: Option<&str>) -> ApiResult<Self> {
        let fields: RawEnvelope<'a> =
            serde_json::from_str(text).map_err(|_| broken("The body is not a JSON object."))?;
        let protocol = word(fields.protocol, "protocol")?;
        if protocol != PROTOCOL {
            return Err(broken(format!("`protocol` is not `{PROTOCOL}`.")));
        }
        let version = word(fields.protocol_version, "protocol_version")?;
        if !version.starts_with("1.") {
            return Err(broken(format!("`protocol_version` is not {VERSION} or another 1.x.y.")));
        }
        let message_type = word(fields.message_type, "message_type")?;
        let message_id = word(fields.message_id, "message_id")?;
        let sender_id = match assigned {
            Some(assigned) => assigned.to_owned(),
            None => word(fields.sender_id, "sender_id")?,
        };
        let timestamp = word(fields.timestamp, "timestamp")?;
        let payload = fields.payload.ok_or_else(|| broken("`payload` is missing."))?;
        if !json::is_object(payload) {
            return Err(broken("`payload` is not an object."));
        }
        if message_id.len() > MESSAGE_ID_LIMIT || has_control(&message_id) {
            return Err(broken(format!(
                "`message_id` is longer than {MESSAGE_ID_LIMIT} bytes or has control characters."
            )));
        }
        check_node_id(&sender_id, "sender_id")?;
        let timestamp = Time::parse(&timestamp)
            .ok_or_else(|| broken("`timestamp` is not an ISO 8601 time such as 2025-01-15T08:30:00Z."))?;
        if !types.contains(&message_type.as_str()) {
            return Err(ApiError::new(
                HubCode::MessageTypeMismatch,
                format!("This endpoint takes messages of the type `{}`.", types.join("` or `")),
                format!(
                    "Send the message with `message_type` set to `{}`, or to the endpoint of its type.",
                    types[0]
                ),
            ));
        }
        let node_secret = match fields.node_secret {
            Some(raw) => json::read::<Option<String>>(raw.get(), "node_secret")?,
            None => None,
        };
        let env_fingerprint = fields.env_fingerprint.filter(|raw| json::is_object(raw));
        Ok(Self { message_type, message_id, sender_id, timestamp, payload, env_fingerprint, node_secret })
    }

    /// Reads the payload as a type.
    pub fn payload<T: Deserialize<'a>>(&self) -> ApiResult<T> {
        json::read(self.payload.get(), "payload")
    }
}

fn word(raw: Option<&RawValue>, name: &str) -> ApiResult<String> {
    let raw = raw.ok_or_else(|| broken(format!("`{name}` is missing.")))?;
    let text: String =
        serde_json::from_str(raw.get()).map_err(|_| broken(format!("`{name}` is not a string.")))?;
    if text.is_empty() {
        return Err(broken(format!("`{name}` is empty.")));
    }
    Ok(text)
}

fn broken(problem: impl Into<String>) -> ApiError {
    ApiError::new(
        HubCode::InvalidProtocolMessage,
        problem,
        "Send all seven fields of the envelope: protocol, protocol_version, message_type, message_id, sender_id, \
         timestamp and payload.",
    )
    .with("example", example(EXAMPLE_SENDER))
    .with_example(example(EXAMPLE_SENDER))
}

const EXAMPLE_SENDER: &str = "node_e5f6a7b8c9d0e1f2";

fn example(sender_id: &str) -> Value {
    serde_json::json!({
        "protocol": PROTOCOL, "protocol_version": VERSION, "message_type": "hello",
        "message_id": "msg_1736934600_a1b2c3d4", "sender_id": sender_id,
        "timestamp": "2025-01-15T08:30:00Z", "payload": {}
    })
}

fn has_control(text: &str) -> bool {
    text.chars().any(|c| c.is_control() || capsid_model::text::is_invisible(c))
}

/// A node id is a short name without spaces, control or invisible characters, and not one of a hub's.
pub fn check_node_id(id: &str, field: &str) -> ApiResult<()> {
    if id.starts_with("hub_") {
        return Err(ApiError::new(
            HubCode::HubNodeIdReserved,
            format!("`{field}` begins with `hub_`, which is kept for hubs."),
            "Choose an id such as `node_` and 16 hexadecimal digits.",
        ));
    }
    let bad = id.is_empty()
        || id.len() > NODE_ID_LIMIT
        || has_control(id)
        || id.chars().any(|c| c.is_whitespace() || "/\\?#%".contains(c));
    if bad {
        return Err(ApiError::field(
            field,
            format!("a name of 1 to {NODE_ID_LIMIT} visible characters without spaces or / \\ ? # %"),
            "something else",
        ));
    }
    Ok(())
}

/// An answer in an envelope, with the payload's members repeated at the top for clients that look there.
#[derive(Debug, Clone)]
pub struct ResponseEnvelope {
    pub message_type: &'static str,
    /// The hub's own id for the message.
    pub message_id: String,
    pub hub_id: String,
    pub now: Time,
}

impl ResponseEnvelope {
    /// The whole body as text. The payload is JSON text of an object.
    pub fn text(&self, payload: &str) -> String {
        let head = serde_json::json!({
            "protocol": PROTOCOL, "protocol_version": VERSION, "message_type": self.message_type,
            "message_id": self.message_id, "sender_id": self.hub_id, "timestamp": self.now.iso(),
        })
        .to_string();
        let mut text = String::with_capacity(head.len() + 2 * payload.len() + 16);
        text.push_str(head.trim_end_matches('}'));
        text.push_str(",\"payload\":");
        text.push_str(payload);
        let members = payload.trim().trim_start_matches('{').trim();
        if members != "}" {
            text.push(',');
            text.push_str(members);
        } else {
            text.push('}');
        }
        text
    }

    /// The whole body as text.
    pub fn render(&self, payload: &impl Serialize) -> ApiResult<String> {
        let payload = serde_json::to_string(payload).map_err(ApiError::not_serializable)?;
        Ok(self.text(&payload))
    }

    /// Puts a payload into the envelope.
    pub fn wrap<T>(self, payload: T) -> A2aResponse<T> {
        A2aResponse { envelope: self, payload }
    }
}

/// A payload in the envelope that it is sent in.
#[derive(Debug, Clone)]
pub struct A2aResponse<T> {
    pub envelope: ResponseEnvelope,
    pub payload: T,
}

impl<T: Serialize> IntoResponse for A2aResponse<T> {
    fn into_response(self) -> Response {
        self.envelope.render(&self.payload).map(JsonReply::ok).into_response()
    }
}

impl<T: ToSchema> PartialSchema for A2aResponse<T> {
    fn schema() -> RefOr<Schema> {
        let payload = RefOr::Ref(Ref::from_schema_name(T::name()));
        let head = SEVEN.iter().fold(ObjectBuilder::new(), |head, name| {
            let member = match *name {
                "payload" => payload.clone(),
                _ => RefOr::T(Schema::from(ObjectBuilder::new().schema_type(Type::String))),
            };
            head.property(*name, member).required(*name)
        });
        let whole = AllOfBuilder::new()
            .description(Some("An answer in its envelope. The payload's members are repeated beside it."))
            .item(head)
            .item(payload);
        RefOr::T(Schema::AllOf(whole.build()))
    }
}

impl<T: ToSchema> ToSchema for A2aResponse<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("{}Message", T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

/// The names that a payload's members must not take.
const SEVEN: [&str; 7] =
    ["protocol", "protocol_version", "message_type", "message_id", "sender_id", "timestamp", "payload"];

/// JSON text as a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonReply {
    pub status: u16,
    pub body: String,
}

impl JsonReply {
    /// A reply with status 200.
    pub fn ok(body: impl Into<String>) -> Self {
        Self { status: 200, body: body.into() }
    }

    /// A reply with status 200, of a value.
    pub fn json(value: &impl serde::Serialize) -> Self {
        Self::ok(serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned()))
    }
}

impl IntoResponse for JsonReply {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let json = HeaderValue::from_static("application/json");
        (status, [(header::CONTENT_TYPE, json)], self.body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    const HELLO: &str = r#"{"protocol":"gep-a2a","protocol_version":"1.0.0","message_type":"hello",
        "message_id":"msg_1","sender_id":"node_1","timestamp":"2025-01-15T08:30:00Z","payload":{"a":1}}"#;

    #[test]
    fn a_whole_envelope_is_read() {
        let envelope = Envelope::read(HELLO, &["hello"]).unwrap();
        assert_eq!(envelope.sender_id, "node_1");
        assert_eq!(envelope.payload.get(), r#"{"a":1}"#);
    }

    #[test]
    fn each_of_the_seven_is_required() {
        let whole: Map<String, Value> = serde_json::from_str(HELLO).unwrap();
        for name in SEVEN {
            for spoilt in
                [None, Some(Value::Null), Some(7.into()), Some("".into()), Some(Value::Array(vec![]))]
            {
                let mut message = whole.clone();
                match spoilt.clone() {
                    Some(value) => message.insert(name.to_owned(), value),
                    None => message.shift_remove(name),
                };
                let text = serde_json::to_string(&message).unwrap();
                let error = Envelope::read(&text, &["hello"]).unwrap_err();
                assert_eq!(error.code, HubCode::InvalidProtocolMessage, "{name} {spoilt:?}");
            }
        }
    }

    #[test]
    fn a_message_of_another_type_is_told_so() {
        let error = Envelope::read(HELLO, &["publish"]).unwrap_err();
        assert_eq!(error.code, HubCode::MessageTypeMismatch);
    }

    #[test]
    fn the_payload_stands_in_the_envelope_and_at_the_top() {
        let answer = ResponseEnvelope {
            message_type: "hello",
            message_id: "m".into(),
            hub_id: "hub_1".into(),
            now: Time(0),
        };
        let body: Value = serde_json::from_str(&answer.text(r#"{"status":"ok"}"#)).unwrap();
        assert_eq!(body["payload"]["status"], "ok");
        assert_eq!(body["status"], "ok");
        assert_eq!(body["sender_id"], "hub_1");
        let empty: Value = serde_json::from_str(&answer.text("{}")).unwrap();
        assert_eq!(empty["payload"], serde_json::json!({}));
    }
}
