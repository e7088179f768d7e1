//! `POST /a2a/ask`, and the questions of a fetch: a node asks others, and may put credits aside for the answer.

use crate::auth::access::{Credentials, act_as, spend_as};
use crate::error::{ApiError, HubCode, Result};
use crate::http::checks;
use crate::http::envelope::Reply;
use crate::http::fields::kind_of;
use crate::http::json;
use crate::http::json::JsonBody;
use crate::ops::bounties::offers;
use crate::ops::bounties::offers::{Draft, Name, Signals, Wish};
use crate::state::{Hub, Shared};
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::ledger;
use capsid_store::work::bounties::Bounty;
use serde::Deserialize;
use serde_json::{Value, json};

/// A question.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct Question {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    /// What is asked.
    #[schema(min_length = 5, max_length = 8000)]
    question: Option<String>,
    /// Credits for whoever answers, exact to a thousandth; nothing where it is missing.
    amount: Option<f64>,
    /// What it is about.
    #[schema(value_type = Option<Signals>)]
    signals: Option<Value>,
    /// More about it.
    #[schema(max_length = 8000)]
    body: Option<String>,
    /// A name for it: asking again by the same name gives the same question.
    #[schema(max_length = 200)]
    reference: Option<String>,
}

impl Question {
    fn wish(&self) -> Result<Wish> {
        let (title, body) = offers::question(self.question.as_deref(), "question", self.body.as_deref())?;
        Ok(Wish {
            title,
            body,
            signals: offers::signals(self.signals.as_ref(), "signals")?,
            amount: offers::amount(self.amount, "amount")?,
            ..Wish::default()
        })
    }
}

/// What was asked, and what the node has left.
struct Asked {
    bounty: Bounty,
    left: i64,
}

async fn place(hub: &Hub, node_id: &str, credentials: &Credentials, draft: Draft) -> Result<Asked> {
    let (rules, node_id, credentials) = (hub.rules(), node_id.to_owned(), credentials.clone());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            if draft.amount() > 0 {
                spend_as(tx, &rules, &node_id, &credentials)?;
            } else {
                act_as(tx, &rules, &node_id, &credentials)?;
            }
            let account = ledger::node_account(&node_id);
            let placed = draft.place(tx, &account, rules.now)?;
            Ok(Asked { bounty: placed.bounty, left: ledger::balance(tx, &account)? })
        })
        .await
}

/// Asks other nodes. The node that asks pays, when it takes the answer.
///
/// With a `reference`, the same question again puts nothing aside.
#[utoipa::path(post, path = "/a2a/ask", tag = "bounties", request_body = Question,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn ask(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(question): JsonBody<Question>,
) -> Result<Reply> {
    let node_id = checks::node(question.sender_id.as_deref(), question.node_id.as_deref())?;
    let (wish, name) = (question.wish()?, offers::reference(question.reference.as_deref())?);
    let credentials = credentials.or_secret(question.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let draft = hub.draft(wish, "question", name);
    let asked = place(&hub, &node_id, &credentials, draft).await?;
    hub.events.ring();
    let mut told = created(&asked.bounty);
    told["amount_deducted"] = credits::shown(asked.bounty.amount).into();
    told["source"] = "node".into();
    told["remaining_balance"] = credits::shown(asked.left).into();
    Ok(Reply::json(&told))
}

fn created(bounty: &Bounty) -> Value {
    json!({
        "status": "created", "question_id": offers::question_id(&bounty.bounty_id), "bounty_id": bounty.bounty_id,
        "task_id": bounty.task_id,
    })
}

/// What became of the questions of a fetch.
#[derive(Debug, Default)]
pub struct Answers {
    /// One for each question.
    pub questions: Vec<Value>,
    /// What the node has left, where something was asked.
    pub left: Option<i64>,
}

/// Asks the questions of a fetch. One that cannot be asked is told with its reason and keeps no other one from being
/// asked; only what is the hub's own fault fails the fetch. The same message again asks nothing new.
pub async fn ask_all(
    hub: &Hub,
    node_id: &str,
    credentials: &Credentials,
    message_id: &str,
    questions: &[Value],
) -> Result<Answers> {
    let mut answers = Answers::default();
    if questions.is_empty() {
        return Ok(answers);
    }
    let limited = hub.limit_calls(credentials, node_id).await;
    for (at, question) in questions.iter().enumerate() {
        let asked = match (&limited, read(question)) {
            (Err(limited), _) => Err(limited.clone()),
            (_, Err(wrong)) => Err(wrong),
            (_, Ok(question)) => {
                let name = Name::of_question(message_id, at);
                match question.wish() {
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
    hub.events.ring();
    Ok(answers)
}

fn read(question: &Value) -> Result<Question> {
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
