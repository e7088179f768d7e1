//! Doing what a message of a batch says once, and keeping the answer.

use super::item::MailboxItem;
use super::item_response::{
    DoneStatus, ItemResponse, MailboxDone, MailboxFailure, MailboxItemResponse, MailboxRejection,
    RejectedStatus, is_passing,
};
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json::stored_json;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::notifications::mailbox;
use capsid_store::notifications::mailbox::{BYTES_A_DAY, MailboxLookup, MailboxMessageKey};
use serde_json::value::{RawValue, to_raw_value};

/// Takes the messages of one node.
pub(super) struct MailboxBatch<'h> {
    pub hub: &'h SharedHub,
    pub sender: Sender,
    pub context: OperationContext,
}

impl MailboxBatch<'_> {
    /// Does something in the name of the node unless that was done before.
    pub async fn run_idempotent_as_node<T, F>(
        &self,
        message: &MailboxItem<'_>,
        mut op: F,
    ) -> ApiResult<Box<RawValue>>
    where
        T: ItemResponse,
        F: FnMut(&mut dyn Tx, &OperationContext, &NodeRow) -> ApiResult<T> + Send + 'static,
    {
        let (context, sender) = (self.context.clone(), self.sender.clone());
        self.run_idempotent(message, move |tx, _| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            op(tx, &context, &node)
        })
        .await
    }

    /// Does something for a message unless that was done before, and keeps the answer together with it.
    pub async fn run_idempotent<T, F>(&self, message: &MailboxItem<'_>, mut op: F) -> ApiResult<Box<RawValue>>
    where
        T: ItemResponse,
        F: FnMut(&mut dyn Tx, Time) -> ApiResult<T> + Send + 'static,
    {
        let (key, context) = (message.key(self.sender.id()), self.context.clone());
        let kind = message.kind.clone();
        self.hub
            .store
            .write::<_, ApiError, _>(move |tx| {
                let now = context.begin().now;
                if let Some(answer) = find_answer(tx, &key, now)? {
                    return Ok(answer);
                }
                let response = op(tx, now)?;
                let refusal = response.refusal();
                let done = MailboxItemResponse::Done(MailboxDone {
                    id: key.message_id.clone(),
                    status: if refusal.is_some() { DoneStatus::Rejected } else { DoneStatus::Accepted },
                    original_type: kind.clone(),
                    response: to_raw_value(&response).map_err(ApiError::not_serializable)?,
                    terminal: refusal.as_ref().map(|_| true),
                    reason: refusal,
                });
                let answer = done.render()?;
                mailbox::save_answer(tx, &key, answer.get(), now)?;
                Ok(answer)
            })
            .await
    }

    /// The answer to a message, whether it went well or not.
    pub async fn to_item_response(
        &self,
        message: &MailboxItem<'_>,
        outcome: ApiResult<Box<RawValue>>,
    ) -> ApiResult<Box<RawValue>> {
        match outcome {
            Ok(answer) => Ok(answer),
            Err(error) if is_passing(&error) => {
                MailboxItemResponse::Failed(MailboxFailure::new(message, &error)).render()
            }
            Err(error) => self.refuse(message, &error).await,
        }
    }

    pub async fn refuse(&self, message: &MailboxItem<'_>, error: &ApiError) -> ApiResult<Box<RawValue>> {
        self.store_answer(message, MailboxItemResponse::Failed(MailboxFailure::new(message, error))).await
    }

    pub async fn reject(
        &self,
        message: &MailboxItem<'_>,
        reason: &str,
        text: &str,
    ) -> ApiResult<Box<RawValue>> {
        let rejection = MailboxRejection {
            id: message.id.clone(),
            status: RejectedStatus::Rejected,
            original_type: message.kind.clone(),
            terminal: true,
            retryable: false,
            reason: reason.to_owned(),
            error: format!("{reason}: {text}"),
        };
        self.store_answer(message, MailboxItemResponse::Rejected(rejection)).await
    }

    /// Keeps a final answer, unless another one was given before.
    pub async fn store_answer(
        &self,
        message: &MailboxItem<'_>,
        answer: MailboxItemResponse,
    ) -> ApiResult<Box<RawValue>> {
        let (key, now, answer) = (message.key(self.sender.id()), self.context.now, answer.render()?);
        let kept = self
            .hub
            .store
            .write::<_, ApiError, _>(move |tx| {
                if let Some(known) = find_answer(tx, &key, now)? {
                    return Ok(known);
                }
                mailbox::save_answer(tx, &key, answer.get(), now)?;
                Ok(answer.clone())
            })
            .await;
        match kept {
            // The id belongs to another message, or there is no room: nothing can be kept.
            Err(error) if [HubCode::DuplicateMessageId, HubCode::RateLimited].contains(&error.code) => {
                MailboxItemResponse::Failed(MailboxFailure::new(message, &error)).render()
            }
            kept => kept,
        }
    }
}

/// The answer to a message, if it was given one before.
fn find_answer(tx: &mut dyn Tx, key: &MailboxMessageKey, now: Time) -> ApiResult<Option<Box<RawValue>>> {
    nodes::lock(tx, &key.node_id)?;
    match mailbox::find_answer(tx, key, now)? {
        MailboxLookup::New => Ok(None),
        MailboxLookup::Answered(answer) => Ok(Some(stored_json(answer)?)),
        MailboxLookup::Other => Err(ApiError::new(
            HubCode::DuplicateMessageId,
            "This message id was used before with another type or payload.",
            "Give each message an id of its own.",
        )),
        MailboxLookup::TooMuch(ms) => Err(ApiError::new(
            HubCode::RateLimited,
            format!("This node has sent more than {BYTES_A_DAY} bytes of messages today."),
            "Send the rest tomorrow, or less of it.",
        )
        .retry_after(ms)),
    }
}
