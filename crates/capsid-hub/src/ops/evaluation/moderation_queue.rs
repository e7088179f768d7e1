//! The queue of moderators: what waits for somebody to look at it, decisions, and one appeal against each.

use super::case_effects::CaseDecision;
use crate::auth::account::require_moderator;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::{traced_id, validate};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::accounts::UserRow;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::moderation::{self, CaseKind, ModerationCaseRow};
use capsid_store::nodes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// The most cases of one page.
const MAX_CASES: i64 = 100;

/// Which cases are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListCasesParams {
    /// open or decided; open where nothing is said.
    state: Option<String>,
    /// Only cases after this one.
    after: Option<i64>,
}

/// A case.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModerationCase)]
pub struct ModerationCaseView {
    case_id: i64,
    kind: CaseKind,
    /// The asset, node or bounty.
    subject: String,
    node_id: String,
    reason: String,
    opened_at: String,
    state: String,
    #[schema(required)]
    decision: Option<String>,
    #[schema(required)]
    decided_at: Option<String>,
    #[schema(required)]
    decision_reason: Option<String>,
    #[schema(required)]
    appealed_at: Option<String>,
    #[schema(required)]
    appeal: Option<String>,
}

impl From<ModerationCaseRow> for ModerationCaseView {
    fn from(case: ModerationCaseRow) -> Self {
        let time = |at: Option<i64>| at.map(|at| Time(at).iso());
        Self {
            case_id: case.seq,
            kind: case.kind,
            subject: case.subject,
            node_id: case.node_id,
            reason: case.reason,
            opened_at: Time(case.opened_at).iso(),
            state: case.state,
            decision: case.decision,
            decided_at: time(case.decided_at),
            decision_reason: case.decision_reason,
            appealed_at: time(case.appealed_at),
            appeal: case.appeal,
        }
    }
}

/// Cases, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModerationCases)]
pub struct ListCasesResponse {
    cases: Vec<ModerationCaseView>,
    count: usize,
    has_more: bool,
}

/// Lists what waits for a moderator.
#[tracing::instrument(skip_all)]
pub async fn list_cases(
    hub: &SharedHub,
    credentials: Credentials,
    params: ListCasesParams,
) -> ApiResult<ListCasesResponse> {
    let state = params.state.unwrap_or_else(|| "open".to_owned());
    if !["open", "decided"].contains(&state.as_str()) {
        return Err(ApiError::field("state", "open or decided", "another word"));
    }
    let (now, after) = (hub.now(), params.after.unwrap_or(0));
    let mut found = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            require_moderator(tx, &credentials, now)?;
            Ok(moderation::list(tx, &state, after, MAX_CASES + 1)?)
        })
        .await?;
    let has_more = found.len() as i64 > MAX_CASES;
    found.truncate(MAX_CASES as usize);
    let cases: Vec<_> = found.into_iter().map(ModerationCaseView::from).collect();
    Ok(ListCasesResponse { count: cases.len(), cases, has_more })
}

/// What a moderator decides.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ModerationDecision)]
pub struct DecideCaseRequest {
    /// approve or reject.
    #[schema(example = "approve")]
    decision: String,
    /// Why.
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

/// Decides a case about an asset or a publisher; [`case_effects`] says what follows.
#[tracing::instrument(skip_all, fields(case.id = traced_id(case_id)))]
pub async fn decide_case(
    hub: &SharedHub,
    credentials: Credentials,
    case_id: &str,
    request: DecideCaseRequest,
) -> ApiResult<ModerationCaseView> {
    validate::text_or(request.reason.as_deref(), "reason", 1000)?;
    let approves = match request.decision.as_str() {
        "approve" => true,
        "reject" => false,
        _ => return Err(ApiError::field("decision", "approve or reject", "another word")),
    };
    let case_id: i64 = case_id.parse().map_err(|_| not_found())?;
    let (clock, rewards) = (Arc::clone(&hub.clock), hub.config.rewards());
    let rule = hub.config.promotion.rule;
    let case = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let now = clock.now();
            let user = require_moderator(tx, &credentials, now)?;
            let case = moderation::lock(tx, case_id)?.ok_or_else(not_found)?;
            if !case.is_open() || case.kind == CaseKind::Dispute {
                return Err(not_open(&case));
            }
            refuse_own(tx, &user, &case)?;
            let (actor, reason) = (user.actor(), request.reason.as_deref());
            // Closed first: what follows may close cases that nobody has decided yet.
            moderation::decide(tx, &case, &request.decision, &actor, reason, now)?;
            let decided =
                CaseDecision { approves, actor: &actor, reason, rule: &rule, rewards: &rewards, now };
            decided.carry_out(tx, &case)?;
            Ok(moderation::lock(tx, case_id)?.unwrap_or(case))
        })
        .await?;
    hub.events.notify();
    Ok(case.into())
}

/// An appointed owner is no arbiter of its own work. An administrator answers for the whole hub.
fn refuse_own(tx: &mut dyn Tx, user: &UserRow, case: &ModerationCaseRow) -> ApiResult<()> {
    let node = nodes::get(tx, &case.node_id)?;
    let is_own = node.is_some_and(|node| node.owner.as_ref() == Some(&user.user_id));
    if user.is_admin() || !is_own {
        return Ok(());
    }
    Err(ApiError::new(
        HubCode::SelfVoteForbidden,
        "The case is about the work of one of your own nodes.",
        "Leave it to another moderator.",
    ))
}

/// An appeal of the node that a decision concerns.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ModerationAppeal)]
pub struct AppealRequest {
    /// The node.
    sender_id: Option<String>,
    /// The same.
    node_id: Option<String>,
    node_secret: Option<String>,
    /// Why the decision is wrong.
    #[schema(max_length = 1000)]
    reason: String,
}

sender_fields!(AppealRequest);

/// Reopens a case about a node's own asset or about itself, once.
#[tracing::instrument(skip_all, fields(subject = traced_id(&subject)))]
pub async fn appeal_case(
    hub: &SharedHub,
    credentials: Credentials,
    subject: String,
    request: &AppealRequest,
) -> ApiResult<ModerationCaseView> {
    validate::text_or(Some(&request.reason), "reason", 1000)?;
    if request.reason.trim().is_empty() {
        return Err(ApiError::field("reason", "a sentence that says why the decision is wrong", "nothing"));
    }
    let shown = request.sender();
    let node_id = shown.node_id()?;
    let sender = Sender::new(&node_id, shown.credentials(credentials));
    hub.limit_calls(&sender).await?;
    let (context, reason) = (hub.context(), request.reason.clone());
    let case = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock_spender(tx, &context)?;
            let case = find_appealable(tx, &subject, &node_id)?.ok_or_else(no_case)?;
            if !moderation::appeal(tx, &case, &format!("node:{node_id}"), &reason, context.now)? {
                return Err(not_appealable(&case));
            }
            Ok(moderation::lock(tx, case.seq)?.unwrap_or(case))
        })
        .await?;
    Ok(case.into())
}

/// The case about something of a node that it may appeal against; where there is none, one that says why it may not.
fn find_appealable(tx: &mut dyn Tx, subject: &str, node_id: &str) -> ApiResult<Option<ModerationCaseRow>> {
    let kinds: &[CaseKind] = match subject.starts_with("sha256:") {
        true => &[CaseKind::Warning, CaseKind::Disagreement],
        false => &[CaseKind::Publisher],
    };
    let mut found = Vec::new();
    for kind in kinds {
        found.extend(moderation::lock_subject(tx, *kind, subject)?.filter(|case| case.node_id == node_id));
    }
    // A rejection comes before an approval, against which nobody appeals.
    found.sort_by_key(|case| {
        (case.is_open() || case.appealed_at.is_some(), case.decision.as_deref() != Some("reject"))
    });
    Ok(found.into_iter().next())
}

fn not_found() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "There is no such case.",
        "List the cases that there are with GET /admin/moderation.",
    )
}

fn no_case() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "There is no decision about this that concerns the node.",
        "Name an asset that the node published, or the node itself.",
    )
}

fn not_open(case: &ModerationCaseRow) -> ApiError {
    let fix = match case.kind {
        CaseKind::Dispute => "Decide a dispute with POST /bounty/{id}/resolve.",
        _ => "A case is decided once, and once more after an appeal.",
    };
    ApiError::new(HubCode::StateConflict, "The case cannot be decided here.", fix)
        .with("state", case.state.as_str())
}

fn not_appealable(case: &ModerationCaseRow) -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        "The case is open, or an appeal was made before.",
        "One appeal is possible, after a decision.",
    )
    .with("state", case.state.as_str())
}
