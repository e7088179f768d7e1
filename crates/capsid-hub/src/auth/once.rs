//! The same message has its effect once and gets the same answer every time.

use crate::auth::access;
use crate::auth::access::Credentials;
use crate::error::{ApiError, HubCode, Result};
use crate::http::envelope::{Envelope, Reply};
use crate::state::{Hub, Shared};
use capsid_rules::limits::Limit;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::Node;
use capsid_store::system::messages;
use capsid_store::system::messages::{Known, MessageKey};

/// Reads a message whose type is one of `types`, and whose time is not too far off.
pub fn open<'a>(hub: &Hub, text: &'a str, types: &[&str]) -> Result<Envelope<'a>> {
    let envelope = Envelope::read(text, types)?;
    check_skew(hub, &envelope)?;
    Ok(envelope)
}

/// The same for a message that is counted for its sender. Whoever may not speak for a node cannot use up what it may
/// send, and whoever sends in ever new names is counted for the address, as for saying hello.
pub async fn receive<'a>(
    hub: &Hub,
    text: &'a str,
    types: &[&str],
    credentials: &Credentials,
    (what, limit): (&str, Limit),
) -> Result<Envelope<'a>> {
    let envelope = open(hub, text, types)?;
    let shown = credentials.clone().or_secret(envelope.node_secret.as_deref());
    let sender = &envelope.sender_id;
    let is_known = hub.read_as(sender, &shown, |_, node| Ok(node.is_some())).await?;
    let now = hub.now();
    if !is_known {
        let (newcomers, address) = (hub.config.limits.hello, &credentials.address);
        hub.limiter.take(&hub.store, HubCode::HelloRateLimit, "hello", address, newcomers, now).await?;
    }
    hub.limiter.take(&hub.store, HubCode::RateLimited, what, sender, limit, now).await?;
    Ok(envelope)
}

/// Runs an operation for a message in the name of its sender: checks the secret, looks whether the message was
/// answered before, and keeps the answer together with what was done.
pub async fn once<F>(
    hub: &Shared,
    envelope: &Envelope<'_>,
    endpoint: &'static str,
    text: &str,
    credentials: Credentials,
    mut op: F,
) -> Result<Reply>
where
    F: FnMut(&mut dyn Tx, &Node) -> Result<Reply> + Send + 'static,
{
    let key = MessageKey::new(&envelope.sender_id, endpoint, &envelope.message_id, text);
    let (rules, sender) = (hub.rules(), envelope.sender_id.clone());
    let credentials = credentials.or_secret(envelope.node_secret.as_deref());
    hub.store
        .write(move |tx| {
            let node = access::join_as(tx, &rules, &sender, &credentials)?;
            match messages::look_up(tx, &key, rules.now)? {
                Known::Answered { status, answer } => return Ok(Reply { status, body: answer }),
                Known::Other => return Err(used_before()),
                Known::New => {}
            }
            let reply = op(tx, &node)?;
            messages::keep(tx, &key, reply.status, &reply.body, rules.now)?;
            Ok(reply)
        })
        .await
}

fn used_before() -> ApiError {
    ApiError::new(
        HubCode::DuplicateMessageId,
        "This `message_id` was used before with another body.",
        "Give each message an id of its own, such as `msg_<milliseconds>_<random hex>`.",
    )
}

/// Refuses messages whose time is too far off, where the operator asks for it.
fn check_skew(hub: &Hub, envelope: &Envelope<'_>) -> Result<()> {
    let Some(most) = hub.config.max_skew_ms else { return Ok(()) };
    let off = (hub.now().0 - envelope.timestamp.0).abs();
    if off <= most {
        return Ok(());
    }
    Err(ApiError::new(
        HubCode::TimestampOutOfRange,
        format!("The message's time is {} seconds away from the hub's.", off / 1000),
        "Set the clock, and stamp each message with the present time.",
    )
    .with("server_time", hub.now().iso()))
}
