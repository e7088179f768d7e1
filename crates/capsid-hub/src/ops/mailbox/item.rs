//! One message of a batch.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json;
use crate::http::validate;
use capsid_store::notifications::mailbox::MailboxMessageKey;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most messages at a time.
const MAX: usize = 50;
/// How a message may be ranked.
const PRIORITIES: [&str; 4] = ["low", "normal", "high", "urgent"];

/// One message of a batch.
#[derive(Debug, Deserialize)]
pub(super) struct MailboxItem<'a> {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[serde(borrow)]
    pub payload: Option<&'a RawValue>,
    pub priority: Option<String>,
    pub ref_id: Option<String>,
}

impl<'a> MailboxItem<'a> {
    /// Reads the payload; a message without one says nothing.
    pub fn payload_or_default<T: Deserialize<'a> + Default>(&self) -> ApiResult<T> {
        self.payload.map_or_else(|| Ok(T::default()), |raw| json::read(raw.get(), "payload"))
    }

    /// What makes the message the same when it is sent again.
    pub fn key(&self, node_id: &str) -> MailboxMessageKey {
        let kind = self.kind.as_deref().unwrap_or_default();
        MailboxMessageKey::new(node_id, &self.id, kind, self.payload.map_or("", RawValue::get))
    }
}

/// Reads what every message needs to be answered at all: an id. What else is wrong is told in its answer.
pub(super) fn read_items<'a>(raw: Option<&[&'a RawValue]>) -> ApiResult<Vec<MailboxItem<'a>>> {
    let raw = raw.ok_or_else(|| ApiError::field("messages", "an array", "missing"))?;
    if raw.len() > MAX {
        return Err(ApiError::new(
            HubCode::PayloadTooLarge,
            format!("The batch has {} messages.", raw.len()),
            format!("Send at most {MAX} messages at a time."),
        ));
    }
    let read = raw.iter().enumerate().map(|(n, raw)| {
        let path = format!("messages[{n}]");
        let message: MailboxItem<'_> = json::read(raw.get(), &path)?;
        validate::name(&message.id, &format!("{path}.id"), 200)?;
        validate::name_or(message.kind.as_deref(), &format!("{path}.type"), 64)?;
        validate::name_or(message.ref_id.as_deref(), &format!("{path}.ref_id"), 200)?;
        match message.priority.as_deref() {
            Some(priority) if !PRIORITIES.contains(&priority) => Err(ApiError::field(
                format!("{path}.priority"),
                format!("one of {}", PRIORITIES.join(", ")),
                "another word",
            )),
            _ => Ok(message),
        }
    });
    read.collect()
}
