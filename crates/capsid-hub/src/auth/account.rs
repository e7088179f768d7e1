//! Which account a request comes from.

use crate::auth::credentials::Credentials;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use capsid_model::time::Time;
use capsid_rules::identity::actor::Actor;
use capsid_rules::identity::claims::{grace_ends, is_in_grace};
use capsid_store::accounts::{UserRow, api_keys, sessions};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;

/// The account whose session token or API key a request shows; nothing where it shows none. A token that is not
/// known, or no longer, is refused. Only reads.
pub fn caller(tx: &mut dyn Tx, credentials: &Credentials, now: Time) -> ApiResult<Option<UserRow>> {
    match find(tx, credentials, now)? {
        Some(user) if user.banned_at.is_some() => Err(banned(&user)),
        Some(user) => Ok(Some(user)),
        None if credentials.session.is_some() || credentials.api_key.is_some() => {
            Err(unauthorized("The session token or API key is not known, or no longer."))
        }
        None => Ok(None),
    }
}

/// The same where anybody may ask: a token that is of no use is as good as none.
pub fn find_caller_or_none(
    tx: &mut dyn Tx,
    credentials: &Credentials,
    now: Time,
) -> ApiResult<Option<UserRow>> {
    Ok(find(tx, credentials, now)?.filter(|user| user.banned_at.is_none()))
}

/// The account that a request must come from.
pub fn require_user(tx: &mut dyn Tx, credentials: &Credentials, now: Time) -> ApiResult<UserRow> {
    caller(tx, credentials, now)?
        .ok_or_else(|| unauthorized("This call needs an account, and the request shows none."))
}

/// The account that a person must be logged in to. A key is not enough: whoever finds one could make more of them.
pub fn require_session(tx: &mut dyn Tx, credentials: &Credentials, now: Time) -> ApiResult<UserRow> {
    if credentials.session.is_none() {
        return Err(unauthorized("This call needs a session, and the request shows none."));
    }
    require_user(tx, credentials, now)
}

/// The account of an admin that a request must come from.
pub fn require_admin(tx: &mut dyn Tx, credentials: &Credentials, now: Time) -> ApiResult<UserRow> {
    let user = require_user(tx, credentials, now)?;
    if user.is_admin() {
        return Ok(user);
    }
    Err(ApiError::new(
        HubCode::AdminRequired,
        "Only an admin may do this.",
        "Ask the operator of this hub: `capsid hub admin grant-admin EMAIL` makes an account an admin.",
    ))
}

/// The account of an arbiter that a request must come from: an admin, or somebody whom the operator appointed.
pub fn require_moderator(tx: &mut dyn Tx, credentials: &Credentials, now: Time) -> ApiResult<UserRow> {
    let user = require_user(tx, credentials, now)?;
    if user.is_admin() || user.appointed_at.is_some() {
        return Ok(user);
    }
    Err(ApiError::new(
        HubCode::AdminRequired,
        "Only an admin, or somebody whom the operator appointed, may do this.",
        "Ask the operator of this hub: `capsid hub admin appoint EMAIL` appoints an account.",
    ))
}

/// Whether an account may act for a node.
pub fn may_act_for(user: &UserRow, node: &NodeRow) -> bool {
    user.is_admin() || node.owner.as_ref() == Some(&user.user_id)
}

/// What an account is to a node: an admin, its owner, or nothing.
pub fn actor_for(user: &UserRow, node: &NodeRow, context: &OperationContext) -> Option<Actor> {
    if user.is_admin() {
        return Some(Actor::Admin);
    }
    let grace_ms = context.config.identity.claim_grace_ms;
    let owner =
        if is_in_grace(node.claimed_at, grace_ms, context.now.0) { Actor::NewOwner } else { Actor::Owner };
    (node.owner.as_ref() == Some(&user.user_id)).then_some(owner)
}

/// The refusal of an owner whose claim the node can still refuse.
pub fn in_grace(context: &OperationContext, node: &NodeRow) -> ApiError {
    let end = grace_ends(node.claimed_at, context.config.identity.claim_grace_ms).unwrap_or(context.now.0);
    ApiError::new(
        HubCode::ClaimInGrace,
        format!("The node {} can still refuse its claim, until {}.", node.node_id, Time(end).iso()),
        "Wait until then. The node itself can go on with its secret.",
    )
    .with("grace_ends_at", Time(end).iso())
}

/// The refusal of an account that the operator has banned.
pub fn banned(user: &UserRow) -> ApiError {
    ApiError::new(
        HubCode::AccountBanned,
        format!("The account {} is banned from this hub.", user.user_id),
        "Ask the operator of this hub.",
    )
}

fn find(tx: &mut dyn Tx, credentials: &Credentials, now: Time) -> ApiResult<Option<UserRow>> {
    credentials.user_or_find(|| {
        Ok(match (&credentials.session, &credentials.api_key) {
            (Some(token), _) => sessions::user(tx, token, now)?,
            (None, Some(key)) => api_keys::user(tx, key)?,
            (None, None) => None,
        })
    })
}

pub(crate) fn unauthorized(problem: &str) -> ApiError {
    ApiError::new(
        HubCode::Unauthorized,
        problem,
        "Log in with POST /auth/login and send `Authorization: Bearer <token>`.",
    )
}
