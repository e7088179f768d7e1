//! Statements: what moved in and out of an account, as JSON or for a spreadsheet; and moving credits between an account and
//! its own nodes.

use crate::auth::account::{find_caller_or_none, may_act_for, require_user};
use crate::auth::credentials::{Credentials, OperationContext, access_denied};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor;
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::state::SharedHub;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::identity::secrets::{AccessDenial, PresentedSecret, RequireSecret};
use capsid_store::accounts::UserRow;
use capsid_store::assets::list::ListPosition;
use capsid_store::db::tx::Tx;
use capsid_store::ledger::statement::{self, StatementFilter, StatementLine};
use capsid_store::ledger::{self, Transfer, TransferOutcome};
use capsid_store::nodes::{self, NodeRow};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most lines of a statement for a spreadsheet.
const MAX_CSV: i64 = 10_000;
/// The longest reference of a client.
const MAX_REFERENCE: usize = 100;

/// Which statement.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatementParams {
    /// `user` for the account itself, which is the usual, or one of its nodes.
    account: Option<String>,
    /// The node, for a node's own statement.
    node_id: Option<String>,
    /// How many lines: 1 to 100, usually 20; for `csv` up to 10000.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 10000)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// From this time or day on, such as `2026-01-01` or `2026-01-01T12:00:00Z`, or milliseconds since 1970.
    from: Option<String>,
    /// Before this time or day.
    to: Option<String>,
    /// `json`, which is the usual, or `csv`.
    format: Option<String>,
}

/// How a statement is told.
struct StatementQuery {
    name: String,
    filter: StatementFilter,
    limit: i64,
    csv: bool,
}

impl StatementQuery {
    /// `name` is what the account is called in the answer.
    fn parse(asked: &StatementParams, name: &str, account: &str) -> ApiResult<Self> {
        let csv = match asked.format.as_deref().map(str::trim) {
            None | Some("" | "json") => false,
            Some("csv") => true,
            Some(_) => return Err(ApiError::field("format", "json or csv", "another word")),
        };
        let limit = asked.limit.as_deref();
        let after = cursor::read(&list(account), asked.cursor.as_deref())?;
        let mut filter = StatementFilter::for_account(account);
        if after != ListPosition::START {
            filter.before = after.seq;
        }
        filter.from = validate::moment(asked.from.as_deref(), "from")?.unwrap_or(filter.from);
        filter.to = validate::moment(asked.to.as_deref(), "to")?.unwrap_or(filter.to);
        let limit = if csv { query::limit(limit, MAX_CSV, MAX_CSV) } else { query::limit(limit, 20, 100) };
        Ok(Self { name: name.to_owned(), filter, limit, csv })
    }
}

/// The name of the list that a cursor belongs to.
fn list(account: &str) -> String {
    format!("statement.{account}")
}

/// What moved in and out of the account, or of one of its nodes, newest first.
#[utoipa::path(get, path = "/account/statement", tag = "accounts", params(StatementParams),
    responses((status = 200, content((crate::http::openapi::credits::Statement = "application/json"), (String = "text/csv"))),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn account_statement(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<StatementParams>,
) -> ApiResult<Response> {
    hub.limit_reads(&credentials).await?;
    let now = hub.now();
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            let name = asked.account.as_deref().unwrap_or("user");
            let shape = StatementQuery::parse(&asked, name, &own_account(tx, &user, name, "account")?)?;
            load_statement(tx, &shape)
        })
        .await?;
    Ok(told.into_response())
}

/// What moved in and out of a node's account, newest first. The node shows its secret, or its owner asks.
#[utoipa::path(get, path = "/a2a/credit/statement", tag = "credits", params(StatementParams),
    responses((status = 200, content((crate::http::openapi::credits::Statement = "application/json"), (String = "text/csv"))),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn node_statement(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<StatementParams>,
) -> ApiResult<Response> {
    hub.limit_reads(&credentials).await?;
    let node_id = validate::node(None, asked.node_id.as_deref())?;
    let shape = StatementQuery::parse(&asked, &node_id, &ledger::node_account(&node_id))?;
    let (id, shown, rules) = (node_id.clone(), credentials.clone(), hub.rules());
    let told = hub
        .authenticate_reader(&node_id, &credentials, move |tx, node| {
            let node = node.ok_or_else(|| access_denied(AccessDenial::SecretNotSet, &id))?;
            check_reader(tx, node, &shown, &rules)?;
            load_statement(tx, &shape)
        })
        .await?;
    Ok(told.into_response())
}

/// What a node has and pays is not everybody's business, so its secret is asked for even before it was ever shown.
fn check_reader(
    tx: &mut dyn Tx,
    node: &NodeRow,
    shown: &Credentials,
    rules: &OperationContext,
) -> ApiResult<()> {
    let by_secret = node.presented(shown.secret.as_deref()) == PresentedSecret::Right;
    if by_secret || rules.require_secret == RequireSecret::Never {
        return Ok(());
    }
    match find_caller_or_none(tx, shown, rules.now)? {
        Some(user) if may_act_for(&user, node) => Ok(()),
        _ => Err(access_denied(AccessDenial::SecretRequired, &node.node_id)),
    }
}

/// A statement, ready to be sent.
enum StatementResponse {
    Json(Value),
    Csv { text: String, next: Option<String> },
}

impl IntoResponse for StatementResponse {
    fn into_response(self) -> Response {
        match self {
            Self::Json(value) => JsonReply::json(&value).into_response(),
            Self::Csv { text, next } => {
                let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
                let file = HeaderValue::from_static("attachment; filename=\"statement.csv\"");
                let mut response = ([kind, (header::CONTENT_DISPOSITION, file)], text).into_response();
                if let Some(next) = next.and_then(|next| HeaderValue::from_str(&next).ok()) {
                    response.headers_mut().insert(HeaderName::from_static("x-next-cursor"), next);
                }
                response
            }
        }
    }
}

fn load_statement(tx: &mut dyn Tx, shape: &StatementQuery) -> ApiResult<StatementResponse> {
    let mut lines = statement::lines(tx, &shape.filter, shape.limit + 1)?;
    let has_more = lines.len() as i64 > shape.limit;
    lines.truncate(shape.limit as usize);
    let next = lines.last().filter(|_| has_more).map(|last| {
        cursor::write(&list(&shape.filter.account), ListPosition { key: last.seq, seq: last.seq })
    });
    if shape.csv {
        return Ok(StatementResponse::Csv { text: statement::csv(&lines), next });
    }
    let balance = ledger::balance(tx, &shape.filter.account)?;
    let entries: Vec<Value> = lines.iter().map(entry).collect();
    Ok(StatementResponse::Json(json!({
        "account": shape.name, "credit_balance": credits::to_decimal(balance), "entries": entries,
        "count": entries.len(), "has_more": has_more, "next_cursor": next,
    })))
}

fn entry(line: &StatementLine) -> Value {
    json!({
        "time": Time(line.at).iso(), "kind": line.kind, "reference": line.reference,
        "delta": credits::to_decimal(line.delta), "balance_after": credits::to_decimal(line.balance_after),
        "counterparty": line.counterparty,
    })
}

/// The ledger's account that an account calls `user` or by a node of its own.
fn own_account(tx: &mut dyn Tx, user: &UserRow, name: &str, path: &str) -> ApiResult<String> {
    if name == "user" {
        return Ok(ledger::user_account(&user.user_id));
    }
    check_node_id(name, path)?;
    // Whose node it is, is nobody else's business.
    match nodes::get(tx, name)?.filter(|node| node.owner.as_ref() == Some(&user.user_id)) {
        Some(node) => Ok(ledger::node_account(&node.node_id)),
        None => Err(ApiError::new(
            HubCode::NodeNotFound,
            format!("The account has no node `{name}`."),
            "See GET /account/agents for the nodes of the account, and claim others with their claim code.",
        )),
    }
}

/// What is to be moved.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = AccountTransfer)]
pub struct TransferRequest {
    /// `user` for the account, or one of its nodes.
    #[schema(example = "user", max_length = 128)]
    from: String,
    /// `user` for the account, or one of its nodes.
    #[schema(example = "node_e5f6a7b8c9d0e1f2", max_length = 128)]
    to: String,
    /// Credits, to the thousandth.
    #[schema(example = 10)]
    amount: f64,
    /// Chosen by the client: the same one moves credits once.
    #[schema(example = "top-up-1", max_length = 100)]
    reference: String,
}

/// Moves credits between the account and its own nodes.
///
/// Sending the same again under the same reference moves nothing and is no error.
#[utoipa::path(post, path = "/account/transfer", tag = "accounts", request_body = TransferRequest,
    responses((status = 200, body = crate::http::openapi::credits::CreditsMoved), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn transfer(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<TransferRequest>,
) -> ApiResult<JsonReply> {
    validate::name(&asked.reference, "reference", MAX_REFERENCE)?;
    let amount = credits::from_shown(asked.amount).filter(|amount| *amount > 0).ok_or_else(|| {
        ApiError::field("amount", "a number of credits above 0, to the thousandth", asked.amount.to_string())
    })?;
    if asked.from == asked.to {
        return Err(ApiError::field("to", "another account than `from`", "the same"));
    }
    hub.limit_calls(&credentials, "account").await?;
    let now = hub.now();
    let answer = hub.store.write(move |tx| apply_transfer(tx, &credentials, &asked, amount, now)).await?;
    Ok(JsonReply::json(&answer))
}

fn apply_transfer(
    tx: &mut dyn Tx,
    credentials: &Credentials,
    asked: &TransferRequest,
    amount: i64,
    now: Time,
) -> ApiResult<Value> {
    let user = require_user(tx, credentials, now)?;
    let from = own_account(tx, &user, &asked.from, "from")?;
    let to = own_account(tx, &user, &asked.to, "to")?;
    let reference = format!("transfer:{}:{}", user.user_id, asked.reference);
    let moving = Transfer { reference: &reference, kind: "transfer", from: &from, to: &to, amount };
    if ledger::find(tx, &reference)?.is_some_and(|kept| !kept.is(&moving)) {
        return Err(ApiError::new(
            HubCode::ReferenceUsed,
            "The reference was used before for another transfer.",
            "Use a new reference for each transfer, and the same one only to try the same transfer again.",
        ));
    }
    let status = match ledger::transfer(tx, moving, now)? {
        TransferOutcome::Done => "done",
        TransferOutcome::AlreadyDone => "already_done",
        TransferOutcome::Insufficient { have } => return Err(insufficient(amount, have)),
    };
    let mut balance = |account: &str| ledger::balance(tx, account).map(credits::to_decimal);
    Ok(json!({
        "status": status, "reference": asked.reference, "amount": credits::to_decimal(amount),
        "from": { "account": asked.from, "credit_balance": balance(&from)? },
        "to": { "account": asked.to, "credit_balance": balance(&to)? },
    }))
}

fn insufficient(need: i64, have: i64) -> ApiError {
    ApiError::new(
        HubCode::InsufficientCredits,
        format!(
            "The account holds fewer credits than are to be moved: need {}, have {}.",
            credits::text(need),
            credits::text(have)
        ),
        "Move less.",
    )
    .with("required", credits::to_decimal(need))
    .with("available", credits::to_decimal(have))
}
