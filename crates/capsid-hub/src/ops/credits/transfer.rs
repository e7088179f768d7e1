//! Moving credits between an account and its own nodes.

use super::statement::own_account;
use crate::auth::account::{actor_for, in_grace, require_user};
use crate::auth::credentials::Credentials;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::{traced_id, validate};
use crate::state::SharedHub;
use capsid_rules::credits::{self, GrantedUse};
use capsid_rules::identity::actor::Actor;
use capsid_store::db::tx::Tx;
use capsid_store::ledger::{self, Transfer, TransferOutcome};
use capsid_store::nodes;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

/// The longest reference of a client.
const MAX_REFERENCE: usize = 100;

/// What is to be moved.
#[derive(Debug, Deserialize, ToSchema)]
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

/// Credits that were moved.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreditsMoved)]
pub struct TransferResponse {
    /// done or already_done.
    status: &'static str,
    reference: String,
    #[schema(value_type = f64)]
    amount: Number,
    from: AccountBalanceView,
    to: AccountBalanceView,
}

/// What an account holds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AccountBalance)]
pub struct AccountBalanceView {
    account: String,
    #[schema(value_type = f64)]
    credit_balance: Number,
    #[schema(value_type = f64)]
    granted_balance: Number,
    #[schema(value_type = f64)]
    earned_balance: Number,
}

impl AccountBalanceView {
    fn load(tx: &mut dyn Tx, name: &str, account: &str) -> ApiResult<Self> {
        let held = ledger::balances(tx, account)?;
        Ok(Self {
            account: name.to_owned(),
            credit_balance: credits::to_decimal(held.total),
            granted_balance: credits::to_decimal(held.granted),
            earned_balance: credits::to_decimal(held.earned()),
        })
    }
}

/// Moves credits between the account and its own nodes. The same reference again moves nothing and is no error.
#[tracing::instrument(skip_all, fields(from = traced_id(&request.from), to = traced_id(&request.to)))]
pub async fn transfer_credits(
    hub: &SharedHub,
    credentials: Credentials,
    request: TransferRequest,
) -> ApiResult<TransferResponse> {
    validate::name(&request.reference, "reference", MAX_REFERENCE)?;
    let amount = credits::from_shown(request.amount).filter(|amount| *amount > 0).ok_or_else(|| {
        let expected = "a number of credits above 0, to the thousandth";
        ApiError::field("amount", expected, request.amount.to_string())
    })?;
    if request.from == request.to {
        return Err(ApiError::field("to", "another account than `from`", "the same"));
    }
    hub.limit_calls_of(&credentials, "account").await?;
    let (context, granted) = (hub.context(), hub.config.credits.granted);
    hub.store
        .write(move |tx| transfer_in(tx, &credentials, &request, amount, granted, &context.begin()))
        .await
}

fn transfer_in(
    tx: &mut dyn Tx,
    credentials: &Credentials,
    request: &TransferRequest,
    amount: i64,
    granted: GrantedUse,
    context: &OperationContext,
) -> ApiResult<TransferResponse> {
    let now = context.now;
    let user = require_user(tx, credentials, now)?;
    let from = own_account(tx, &user, &request.from, "from")?;
    if let Some(node) = nodes::get(tx, &request.from)?
        && actor_for(&user, &node, context) == Some(Actor::NewOwner)
    {
        return Err(in_grace(context, &node));
    }
    let to = own_account(tx, &user, &request.to, "to")?;
    let reference = format!("transfer:{}:{}", user.user_id, request.reference);
    let moving = Transfer { reference: &reference, kind: "transfer", from: &from, to: &to, amount };
    if ledger::find(tx, &reference)?.is_some_and(|kept| !kept.is(&moving)) {
        return Err(ApiError::new(
            HubCode::ReferenceUsed,
            "The reference was used before for another transfer.",
            "Use a new reference for each transfer, and the same one only to try the same transfer again.",
        ));
    }
    let status = match ledger::transfer_from(tx, moving, granted.source(), now)? {
        TransferOutcome::Done => "done",
        TransferOutcome::AlreadyDone => "already_done",
        TransferOutcome::Insufficient { have } => return Err(insufficient(amount, have, granted)),
    };
    Ok(TransferResponse {
        status,
        reference: request.reference.clone(),
        amount: credits::to_decimal(amount),
        from: AccountBalanceView::load(tx, &request.from, &from)?,
        to: AccountBalanceView::load(tx, &request.to, &to)?,
    })
}

fn insufficient(need: i64, have: i64, granted: GrantedUse) -> ApiError {
    let (need_text, have_text) = (credits::text(need), credits::text(have));
    let (message, fix) = match granted {
        GrantedUse::Any => ("The account holds fewer credits than are to be moved", "Move less."),
        GrantedUse::Fees => (
            "The account has earned fewer credits than are to be moved, and granted credits cannot be transferred",
            "Move only earned credits; granted credits pay for what this hub sells.",
        ),
    };
    ApiError::new(
        HubCode::InsufficientCredits,
        format!("{message}: need {need_text}, have {have_text}."),
        fix,
    )
    .with("required", credits::to_decimal(need))
    .with("available", credits::to_decimal(have))
}
