//! The same message has its effect once and gets the same answer every time.

use crate::auth::message::Message;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::state::SharedHub;
use axum::response::{IntoResponse, Response};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::system::responses;
use capsid_store::system::responses::MessageLookup;
use serde::Serialize;

/// What became of a message.
#[derive(Debug)]
pub enum Idempotent<T> {
    /// It was carried out now.
    Fresh {
        response: T,
        /// The response in its envelope, as it was stored.
        reply: JsonReply,
    },
    /// It was carried out before, with this reply.
    Stored(JsonReply),
}

impl<T> IntoResponse for Idempotent<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Fresh { reply, .. } | Self::Stored(reply) => reply.into_response(),
        }
    }
}

/// Runs an operation for a message in the name of its sender: checks the secret, looks whether the message was
/// answered before, and keeps the answer together with what was done. `message_type` is that of the answer.
pub async fn run_idempotent<T, F>(
    hub: &SharedHub,
    message: &Message<'_>,
    endpoint: &'static str,
    message_type: &'static str,
    op: F,
) -> ApiResult<Idempotent<T>>
where
    T: Serialize + Send + 'static,
    F: FnMut(&mut dyn Tx, &OperationContext, &NodeRow) -> ApiResult<T> + Send + 'static,
{
    run_idempotent_with(hub, message, endpoint, message_type, |_| 200, op).await
}

/// The same for an operation whose response may have another status than 200.
pub async fn run_idempotent_with<T, F>(
    hub: &SharedHub,
    message: &Message<'_>,
    endpoint: &'static str,
    message_type: &'static str,
    status: fn(&T) -> u16,
    mut op: F,
) -> ApiResult<Idempotent<T>>
where
    T: Serialize + Send + 'static,
    F: FnMut(&mut dyn Tx, &OperationContext, &NodeRow) -> ApiResult<T> + Send + 'static,
{
    let (key, envelope) = (message.key(endpoint), hub.answer(message_type));
    let (context, sender) = (hub.context(), message.sender.clone());
    hub.store
        .write(move |tx| {
            let context = context.begin();
            let node = sender.lock_or_register(tx, &context)?;
            match responses::find_response(tx, &key, context.now)? {
                MessageLookup::Answered { status, answer } => {
                    return Ok(Idempotent::Stored(JsonReply { status, body: answer }));
                }
                MessageLookup::Other => return Err(used_before()),
                MessageLookup::New => {}
            }
            let response = op(tx, &context, &node)?;
            let reply = JsonReply { status: status(&response), body: envelope.render(&response)? };
            responses::save_response(tx, &key, reply.status, &reply.body, context.now)?;
            Ok(Idempotent::Fresh { response, reply })
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
