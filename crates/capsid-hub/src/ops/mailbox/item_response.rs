//! The answer to a message of a batch.

use super::direct_message::DirectMessageResponse;
use super::item::MailboxItem;
use crate::error::{ApiError, ApiResult};
use crate::http::openapi::ErrorBody;
use crate::ops::assets::publish::PublishResponse;
use crate::ops::tasks::claim::ClaimTaskResponse;
use crate::ops::tasks::complete::CompleteTaskResponse;
use crate::ops::workers::register::SubscribeWorkerResponse;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use utoipa::ToSchema;

/// The answer to a message of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = MailboxResult)]
pub(super) enum MailboxItemResponse {
    /// It was carried out.
    Done(MailboxDone),
    /// It could not be carried out.
    Failed(MailboxFailure),
    /// This hub does not take such messages.
    Rejected(MailboxRejection),
}

/// The status tells the kinds of answers apart, so each kind has its own.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum DoneStatus {
    Accepted,
    /// A bundle that was not let in.
    Rejected,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FailedStatus {
    Failed,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RejectedStatus {
    Rejected,
}

/// A message that was carried out.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MailboxDone {
    pub id: String,
    #[schema(inline)]
    pub status: DoneStatus,
    #[schema(required)]
    pub original_type: Option<String>,
    /// What the call of the same kind answers.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub response: Box<RawValue>,
    /// A bundle that was not let in is final: sending it again changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    pub terminal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Option<String>>,
}

/// A message that could not be carried out.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MailboxFailure {
    pub id: String,
    #[schema(inline)]
    pub status: FailedStatus,
    #[schema(required)]
    pub original_type: Option<String>,
    /// Whether sending it again changes nothing.
    pub terminal: bool,
    pub retryable: bool,
    /// The error code.
    pub reason: &'static str,
    pub error: String,
    /// What the call of the same kind answers.
    #[schema(value_type = ErrorBody)]
    pub response: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false)]
    pub retry_after_ms: Option<Value>,
}

impl MailboxFailure {
    pub fn new(message: &MailboxItem<'_>, error: &ApiError) -> Self {
        let passing = is_passing(error);
        Self {
            id: message.id.clone(),
            status: FailedStatus::Failed,
            original_type: message.kind.clone(),
            terminal: !passing,
            retryable: passing,
            reason: error.code.as_str(),
            error: format!("{}: {}", error.code.as_str(), error.problem),
            response: error.body(),
            retry_after_ms: error.extra.get("retry_after_ms").cloned(),
        }
    }
}

/// A message that this hub does not take.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MailboxRejection {
    pub id: String,
    #[schema(inline)]
    pub status: RejectedStatus,
    #[schema(required)]
    pub original_type: Option<String>,
    pub terminal: bool,
    pub retryable: bool,
    /// not_collected or unsupported_type.
    pub reason: String,
    pub error: String,
}

impl MailboxItemResponse {
    pub fn render(&self) -> ApiResult<Box<RawValue>> {
        to_raw_value(self).map_err(ApiError::not_serializable)
    }
}

/// What an operation answers to a message.
pub(super) trait ItemResponse: Serialize + Send + 'static {
    /// Why the hub took it and did not let it in; nothing where it did.
    fn refusal(&self) -> Option<Option<String>> {
        None
    }
}

impl ItemResponse for DirectMessageResponse {}

impl ItemResponse for PublishResponse {
    fn refusal(&self) -> Option<Option<String>> {
        self.is_refused().then(|| self.reason.clone())
    }
}

impl ItemResponse for ClaimTaskResponse {}
impl ItemResponse for CompleteTaskResponse {}
impl ItemResponse for SubscribeWorkerResponse {}

/// Whether it is worth trying again.
pub(super) fn is_passing(error: &ApiError) -> bool {
    error.code.status() >= 500 || error.extra.contains_key("retry_after_ms")
}
