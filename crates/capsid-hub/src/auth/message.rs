//! A message in its envelope, and who sends it.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::Envelope;
use crate::state::Hub;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::system::responses::MessageKey;
use serde::Deserialize;

/// A message whose envelope was read.
#[derive(Debug)]
pub struct Message<'a> {
    pub envelope: Envelope<'a>,
    /// What the request shows in its headers.
    pub header: Credentials,
    /// Who sends it, with the secret of the body where the headers show none.
    pub sender: Sender,
    /// Whether the hub chose the sender's id, because the message had none.
    pub is_sender_assigned: bool,
    text: &'a str,
}

impl<'a> Message<'a> {
    pub fn sender_id(&self) -> &str {
        self.sender.id()
    }

    /// Reads the payload as a type.
    pub fn payload<T: Deserialize<'a>>(&self) -> ApiResult<T> {
        self.envelope.payload()
    }

    /// What makes the message the same when it is sent to an endpoint again.
    pub fn key(&self, endpoint: &str) -> MessageKey {
        MessageKey::new(self.sender_id(), endpoint, &self.envelope.message_id, self.text)
    }
}

/// Which limit a message counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageLimit {
    Publish,
    /// Reports, decisions and revocations together.
    Other,
}

impl MessageLimit {
    fn of_hub(self, hub: &Hub) -> (&'static str, RateLimit) {
        match self {
            Self::Publish => ("publish", hub.config.limits.publish),
            Self::Other => ("messages", hub.config.limits.messages),
        }
    }
}

/// Reads the envelope of a message whose type is one of `types`, and whose time is not too far off.
pub fn parse_envelope<'a>(hub: &Hub, text: &'a str, types: &[&str]) -> ApiResult<Envelope<'a>> {
    let envelope = Envelope::read(text, types)?;
    check_skew(hub, &envelope)?;
    Ok(envelope)
}

/// The same with what the request shows of its sender.
pub fn parse_message<'a>(
    hub: &Hub,
    text: &'a str,
    types: &[&str],
    header: Credentials,
) -> ApiResult<Message<'a>> {
    let envelope = parse_envelope(hub, text, types)?;
    let credentials = header.clone().or_secret(envelope.node_secret.as_deref());
    let sender = Sender::new(&envelope.sender_id, credentials);
    Ok(Message { envelope, header, sender, is_sender_assigned: false, text })
}

/// The same for a hello, which may come from a node that has no id yet. It is refused with an id that nobody has, or gets
/// that id where the operator wants it so.
pub fn parse_hello<'a>(hub: &Hub, text: &'a str, header: Credentials) -> ApiResult<Message<'a>> {
    if !Envelope::lacks_sender(text) {
        return parse_message(hub, text, &["hello"], header);
    }
    let fresh = format!("node_{}", hub.random.hex(8));
    if !hub.config.identity.assign_ids {
        let refusal = parse_envelope(hub, text, &["hello"]).err();
        return Err(refusal.unwrap_or_else(Envelope::sender_missing).with_example(Envelope::example(&fresh)));
    }
    let envelope = Envelope::read_or_assign(text, &["hello"], Some(&fresh))?;
    check_skew(hub, &envelope)?;
    let credentials = header.clone().or_secret(envelope.node_secret.as_deref());
    let sender = Sender::new(&envelope.sender_id, credentials);
    Ok(Message { envelope, header, sender, is_sender_assigned: true, text })
}

/// The same for a message that is counted for its sender. Whoever may not speak for a node cannot use up what it may
/// send, and whoever sends in ever new names is counted for the network, as for saying hello.
pub async fn authenticate_and_limit<'a>(
    hub: &Hub,
    text: &'a str,
    types: &[&str],
    header: Credentials,
    limit: MessageLimit,
) -> ApiResult<Message<'a>> {
    let message = parse_message(hub, text, types, header)?;
    let is_known = message.sender.verify(hub).await?.is_some();
    if !is_known {
        hub.limit_hellos(&message.header).await?;
    }
    let (name, limit) = limit.of_hub(hub);
    hub.limiter.check(&hub.store, HubCode::RateLimited, name, message.sender_id(), limit, hub.now()).await?;
    Ok(message)
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
