//! Statements: what moved in and out of an account, as JSON or for a spreadsheet.

use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::auth::sender::{Sender, access_denied};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::{cursor, query, traced_id, validate};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::identity::access::AccessDenial;
use capsid_store::accounts::UserRow;
use capsid_store::assets::list::ListPosition;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::ledger::statement::{self, StatementFilter, StatementLine};
use capsid_store::nodes;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

/// The most lines of a statement for a spreadsheet.
const MAX_CSV: i64 = 10_000;

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

/// A statement that was asked for.
struct StatementQuery {
    name: String,
    filter: StatementFilter,
    limit: i64,
    csv: bool,
}

impl StatementQuery {
    /// `name` is what the account is called in the answer.
    fn parse(params: &StatementParams, name: &str, account: &str) -> ApiResult<Self> {
        let csv = match params.format.as_deref().map(str::trim) {
            None | Some("" | "json") => false,
            Some("csv") => true,
            Some(_) => return Err(ApiError::field("format", "json or csv", "another word")),
        };
        let limit = params.limit.as_deref();
        let after = cursor::read(&list_name(account), params.cursor.as_deref())?;
        let mut filter = StatementFilter::for_account(account);
        if after != ListPosition::START {
            filter.before = after.seq;
        }
        filter.from = validate::moment(params.from.as_deref(), "from")?.unwrap_or(filter.from);
        filter.to = validate::moment(params.to.as_deref(), "to")?.unwrap_or(filter.to);
        let limit = if csv { query::limit(limit, MAX_CSV, MAX_CSV) } else { query::limit(limit, 20, 100) };
        Ok(Self { name: name.to_owned(), filter, limit, csv })
    }
}

/// The name of the list that a cursor belongs to.
fn list_name(account: &str) -> String {
    format!("statement.{account}")
}

/// What moved in and out of an account, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Statement)]
pub struct StatementView {
    account: String,
    #[schema(value_type = f64)]
    credit_balance: Number,
    #[schema(value_type = f64)]
    granted_balance: Number,
    #[schema(value_type = f64)]
    earned_balance: Number,
    entries: Vec<StatementEntryView>,
    count: i64,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// One movement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StatementEntry)]
pub struct StatementEntryView {
    time: String,
    kind: String,
    reference: String,
    #[schema(value_type = f64)]
    delta: Number,
    #[schema(value_type = f64)]
    balance_after: Number,
    /// How much of what moved was granted.
    #[schema(value_type = f64)]
    granted: Number,
    /// How much of the balance afterwards was granted, where that is known.
    #[schema(required, value_type = Option<f64>)]
    granted_after: Option<Number>,
    #[schema(required, value_type = Option<String>)]
    counterparty: String,
}

impl From<StatementLine> for StatementEntryView {
    fn from(line: StatementLine) -> Self {
        Self {
            time: Time(line.at).iso(),
            kind: line.kind,
            reference: line.reference,
            delta: credits::to_decimal(line.delta),
            balance_after: credits::to_decimal(line.balance_after),
            granted: credits::to_decimal(line.granted),
            granted_after: line.granted_after.map(credits::to_decimal),
            counterparty: line.counterparty,
        }
    }
}

/// A statement in the form that was asked for.
#[derive(Debug)]
pub enum StatementResponse {
    Json(StatementView),
    /// For a spreadsheet, with the cursor of the next page.
    Csv {
        text: String,
        next_cursor: Option<String>,
    },
}

/// What moved in and out of the account that asks, or of one of its nodes, newest first.
#[tracing::instrument(skip_all, fields(account = params.account.as_deref().map(traced_id)))]
pub async fn get_account_statement(
    hub: &SharedHub,
    credentials: Credentials,
    params: StatementParams,
) -> ApiResult<StatementResponse> {
    hub.limit_reads(&credentials).await?;
    let now = hub.now();
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            let name = params.account.as_deref().unwrap_or("user");
            let query = StatementQuery::parse(&params, name, &own_account(tx, &user, name, "account")?)?;
            load_statement(tx, &query)
        })
        .await
}

/// What moved in and out of a node's account, newest first. The node shows its secret, or its owner asks.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn get_node_statement(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &StatementParams,
) -> ApiResult<StatementResponse> {
    hub.limit_reads(credentials).await?;
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let query = StatementQuery::parse(params, &node_id, &ledger::node_account(&node_id))?;
    let (sender, context) = (Sender::new(&node_id, credentials.clone()), hub.context());
    let reader = sender.clone();
    sender
        .read(hub, move |tx, node| {
            let node = node.ok_or_else(|| reader.unknown())?;
            // What a node has and pays is not everybody's business, so its secret is asked for even before it was ever
            // shown.
            match reader.actor(tx, &context, node)?.can_see_account() {
                true => load_statement(tx, &query),
                false => Err(access_denied(AccessDenial::SecretRequired, &node.node_id)),
            }
        })
        .await
}

fn load_statement(tx: &mut dyn Tx, query: &StatementQuery) -> ApiResult<StatementResponse> {
    let mut lines = statement::lines(tx, &query.filter, query.limit + 1)?;
    let has_more = lines.len() as i64 > query.limit;
    lines.truncate(query.limit as usize);
    let next_cursor = lines.last().filter(|_| has_more).map(|last| {
        let position = ListPosition { key: last.seq, seq: last.seq };
        cursor::write(&list_name(&query.filter.account), position)
    });
    if query.csv {
        return Ok(StatementResponse::Csv { text: statement::csv(&lines), next_cursor });
    }
    let held = ledger::balances(tx, &query.filter.account)?;
    Ok(StatementResponse::Json(StatementView {
        account: query.name.clone(),
        credit_balance: credits::to_decimal(held.total),
        granted_balance: credits::to_decimal(held.granted),
        earned_balance: credits::to_decimal(held.earned()),
        count: lines.len() as i64,
        entries: lines.into_iter().map(StatementEntryView::from).collect(),
        has_more,
        next_cursor,
    }))
}

/// The ledger's account that an account calls `user` or by a node of its own.
pub fn own_account(tx: &mut dyn Tx, user: &UserRow, name: &str, path: &str) -> ApiResult<String> {
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
