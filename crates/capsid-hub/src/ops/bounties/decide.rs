//! What becomes of a bounty: its creator accepts what was handed in, sends it back, or cancels the bounty.

use super::view::BountyDetailView;
use super::{not_found, wrong_state};
use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::{traced_id, validate};
use crate::state::{Hub, SharedHub};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::work::bounties::{BountyActor, BountyStatus};
use capsid_store::db::tx::Tx;
use capsid_store::nodes;
use capsid_store::work::bounties;
use capsid_store::work::bounties::BountyRow;
use capsid_store::work::bounties::settle;
use capsid_store::work::bounties::settle::{BountyDecisionOutcome, SettlementTerms};
use capsid_store::work::tasks;
use serde::Deserialize;
use utoipa::ToSchema;

/// What is decided, and by whom.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[schema(as = BountyDecision)]
pub struct DecideBountyRequest {
    /// The node that asked, where it was a node.
    sender_id: Option<String>,
    /// The same.
    node_id: Option<String>,
    node_secret: Option<String>,
    /// What is taken, by its submission; it must be what the bounty is matched with.
    submission_id: Option<String>,
    /// The same by its asset.
    asset_id: Option<String>,
    /// Why.
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

sender_fields!(DecideBountyRequest);

/// Who decides: an account, or a node that says which one it is.
#[derive(Debug, Clone)]
pub struct BountyDecider {
    node: Option<String>,
    credentials: Credentials,
    reason: Option<String>,
}

impl DecideBountyRequest {
    /// Reads who decides, and why.
    pub fn decider(&self, credentials: Credentials) -> ApiResult<BountyDecider> {
        validate::text_or(self.reason.as_deref(), "reason", 1000)?;
        let sender = self.sender();
        let node = match (sender.sender_id, sender.node_id) {
            (None, None) => None,
            _ => Some(sender.node_id()?),
        };
        Ok(BountyDecider { node, credentials: sender.credentials(credentials), reason: self.reason.clone() })
    }
}

impl BountyDecider {
    /// One that may say which node it is.
    pub fn new(node: Option<&str>, credentials: Credentials) -> ApiResult<Self> {
        node.map_or(Ok(()), |node| check_node_id(node, "node_id"))?;
        Ok(Self { node: node.map(str::to_owned), credentials, reason: None })
    }

    /// The node that decides, where it says which one it is.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Why it decides so.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// What the request shows.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Checks that the creator of a bounty decides, its owner where it is a node, or an admin, and tells which. The node is
    /// locked.
    pub fn may_decide(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        bounty: &BountyRow,
    ) -> ApiResult<(String, BountyActor)> {
        let asked_by = bounty.creator.strip_prefix("node:");
        if let Some(user) = account::caller(tx, &self.credentials, context.now)? {
            let owns = match asked_by {
                Some(node_id) => {
                    nodes::lock(tx, node_id)?.is_some_and(|node| node.owner.as_ref() == Some(&user.user_id))
                }
                None => bounty.creator == user.actor(),
            };
            return match (owns, asked_by) {
                (true, None) => Ok((user.actor(), BountyActor::Creator)),
                (true, Some(_)) => Ok((user.actor(), BountyActor::Owner)),
                (false, _) if user.is_admin() => Ok((user.actor(), BountyActor::Admin)),
                (false, _) => Err(not_creator()),
            };
        }
        match (asked_by, &self.node) {
            (Some(creator), Some(node)) if creator == node => {
                self.act(tx, context, creator, bounty)?;
                Ok((bounty.creator.clone(), BountyActor::Creator))
            }
            (Some(creator), None) if self.credentials.secret.is_some() => {
                self.act(tx, context, creator, bounty).map_err(|_| not_creator())?;
                Ok((bounty.creator.clone(), BountyActor::Creator))
            }
            (_, None) if self.credentials.secret.is_none() => Err(ApiError::new(
                HubCode::Unauthorized,
                "Only the creator of the bounty decides, and the request does not show who sends it.",
                "Send `Authorization: Bearer` with your token, or with the node's secret.",
            )),
            _ => Err(not_creator()),
        }
    }
}

impl BountyDecider {
    /// Speaks for the node that asked. Where credits are decided on, it has to show that it may.
    fn act(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        node_id: &str,
        bounty: &BountyRow,
    ) -> ApiResult<()> {
        let sender = Sender::new(node_id, self.credentials.clone());
        match bounty.amount {
            0 => sender.lock(tx, context).map(|_| ()),
            _ => sender.lock_spender(tx, context).map(|_| ()),
        }
    }
}

fn not_creator() -> ApiError {
    ApiError::new(
        HubCode::NotBountyCreator,
        "Somebody else offered this bounty.",
        "Only its creator, the owner of the node that asked, or an admin may do this.",
    )
}

/// What is taken, where it is said.
#[derive(Debug, Clone, Default)]
pub struct AcceptedSubmission {
    pub submission: Option<String>,
    pub asset: Option<String>,
}

/// Accepts what a bounty is matched with, and pays.
pub fn accept_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    bounty_id: &str,
    decider: &BountyDecider,
    taken: &AcceptedSubmission,
    terms: &SettlementTerms,
) -> ApiResult<BountyDetailView> {
    let (actor, by) = decided_by(tx, context, bounty_id, decider)?;
    let (bounty, whole) = bounties::lock(tx, bounty_id)?.ok_or_else(|| not_found(bounty_id))?;
    let asset = bounty.matched_asset.map(|id| id.to_string());
    let other = taken.asset.as_ref().is_some_and(|named| Some(named) != asset.as_ref());
    let submission = settle::matched_submission(tx, &whole)?;
    if other || taken.submission.as_ref().is_some_and(|named| Some(named) != submission.as_ref()) {
        return Err(wrong_state(
            &bounty,
            "The bounty is not matched with what the request names.",
            "Look at `matched_asset_id` and `submissions` with GET /bounty/{id}, and name what is there.",
        ));
    }
    let status = settle::matched_status(tx, &bounty)?;
    if let (BountyStatus::Matched, Some(status)) =
        (bounty.status, status.filter(|status| status.is_unusable()))
    {
        return Err(wrong_state(
            &bounty,
            "What was handed in cannot be paid for: since then it was withdrawn, refused or held back.",
            "Send it back with POST /bounty/{id}/reject, so that others may try.",
        )
        .with("matched_asset_status", status.as_str()));
    }
    let decision = BountyDecision::Accept(*terms);
    let decided = decide_in(tx, bounty_id, &decision, (&actor, by), decider.reason.as_deref(), context.now)?;
    to_response(
        tx,
        context,
        bounty_id,
        decided,
        "Nothing was handed in that could be accepted, or the bounty is over.",
    )
}

/// What is decided about a bounty.
#[derive(Debug, Clone)]
pub enum BountyDecision {
    /// It is paid by these terms.
    Accept(SettlementTerms),
    Reject(SettlementTerms),
    Cancel,
}

/// Decides about a bounty for an actor who may, and is so named in the audit log. For creators, admins and the operator
/// alike.
pub fn decide_in(
    tx: &mut dyn Tx,
    bounty_id: &str,
    decision: &BountyDecision,
    (actor, by): (&str, BountyActor),
    reason: Option<&str>,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    match decision {
        BountyDecision::Accept(terms) => {
            settle::accept(tx, bounty_id, actor, &by.accepted(reason), terms, now)
        }
        BountyDecision::Reject(terms) => settle::reject(tx, bounty_id, actor, reason, terms, now),
        // They may end any bounty that was not paid; a creator only one that nobody works on.
        BountyDecision::Cancel if matches!(by, BountyActor::Admin | BountyActor::Operator) => {
            settle::withdraw(tx, bounty_id, actor, &by.cancelled(reason), now)
        }
        BountyDecision::Cancel => settle::cancel(tx, bounty_id, actor, &by.cancelled(reason), now),
    }
}

fn decided_by(
    tx: &mut dyn Tx,
    context: &OperationContext,
    bounty_id: &str,
    decider: &BountyDecider,
) -> ApiResult<(String, BountyActor)> {
    let bounty = bounties::get(tx, bounty_id)?.ok_or_else(|| not_found(bounty_id))?;
    decider.may_decide(tx, context, &bounty)
}

pub(super) fn to_response(
    tx: &mut dyn Tx,
    context: &OperationContext,
    bounty_id: &str,
    decided: BountyDecisionOutcome,
    problem: &str,
) -> ApiResult<BountyDetailView> {
    match decided {
        BountyDecisionOutcome::Done(_) => BountyDetailView::load(tx, bounty_id, context.now),
        BountyDecisionOutcome::NotFound => Err(not_found(bounty_id)),
        BountyDecisionOutcome::Refused(bounty) => {
            Err(wrong_state(&bounty, problem, "Look at it with GET /bounty/{id}: every state has an end."))
        }
    }
}

/// Accepts what was handed in, and pays. Accepting again changes nothing.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id), node.id = request.sender().traced()))]
pub async fn accept_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    request: &DecideBountyRequest,
) -> ApiResult<BountyDetailView> {
    let terms = hub.config.settlement_terms();
    let accepted =
        AcceptedSubmission { submission: request.submission_id.clone(), asset: request.asset_id.clone() };
    decide(hub, request.decider(credentials)?, move |tx, context, decider| {
        accept_in(tx, context, &bounty_id, decider, &accepted, &terms)
    })
    .await
}

/// Sends back what was handed in: others may try, until the bounty expires.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id), node.id = request.sender().traced()))]
pub async fn reject_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    request: &DecideBountyRequest,
) -> ApiResult<BountyDetailView> {
    let terms = hub.config.settlement_terms();
    decide(hub, request.decider(credentials)?, move |tx, context, decider| {
        let (actor, by) = decided_by(tx, context, &bounty_id, decider)?;
        let (by, reason) = ((actor.as_str(), by), decider.reason.as_deref());
        let bounty = bounties::get(tx, &bounty_id)?.ok_or_else(|| not_found(&bounty_id))?;
        let is_silent = reason.is_none_or(|reason| reason.trim().is_empty());
        if is_silent && bounty.status == BountyStatus::Matched && terms.can_be_disputed(&bounty) {
            return Err(ApiError::field(
                "reason",
                "a sentence that says why the answer is rejected",
                "nothing",
            ));
        }
        let decided = decide_in(tx, &bounty_id, &BountyDecision::Reject(terms), by, reason, context.now)?;
        to_response(tx, context, &bounty_id, decided, "Nothing was handed in that could be sent back.")
    })
    .await
}

/// Cancels a bounty that nobody works on; the credits are refunded. An admin may end any bounty that was not paid.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id), node.id = request.sender().traced()))]
pub async fn cancel_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    request: &DecideBountyRequest,
) -> ApiResult<BountyDetailView> {
    decide(hub, request.decider(credentials)?, move |tx, context, decider| {
        let (actor, by) = decided_by(tx, context, &bounty_id, decider)?;
        let (by, reason) = ((actor.as_str(), by), decider.reason.as_deref());
        let decided = decide_in(tx, &bounty_id, &BountyDecision::Cancel, by, reason, context.now)?;
        to_response(
            tx,
            context,
            &bounty_id,
            decided,
            "Somebody works on it or has handed something in, its creator has read an answer, or it is over.",
        )
    })
    .await
}

/// Carries out a decision.
pub async fn decide<F>(hub: &Hub, decider: BountyDecider, mut op: F) -> ApiResult<BountyDetailView>
where
    F: FnMut(&mut dyn Tx, &OperationContext, &BountyDecider) -> ApiResult<BountyDetailView> + Send + 'static,
{
    let who = decider.node.clone().unwrap_or_else(|| "bounties".to_owned());
    hub.limit_calls_of(&decider.credentials, &who).await?;
    let context = hub.context();
    let response = hub.store.write::<_, ApiError, _>(move |tx| op(tx, &context.begin(), &decider)).await?;
    hub.events.notify();
    Ok(response)
}

/// The bounty on a task, or on the whole that it is a part of.
pub fn find_task_bounty(tx: &mut dyn Tx, task_id: &str) -> ApiResult<String> {
    let task = tasks::get(tx, task_id)?.ok_or_else(|| crate::ops::tasks::not_found(task_id))?;
    task.bounty_id.ok_or_else(|| not_found(task_id))
}
