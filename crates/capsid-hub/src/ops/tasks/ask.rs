//! Asking other nodes: `POST /a2a/ask`, and the questions of a fetch. Credits may be held in escrow for the answer.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json;
use crate::http::object_reader::kind_of;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{OfferDraft, OfferReference, OfferRequest, SignalsInput};
use crate::state::{Hub, SharedHub};
use capsid_rules::credits;
use capsid_store::ledger;
use capsid_store::work::bounties::BountyRow;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use utoipa::ToSchema;

/// A question.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Question)]
pub struct AskRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    /// What is asked.
    #[schema(min_length = 5, max_length = 8000)]
    question: Option<String>,
    /// Credits for whoever answers, exact to a thousandth; nothing where it is missing.
    amount: Option<f64>,
    /// What it is about.
    #[schema(value_type = Option<SignalsInput>)]
    signals: Option<Value>,
    /// More about it.
    #[schema(max_length = 8000)]
    body: Option<String>,
    /// A name for it: asking again by the same name gives the same question.
    #[schema(max_length = 200)]
    reference: Option<String>,
}

sender_fields!(AskRequest);

impl AskRequest {
    fn offer_request(&self) -> ApiResult<OfferRequest> {
        let (title, body) = offer::question(self.question.as_deref(), "question", self.body.as_deref())?;
        Ok(OfferRequest {
            title,
            body,
            signals: offer::signals(self.signals.as_ref(), "signals")?,
            amount: offer::amount(self.amount, "amount")?,
            ..OfferRequest::default()
        })
    }
}

/// A question that was asked.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CreatedQuestionView {
    status: &'static str,
    question_id: String,
    bounty_id: String,
    task_id: String,
}

impl From<&BountyRow> for CreatedQuestionView {
    fn from(bounty: &BountyRow) -> Self {
        Self {
            status: "created",
            question_id: offer::question_id(&bounty.bounty_id),
            bounty_id: bounty.bounty_id.clone(),
            task_id: bounty.task_id.clone(),
        }
    }
}

/// A question that was asked, and what the node has left.
#[derive(Debug, Serialize, ToSchema)]
pub struct AskResponse {
    #[serde(flatten)]
    question: CreatedQuestionView,
    #[schema(value_type = f64)]
    amount_deducted: Number,
    source: &'static str,
    #[schema(value_type = f64)]
    remaining_balance: Number,
}

/// What was asked, and what the node has left.
struct AskOutcome {
    bounty: BountyRow,
    left: i64,
}

async fn place(hub: &Hub, sender: &Sender, draft: OfferDraft) -> ApiResult<AskOutcome> {
    let (context, sender) = (hub.context(), sender.clone());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            if draft.amount() > 0 {
                sender.lock_spender(tx, &context)?;
            } else {
                sender.lock(tx, &context)?;
            }
            let account = ledger::node_account(sender.id());
            let placed = draft.place(tx, &account, context.now)?;
            Ok(AskOutcome { bounty: placed.bounty, left: ledger::balance(tx, &account)? })
        })
        .await
}

/// Asks other nodes. The node that asks pays, when it accepts the answer.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced()))]
pub async fn ask_question(
    hub: &SharedHub,
    credentials: Credentials,
    request: &AskRequest,
) -> ApiResult<AskResponse> {
    let node_id = request.sender().node_id()?;
    let (offer, name) = (request.offer_request()?, offer::reference(request.reference.as_deref())?);
    let sender = Sender::new(node_id, request.sender().credentials(credentials));
    hub.limit_calls(&sender).await?;
    let draft = hub.draft(offer, "question", name);
    let asked = place(hub, &sender, draft).await?;
    hub.events.notify();
    Ok(AskResponse {
        question: CreatedQuestionView::from(&asked.bounty),
        amount_deducted: credits::to_decimal(asked.bounty.amount),
        source: "node",
        remaining_balance: credits::to_decimal(asked.left),
    })
}

/// What became of one question of a fetch.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum QuestionView {
    Created(CreatedQuestionView),
    Rejected(RejectedQuestionView),
}

/// A question that could not be asked.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RejectedQuestionView {
    status: &'static str,
    reason: &'static str,
    problem: String,
    fix: String,
}

impl From<ApiError> for RejectedQuestionView {
    fn from(error: ApiError) -> Self {
        let code = match error.code {
            HubCode::AlreadyExists => HubCode::DuplicateMessageId,
            code => code,
        };
        Self { status: "rejected", reason: code.as_str(), problem: error.problem, fix: error.fix }
    }
}

/// What became of the questions of a fetch.
#[derive(Debug, Default)]
pub struct FetchAnswers {
    pub questions: Vec<QuestionView>,
    /// What the node has left, where something was asked.
    pub left: Option<i64>,
}

/// Asks the questions of a fetch. One that cannot be asked is answered with its reason and keeps no other one from
/// being asked; only what is the hub's own fault fails the fetch. The same message again asks nothing new.
#[tracing::instrument(skip_all, fields(node.id = sender.id()))]
pub async fn ask_questions(
    hub: &Hub,
    sender: &Sender,
    message_id: &str,
    questions: &[Value],
) -> ApiResult<FetchAnswers> {
    let mut answers = FetchAnswers::default();
    if questions.is_empty() {
        return Ok(answers);
    }
    let limited = hub.limit_calls(sender).await;
    for (at, question) in questions.iter().enumerate() {
        let offer = match &limited {
            Err(limited) => Err(limited.clone()),
            Ok(()) => read_question(question).and_then(|question| question.offer_request()),
        };
        let asked = match offer {
            Ok(offer) => {
                let name = OfferReference::for_question(message_id, at);
                place(hub, sender, hub.draft(offer, "question", Some(name))).await
            }
            Err(wrong) => Err(wrong),
        };
        match asked {
            Ok(asked) => {
                answers.left = Some(asked.left);
                answers.questions.push(QuestionView::Created((&asked.bounty).into()));
            }
            Err(error) if error.code.status() >= 500 => return Err(error),
            Err(error) => answers.questions.push(QuestionView::Rejected(error.into())),
        }
    }
    hub.events.notify();
    Ok(answers)
}

fn read_question(question: &Value) -> ApiResult<AskRequest> {
    match question {
        Value::String(text) => json::read(&json!({ "question": text }).to_string(), ""),
        Value::Object(_) => json::read(&question.to_string(), ""),
        other => Err(ApiError::field("question", "a string or an object", kind_of(other))),
    }
}
