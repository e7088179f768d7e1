//! The same message has its effect once and gets the same answer every time.

use crate::auth::message::Message;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::state::SharedHub;
use axum::response::{IntoResponse, Response};
use capsid_model::problem::{Code, Problem};
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::system::responses;
use capsid_store::system::responses::{MessageKey, MessageLookup, StoredResponse};
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
            match find_stored(tx, &key, context.now)? {
                Some((status, StoredResponse::Body(body))) => {
                    return Ok(Idempotent::Stored(JsonReply { status, body }));
                }
                Some((_, StoredResponse::Facts(_))) => return Err(unknown_form()),
                None => {}
            }
            let response = op(tx, &context, &node)?;
            let reply = JsonReply::ok(envelope.render(&response)?);
            let stored = StoredResponse::Body(reply.body.clone());
            responses::save_response(tx, &key, reply.status, &stored, context.now)?;
            Ok(Idempotent::Fresh { response, reply })
        })
        .await
}

/// What is kept as the response to a message, with its status; nothing where the message is new. An id that was used for
/// another body is refused.
pub fn find_stored(tx: &mut dyn Tx, key: &MessageKey, now: Time) -> ApiResult<Option<(u16, StoredResponse)>> {
    match responses::find_response(tx, key, now)? {
        MessageLookup::New => Ok(None),
        MessageLookup::Answered { status, response } => Ok(Some((status, response))),
        MessageLookup::Other => Err(used_before()),
    }
}

fn unknown_form() -> ApiError {
    Problem::new(Code::StoreDamaged, "A stored response has a form that its endpoint does not know.").into()
}

fn used_before() -> ApiError {
    ApiError::new(
        HubCode::DuplicateMessageId,
        "This `message_id` was used before with another body.",
        "Give each message an id of its own, such as `msg_<milliseconds>_<random hex>`.",
    )
}
