//! `POST /a2a/ask`, and the questions of a fetch: a node asks others, and may put credits aside for the answer.

use crate::auth::credentials::{Credentials, authenticate_node, authenticate_spender};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json;
use crate::http::json::JsonBody;
use crate::http::object_reader::kind_of;
use crate::http::validate;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{OfferDraft, OfferReference, OfferRequest, SignalsInput};
use crate::state::{Hub, SharedHub};
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::ledger;
use capsid_store::work::bounties::BountyRow;
use serde::Deserialize;
use serde_json::{Value, json};

/// A question.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
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

/// What was asked, and what the node has left.
struct AskOutcome {
    bounty: BountyRow,
    left: i64,
}

async fn place(
    hub: &Hub,
    node_id: &str,
    credentials: &Credentials,
    draft: OfferDraft,
) -> ApiResult<AskOutcome> {
    let (rules, node_id, credentials) = (hub.rules(), node_id.to_owned(), credentials.clone());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            if draft.amount() > 0 {
                authenticate_spender(tx, &rules, &node_id, &credentials)?;
            } else {
                authenticate_node(tx, &rules, &node_id, &credentials)?;
            }
            let account = ledger::node_account(&node_id);
            let placed = draft.place(tx, &account, rules.now)?;
            Ok(AskOutcome { bounty: placed.bounty, left: ledger::balance(tx, &account)? })
        })
        .await
}

/// Asks other nodes. The node that asks pays, when it takes the answer.
///
/// With a `reference`, the same question again puts nothing aside.
#[utoipa::path(post, path = "/a2a/ask", tag = "bounties", request_body = AskRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn ask_question(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(question): JsonBody<AskRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(question.sender_id.as_deref(), question.node_id.as_deref())?;
    let (wish, name) = (question.offer_request()?, offer::reference(question.reference.as_deref())?);
    let credentials = credentials.or_secret(question.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let draft = hub.draft(wish, "question", name);
    let asked = place(&hub, &node_id, &credentials, draft).await?;
    hub.events.notify();
    let mut told = created(&asked.bounty);
    told["amount_deducted"] = credits::to_decimal(asked.bounty.amount).into();
    told["source"] = "node".into();
    told["remaining_balance"] = credits::to_decimal(asked.left).into();
    Ok(JsonReply::json(&told))
}

fn created(bounty: &BountyRow) -> Value {
    json!({
        "status": "created", "question_id": offer::question_id(&bounty.bounty_id), "bounty_id": bounty.bounty_id,
        "task_id": bounty.task_id,
    })
}

/// What became of the questions of a fetch.
#[derive(Debug, Default)]
pub struct FetchAnswers {
    pub questions: Vec<Value>,
    /// What the node has left, where something was asked.
    pub left: Option<i64>,
}

/// Asks the questions of a fetch. One that cannot be asked is told with its reason and keeps no other one from being
/// asked; only what is the hub's own fault fails the fetch. The same message again asks nothing new.
pub async fn ask_questions(
    hub: &Hub,
    node_id: &str,
    credentials: &Credentials,
    message_id: &str,
    questions: &[Value],
) -> ApiResult<FetchAnswers> {
    let mut answers = FetchAnswers::default();
    if questions.is_empty() {
        return Ok(answers);
    }
    let limited = hub.limit_calls(credentials, node_id).await;
    for (at, question) in questions.iter().enumerate() {
        let asked = match (&limited, read(question)) {
            (Err(limited), _) => Err(limited.clone()),
            (_, Err(wrong)) => Err(wrong),
            (_, Ok(question)) => {
                let name = OfferReference::for_question(message_id, at);
                match question.offer_request() {
                    Ok(wish) => {
                        place(hub, node_id, credentials, hub.draft(wish, "question", Some(name))).await
                    }
                    Err(wrong) => Err(wrong),
                }
            }
        };
        match asked {
            Ok(asked) => {
                answers.left = Some(asked.left);
                answers.questions.push(created(&asked.bounty));
            }
            Err(error) if error.code.status() >= 500 => return Err(error),
            Err(error) => answers.questions.push(rejected(&error)),
        }
    }
    hub.events.notify();
    Ok(answers)
}

fn read(question: &Value) -> ApiResult<AskRequest> {
    match question {
        Value::String(text) => json::read(&json!({ "question": text }).to_string(), ""),
        Value::Object(_) => json::read(&question.to_string(), ""),
        other => Err(ApiError::field("question", "a string or an object", kind_of(other))),
    }
}

fn rejected(error: &ApiError) -> Value {
    let code = match error.code {
        HubCode::AlreadyExists => HubCode::DuplicateMessageId,
        code => code,
    };
    json!({ "status": "rejected", "reason": code.as_str(), "problem": error.problem, "fix": error.fix })
}
