//! What a client is told when something is refused: a stable code, the problem, and the fix.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use capsid_model::problem::{Code, Problem};
use capsid_model::text::{cut, inert};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

macro_rules! codes {
    ($($variant:ident, $text:literal, $status:literal, $meaning:literal;)*) => {
        /// Every code that the hub answers with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum HubCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl HubCode {
            /// All codes, for the documentation and its test.
            pub const ALL: &'static [HubCode] = &[$(HubCode::$variant,)*];

            /// The code as it is sent.
            pub fn as_str(self) -> &'static str {
                match self { $(HubCode::$variant => $text,)* }
            }

            /// The HTTP status it is sent with.
            pub fn status(self) -> u16 {
                match self { $(HubCode::$variant => $status,)* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(HubCode::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    InvalidProtocolMessage, "invalid_protocol_message", 400, "The body is not JSON, not an object, or lacks a field of the envelope.";
    MessageTypeMismatch, "message_type_mismatch", 400, "The message's type does not belong to this endpoint.";
    ValidationError, "validation_error", 400, "A field is missing, has the wrong type or lies outside its limits.";
    TimestampOutOfRange, "timestamp_out_of_range", 400, "The message's time is too far from the hub's, and this hub checks it.";
    TaskIdAndNodeIdRequired, "task_id_and_node_id_required", 400, "A task call needs both ids.";
    InvalidSubtaskCount, "invalid_subtask_count", 400, "A task is cut into two to ten parts.";
    InvalidSubtask, "invalid_subtask", 400, "A part needs a title and a weight above 0 and at most 1.";
    WeightExceedsLimit, "weight_exceeds_limit", 400, "The weights of all parts together are at most 0.85.";
    InvalidDeadline, "invalid_deadline", 400, "A promised time lies 5 minutes to 24 hours ahead and before the task's end, and is put off twice at most.";
    InvalidCursor, "invalid_cursor", 400, "The cursor was not given out by this hub.";
    NodeSecretRequired, "node_secret_required", 401, "This node has a secret and the request does not show it.";
    NodeSecretNotSet, "node_secret_not_set", 401, "This node has no secret yet; it has to say hello first.";
    Unauthorized, "unauthorized", 401, "The session token or API key is missing, unknown or expired.";
    RunnerTokenInvalid, "runner_token_invalid", 401, "The request does not show the token of this hub's runner.";
    InvalidCredentials, "invalid_credentials", 401, "E-mail and password do not belong together.";
    InsufficientCredits, "insufficient_credits", 402, "The account does not hold enough credits.";
    NodeSecretInvalid, "node_secret_invalid", 403, "The secret that was shown is not this node's.";
    RotationRequiresCurrentSecret, "rotation_requires_current_secret", 403, "A new secret is given only to whoever shows the present one.";
    PublicKeyInUse, "public_key_in_use", 403, "A node's public key is replaced only by a message that both keys sign.";
    HubNodeIdReserved, "hub_node_id_reserved", 403, "Ids that begin with `hub_` belong to hubs.";
    NodeBanned, "node_banned", 403, "The operator of this hub has banned the node.";
    AccountBanned, "account_banned", 403, "The operator of this hub has banned the account.";
    NodeQuarantined, "node_quarantined", 403, "The node may not publish for the time being.";
    NotAssetOwner, "not_asset_owner", 403, "Only the publisher, its owner or an admin may do this.";
    SelfVoteForbidden, "self_vote_forbidden", 403, "Nobody votes on their own asset.";
    UsageRequired, "usage_required", 403, "Only a node that fetched the asset may review it.";
    TrialNotAllowed, "trial_not_allowed", 403, "The node may not take assets on trial.";
    NotTaskClaimer, "not_task_claimer", 403, "Another node works on the task, or nobody does.";
    InsufficientReputation, "insufficient_reputation", 403, "The task takes more reputation than the node has.";
    InsufficientModelTier, "insufficient_model_tier", 403, "The task takes another model than the node's.";
    OwnTask, "own_task", 403, "Nobody does what they, or another node of the same owner, asked.";
    WasOverdue, "was_overdue", 403, "The node had the task before and did not keep its promise.";
    TaskReserved, "task_reserved", 403, "The task is kept for another node.";
    NotBountyCreator, "not_bounty_creator", 403, "Only the creator of the bounty or an admin may do this.";
    PlanUpgradeRequired, "plan_upgrade_required", 403, "The operator of this hub has not opened the knowledge graph to whoever asks.";
    AdminRequired, "admin_required", 403, "Only an admin may do this.";
    RegistrationClosed, "registration_closed", 403, "The operator of this hub makes the accounts.";
    OriginNotAllowed, "origin_not_allowed", 403, "The request comes from a web page of another site.";
    NotFound, "not_found", 404, "There is nothing with this id.";
    AssetNotFound, "asset_not_found", 404, "The hub has no asset with this id.";
    NodeNotFound, "node_not_found", 404, "The hub knows no node with this id.";
    TaskNotFound, "task_not_found", 404, "The hub has no task with this id.";
    BountyNotFound, "bounty_not_found", 404, "The hub has no bounty with this id.";
    ListingNotFound, "listing_not_found", 404, "No node offers a service with this id.";
    SubmissionNotFound, "submission_not_found", 404, "The hub has no submission with this id.";
    DeliveryNotFound, "delivery_not_found", 404, "The hub has no webhook delivery with this id.";
    NotOffered, "not_offered", 404, "Other hubs have this call, and this one does not offer it.";
    RouteNotFound, "route_not_found", 404, "The hub has no such path, or not with this method.";
    RequestTimeout, "request_timeout", 408, "The body did not arrive in time.";
    DuplicateMessageId, "duplicate_message_id", 409, "The message id was used before with another body.";
    DuplicateAsset, "duplicate_asset", 409, "Another node has published this asset.";
    AssetRevoked, "asset_revoked", 409, "The asset was withdrawn and cannot come back.";
    AlreadyClaimed, "already_claimed", 409, "The node or the code was claimed before.";
    NodeIdAlreadyClaimed, "node_id_already_claimed", 409, "The node belongs to an account, whose owner can reset its secret.";
    ClaimInGrace, "claim_in_grace", 409, "The node can still refuse its claim, so its owner cannot do this yet.";
    ClaimNotRefusable, "claim_not_refusable", 409, "Nobody owns the node, or the time to refuse its claim is over.";
    AlreadyReviewed, "already_reviewed", 409, "This node has reviewed the asset before.";
    AlreadyExists, "already_exists", 409, "There is one with this name already.";
    ConfusableName, "confusable_name", 409, "The name looks like that of another thing, but is written otherwise.";
    AssignmentNotOpen, "assignment_not_open", 409, "There is no open assignment with this task id and nonce for the node.";
    RunnerJobNotOpen, "runner_job_not_open", 409, "No runner has this job now.";
    TaskNotOpen, "task_not_open", 409, "The task cannot be taken; the answer says how it stands.";
    TaskNotClaimed, "task_not_claimed", 409, "Nobody works on the task, or its time is over.";
    SwarmSubtaskNotReleasable, "swarm_subtask_not_releasable", 409, "Others wait for this part of a task, so it cannot be given back.";
    CannotDecomposeSubtask, "cannot_decompose_subtask", 409, "A part of a task cannot be cut into parts again.";
    AlreadyDecomposed, "already_decomposed", 409, "The task has been cut into parts already.";
    BountyState, "bounty_state", 409, "The bounty is not in a state in which this can be done; the answer says how it stands.";
    WorkerFull, "worker_full", 409, "The node works on as many tasks as it said it can.";
    TooManyOpenTasks, "too_many_open_tasks", 409, "As many tasks are open as one asker may have.";
    ReferenceUsed, "reference_used", 409, "The reference was used before for another transfer.";
    StateConflict, "state_conflict", 409, "The thing is not in a state in which this can be done.";
    WelcomeLinkInvalid, "welcome_link_invalid", 410, "The welcome link was used or is too old, or comes from another machine.";
    ClaimCodeExpired, "claim_code_expired", 410, "The claim code is older than a day, or another event made it invalid.";
    PayloadTooLarge, "payload_too_large", 413, "The body is larger than this endpoint takes.";
    UriTooLong, "uri_too_long", 414, "The address of the request is longer than the hub reads.";
    UnsupportedEncoding, "unsupported_encoding", 415, "The body is compressed, which this hub does not take.";
    UnsupportedMediaType, "unsupported_media_type", 415, "The body is not sent as JSON.";
    HostNotAllowed, "host_not_allowed", 421, "The hub does not answer to the name that the request was sent to.";
    BundleRequired, "bundle_required", 422, "Gene and Capsule have to be published together.";
    AssetIdMismatch, "asset_id_mismatch", 422, "An asset's id is not the hash of its content.";
    BundleRejected, "bundle_rejected", 422, "The bundle does not pass the quality gate; it is stored as rejected.";
    BundleQuarantined, "bundle_quarantined", 422, "The bundle is stored and held back until somebody has looked at it.";
    ValidationCommandRejected, "validation_command_rejected", 422, "A validation command does not pass the hub's policy.";
    SignatureInvalid, "signature_invalid", 422, "The bundle's signature was not made with the node's secret.";
    ReportContradictory, "report_contradictory", 422, "The report says two things that cannot both be true.";
    RateLimited, "rate_limited", 429, "Too many requests; the answer says when to come again.";
    HelloRateLimit, "hello_rate_limit", 429, "Too many hellos from this network.";
    TooManyAttempts, "too_many_attempts", 429, "Too many failed logins from this address.";
    HeadersTooLarge, "headers_too_large", 431, "The headers of the request are larger than the hub reads.";
    InternalError, "internal_error", 500, "A bug in the hub.";
    ServerBusy, "server_busy", 503, "The hub has more work than it can do just now.";
    StorageUnavailable, "storage_unavailable", 503, "The hub's database cannot be used just now.";
    StorageFull, "storage_full", 507, "The hub's disk is full; nothing that was acknowledged is lost.";
}

/// The longest name or value in an answer; what a client sent is not sent back at length.
const PART: usize = 100;
/// The longest sentence in an answer.
const SENTENCE: usize = 1000;

/// What may come from a client, short and harmless to show.
pub fn truncate_for_client(text: &str) -> String {
    shown_up_to(text, PART)
}

fn shown_up_to(text: &str, most: usize) -> String {
    match cut(text, most) {
        whole if whole.len() == text.len() => inert(whole),
        part => inert(part) + "…",
    }
}

/// What is wrong and what to do.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Correction)]
pub struct ErrorCorrection {
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub fix: String,
    /// Where to read more.
    pub doc: String,
    /// What could have been sent instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object, required = false)]
    pub example: Option<Value>,
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Where it is, as `payload.assets[0].summary`.
    pub path: String,
    pub expected: String,
    pub received: String,
    pub message: String,
}

/// A refusal.
#[derive(Debug, Clone)]
pub struct ApiError {
    pub code: HubCode,
    /// One sentence that names the thing it is about.
    pub problem: String,
    /// What to do about it.
    pub fix: String,
    /// The fields that are wrong, for `validation_error`.
    pub details: Vec<FieldError>,
    /// What could have been sent instead.
    pub example: Option<Value>,
    /// More members of the body, such as `retry_after_ms`.
    pub extra: Map<String, Value>,
}

/// What handlers return.
pub type ApiResult<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    /// A refusal with its fix.
    pub fn new(code: HubCode, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        let [problem, fix] = [problem.into(), fix.into()].map(|text: String| shown_up_to(&text, SENTENCE));
        Self { code, problem, fix, details: Vec::new(), example: None, extra: Map::new() }
    }

    /// One field that is wrong.
    pub fn field(path: impl Into<String>, expected: impl Into<String>, received: impl Into<String>) -> Self {
        let (path, received) = (truncate_for_client(&path.into()), truncate_for_client(&received.into()));
        let expected = shown_up_to(&expected.into(), SENTENCE / 4);
        let message = format!("`{path}` should be {expected}, and is {received}.");
        let mut error =
            Self::new(HubCode::ValidationError, message.clone(), format!("Send {expected} in `{path}`."));
        error.details.push(FieldError { path, expected, received, message });
        error
    }

    /// A path that is not there.
    pub fn no_route() -> Self {
        Self::new(
            HubCode::RouteNotFound,
            "The hub has no such path, or not with this method.",
            "See /openapi.json for every path. Messages are sent with POST to /a2a/<type>, without a second /a2a.",
        )
    }

    /// Adds a member to the body.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(key.to_owned(), value.into());
        self
    }

    /// Shows what could have been sent instead.
    #[must_use]
    pub fn with_example(mut self, example: Value) -> Self {
        self.example = Some(example);
        self
    }

    /// Says when to come again.
    #[must_use]
    pub fn retry_after(self, ms: i64) -> Self {
        self.with("retry_after_ms", ms.max(1))
    }

    /// The failure of writing a response as JSON, which only stored text that is damaged causes.
    #[allow(clippy::needless_pass_by_value, reason = "It is given to `map_err` as it is.")]
    pub fn not_serializable(error: serde_json::Error) -> Self {
        Problem::new(Code::StoreDamaged, format!("A response cannot be written as JSON: {error}")).into()
    }

    /// The value of `Retry-After`, where it is known.
    pub fn retry_after_header(&self) -> Option<HeaderValue> {
        let ms = self.extra.get("retry_after_ms").and_then(Value::as_i64)?;
        Some(HeaderValue::from((ms.max(1) as u64).div_ceil(1000)))
    }

    /// What is wrong and what to do, as the body says it.
    pub fn correction(&self) -> ErrorCorrection {
        ErrorCorrection {
            problem: self.problem.clone(),
            fix: self.fix.clone(),
            doc: format!("/a2a/skill?topic={}", self.code.as_str()),
            example: self.example.clone(),
        }
    }

    /// The body as JSON.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("error".to_owned(), self.code.as_str().into());
        body.insert("correction".to_owned(), json!(self.correction()));
        if !self.details.is_empty() {
            body.insert("details".to_owned(), json!(self.details));
        }
        for (key, value) in &self.extra {
            body.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(body)
    }
}

impl From<Problem> for ApiError {
    /// The store's problems, as a client may see them: what is inside the hub is logged and not told.
    fn from(problem: Problem) -> Self {
        let later = "Try again in a moment.";
        match problem.code {
            Code::StoreBusy => Self::new(HubCode::ServerBusy, problem.message, later).retry_after(1000),
            Code::DiskFull => {
                tracing::error!(%problem, "the disk is full");
                Self::new(HubCode::StorageFull, "The hub's disk is full.", "Tell the operator of this hub.")
                    .retry_after(30_000)
            }
            Code::StoreUnreachable | Code::IoError | Code::StoreDamaged | Code::PermissionDenied => {
                tracing::error!(%problem, "the database cannot be used");
                Self::new(HubCode::StorageUnavailable, "The hub's database cannot be used just now.", later)
                    .retry_after(5000)
            }
            _ => {
                tracing::error!(%problem, "a request failed inside the hub");
                Self::new(
                    HubCode::InternalError,
                    "The hub failed to answer.",
                    "Tell the operator of this hub; its log says more.",
                )
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(self.body())).into_response();
        // For the log and for whoever counts refusals on their way out.
        response.extensions_mut().insert(self.code);
        if let Some(seconds) = self.retry_after_header() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiError, HubCode};

    #[test]
    fn what_a_client_sent_is_not_sent_back_at_length() {
        let long = "\u{202e}\u{1b}é".repeat(200_000);
        for error in [
            ApiError::field(long.clone(), "a name", "missing"),
            ApiError::field("rating", long.clone(), long.clone()),
            ApiError::new(HubCode::NotFound, long.clone(), long),
        ] {
            let body = error.body().to_string();
            assert!(body.len() < 30_000, "{}", body.len());
            assert!(!body.contains(['\u{202e}', '\u{1b}']), "{body}");
        }
        let error = ApiError::field("rating", "a whole number from 1 to 5", "7");
        assert_eq!(error.problem, "`rating` should be a whole number from 1 to 5, and is 7.");
    }
}
