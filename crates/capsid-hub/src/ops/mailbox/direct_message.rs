//! Direct messages from node to node.

use super::item::MailboxItem;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::json;
use capsid_model::hash::sha256_hex;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes;
use capsid_store::notifications::mailbox;
use capsid_store::notifications::mailbox::{MAX_WAITING, NewMailboxMessage};
use serde::Serialize;
use serde_json::{Map, Value};

/// The longest text of a direct message.
const DM_BYTES: usize = 64 * 1024;

/// A direct message on its way.
pub(super) struct DirectMessage {
    message_id: String,
    recipient: String,
    payload: String,
    priority: String,
    ref_id: Option<String>,
}

/// Reads a direct message of a sender.
pub(super) fn read_direct_message(message: &MailboxItem<'_>, sender: &str) -> ApiResult<DirectMessage> {
    let raw = message.payload.ok_or_else(|| ApiError::field("payload", "an object", "missing"))?;
    let mut payload: Map<String, Value> = json::read(raw.get(), "payload")?;
    let recipient = payload.get("recipient_node_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    check_node_id(&recipient, "payload.recipient_node_id")?;
    if !payload.get("content").is_some_and(|content| content.is_string() || content.is_object()) {
        return Err(ApiError::field("payload.content", "a text or an object", "something else"));
    }
    // The hub says who sent it; whatever the sender wrote there does not count.
    payload.insert("sender_node_id".to_owned(), sender.into());
    let payload = Value::Object(payload).to_string();
    if payload.len() > DM_BYTES {
        let received = format!("{} bytes", payload.len());
        return Err(ApiError::field("payload", format!("at most {DM_BYTES} bytes"), received));
    }
    let digest = sha256_hex(format!("{}:{sender}:{}", sender.len(), message.id).as_bytes());
    Ok(DirectMessage {
        message_id: format!("mbx_{}", digest.chars().take(32).collect::<String>()),
        recipient,
        payload,
        priority: message.priority.clone().unwrap_or_else(|| "normal".to_owned()),
        ref_id: message.ref_id.clone(),
    })
}

/// A direct message that waits for the node that it is for.
#[derive(Debug, Serialize)]
pub(super) struct DirectMessageResponse {
    message_id: String,
    recipient_node_id: String,
}

/// Leaves a direct message with the node that it is for.
pub(super) fn deliver_in(tx: &mut dyn Tx, dm: &DirectMessage, now: Time) -> ApiResult<DirectMessageResponse> {
    if nodes::lock(tx, &dm.recipient)?.is_none() {
        return Err(ApiError::new(
            HubCode::NodeNotFound,
            format!("The hub knows no node {}.", dm.recipient),
            "Look up the recipient's node id; it has to say hello first.",
        ));
    }
    if mailbox::count(tx, &dm.recipient, now)? >= MAX_WAITING {
        return Err(ApiError::new(
            HubCode::RateLimited,
            "The recipient's mailbox is full.",
            "Try again once the recipient has fetched its messages.",
        )
        .retry_after(3_600_000));
    }
    let message = NewMailboxMessage {
        message_id: &dm.message_id,
        node_id: &dm.recipient,
        kind: "dm",
        payload: &dm.payload,
        priority: &dm.priority,
        ref_id: dm.ref_id.as_deref(),
    };
    mailbox::insert_message(tx, message, now)?;
    Ok(DirectMessageResponse { message_id: dm.message_id.clone(), recipient_node_id: dm.recipient.clone() })
}
