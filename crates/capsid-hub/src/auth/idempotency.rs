//! The same message has its effect once and gets the same answer every time.

use crate::auth::credentials;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{Envelope, JsonReply};
use crate::state::{Hub, SharedHub};
use capsid_rules::rate_limit::RateLimit;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::system::responses;
use capsid_store::system::responses::{MessageKey, MessageLookup};

/// Reads a message whose type is one of `types`, and whose time is not too far off.
pub fn parse_envelope<'a>(hub: &Hub, text: &'a str, types: &[&str]) -> ApiResult<Envelope<'a>> {
    let envelope = Envelope::read(text, types)?;
    check_skew(hub, &envelope)?;
    Ok(envelope)
}

/// The same for a message that is counted for its sender. Whoever may not speak for a node cannot use up what it may
/// send, and whoever sends in ever new names is counted for the address, as for saying hello.
pub async fn authenticate_and_limit<'a>(
    hub: &Hub,
    text: &'a str,
    types: &[&str],
    credentials: &Credentials,
    (what, limit): (&str, RateLimit),
) -> ApiResult<Envelope<'a>> {
    let envelope = parse_envelope(hub, text, types)?;
    let shown = credentials.clone().or_secret(envelope.node_secret.as_deref());
    let sender = &envelope.sender_id;
    let is_known = hub.authenticate_reader(sender, &shown, |_, node| Ok(node.is_some())).await?;
    let now = hub.now();
    if !is_known {
        let (newcomers, address) = (hub.config.limits.hello, &credentials.address);
        hub.limiter.check(&hub.store, HubCode::HelloRateLimit, "hello", address, newcomers, now).await?;
    }
    hub.limiter.check(&hub.store, HubCode::RateLimited, what, sender, limit, now).await?;
    Ok(envelope)
}

/// Runs an operation for a message in the name of its sender: checks the secret, looks whether the message was
/// answered before, and keeps the answer together with what was done.
pub async fn run_idempotent<F>(
    hub: &SharedHub,
    envelope: &Envelope<'_>,
    endpoint: &'static str,
    text: &str,
    credentials: Credentials,
    mut op: F,
) -> ApiResult<JsonReply>
where
    F: FnMut(&mut dyn Tx, &NodeRow) -> ApiResult<JsonReply> + Send + 'static,
{
    let key = MessageKey::new(&envelope.sender_id, endpoint, &envelope.message_id, text);
    let (rules, sender) = (hub.rules(), envelope.sender_id.clone());
    let credentials = credentials.or_secret(envelope.node_secret.as_deref());
    hub.store
        .write(move |tx| {
            let node = credentials::authenticate_or_register(tx, &rules, &sender, &credentials)?;
            match responses::find_response(tx, &key, rules.now)? {
                MessageLookup::Answered { status, answer } => return Ok(JsonReply { status, body: answer }),
                MessageLookup::Other => return Err(used_before()),
                MessageLookup::New => {}
            }
            let reply = op(tx, &node)?;
            responses::save_response(tx, &key, reply.status, &reply.body, rules.now)?;
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
fn check_skew(hub: &Hub, envelope: &Envelope<'_>) -> ApiResult<()> {
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
