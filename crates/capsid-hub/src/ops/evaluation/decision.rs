//! `POST /a2a/decision`: somebody accepts, rejects or quarantines an asset.
//!
//! An admin's decision is carried out. A validator's is one vote beside the reports: an acceptance passes, the others
//! fail. It can hold a promotion back or outweigh a failing report, but it is no report: somebody still has to have run
//! the validation. Everybody else's is recorded, and weighs nothing.

use crate::auth::access::Credentials;
use crate::auth::accounts;
use crate::auth::once::{once, receive};
use crate::error::{ApiError, HubCode, Result};
use crate::http::checks;
use crate::http::envelope::{Answer, Reply};
use crate::http::json::JsonText;
use crate::ops::assets::revoke::{Target, not_found};
use crate::state::Shared;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::identity::access::Presented;
use capsid_rules::lifecycle::{Change, Status, step};
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::decisions;
use capsid_store::evaluation::decisions::Decision;
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::Changed;
use capsid_store::evaluation::rewards;
use capsid_store::evaluation::rewards::Rewards;
use capsid_store::evaluation::scoring;
use capsid_store::nodes::Node;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
struct Asked {
    decision: Option<String>,
}

/// Decides on an asset.
///
/// `decision` is `accept`, `reject` or `quarantine`. An admin's is carried out, a validator's is a vote, and anybody
/// else's is recorded without weight.
#[utoipa::path(post, path = "/a2a/decision", tag = "messages", request_body = crate::http::openapi::Message,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn decision(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> Result<Reply> {
    let limit = ("messages", hub.config.limits.messages);
    let envelope = receive(&hub, &text, &["decision"], &credentials, limit).await?;
    let rewards = hub.config.rewards();
    let asked: Asked = envelope.payload()?;
    let decision = word(asked.decision.as_deref())?;
    let target: Target = envelope.payload()?;
    target.reason()?;
    let answer = hub.answer("decision");
    let shown = credentials.clone().or_secret(envelope.node_secret.as_deref());
    once(&hub, &envelope, "/a2a/decision", &text, credentials, move |tx, node| {
        decide(tx, node, &shown, &target, decision, &rewards, &answer)
    })
    .await
}

fn word(told: Option<&str>) -> Result<Decision> {
    let expected = || format!("one of `{}`", Decision::WORDS.join("`, `"));
    let told = told.ok_or_else(|| ApiError::field("payload.decision", expected(), "missing"))?;
    Decision::parse(told).ok_or_else(|| ApiError::field("payload.decision", expected(), "another word"))
}

fn decide(
    tx: &mut dyn Tx,
    node: &Node,
    shown: &Credentials,
    target: &Target,
    decision: Decision,
    rewards: &Rewards,
    answer: &Answer,
) -> Result<Reply> {
    let now = answer.now;
    let id = target.find(tx, &node.node_id)?;
    let reason = target.reason()?;
    let asset = assets::lock(tx, &id)?.ok_or_else(not_found)?;
    let mut payload = Map::new();
    let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
    let status = match admin(tx, node, shown, now)? {
        Some(actor) => {
            decisions::record(tx, &id, &actor, decision, reason, 1.0, now)?;
            put("status", "applied".into());
            put("label", "admin".into());
            carry_out(tx, &id, decision.change(), &actor, reason, rewards, now)?
        }
        None => {
            let standing = decisions::standing(tx, &asset, node)?;
            let actor = format!("node:{}", node.node_id);
            decisions::record(tx, &id, &actor, decision, reason, standing.weight(), now)?;
            put("status", "recorded".into());
            put("label", standing.label().into());
            put("weight", standing.weight().into());
            put("note", note(standing).into());
            asset.status
        }
    };
    put("target_asset_id", id.to_string().into());
    put("decision", decision.as_str().into());
    put("asset_status", status.as_str().into());
    let tally = scoring::consensus(tx, &id)?;
    put("consensus", crate::ops::assets::row::consensus(&tally));
    Ok(Reply::ok(answer.of(&payload)))
}

fn note(standing: decisions::Standing) -> &'static str {
    match standing {
        decisions::Standing::Own => {
            "It is kept without weight, because the asset is the node's own or its owner's."
        }
        decisions::Standing::Validator(_) => "It is one vote beside the reports.",
        decisions::Standing::Other => {
            "It is kept without weight, because the node has no stake and too little reputation to be a validator."
        }
    }
}

/// The admin who speaks, if one does: by a session or key, or through a node of its own that shows its secret.
fn admin(tx: &mut dyn Tx, node: &Node, shown: &Credentials, now: Time) -> Result<Option<String>> {
    if let Some(user) = accounts::known_caller(tx, shown, now)?.filter(|user| user.is_admin()) {
        return Ok(Some(format!("user:{}", user.user_id)));
    }
    let Some(owner) = node.owner.as_deref() else { return Ok(None) };
    if node.presented(shown.secret.as_deref()) != Presented::Right {
        return Ok(None);
    }
    let owner = capsid_store::accounts::get(tx, owner)?;
    Ok(owner.filter(|owner| owner.is_admin()).map(|owner| format!("user:{}", owner.user_id)))
}

/// Changes the state of an asset as an admin wants it, and gives the state it is in now. What it is already stays.
pub fn carry_out(
    tx: &mut dyn Tx,
    id: &AssetId,
    change: Change,
    actor: &str,
    reason: Option<&str>,
    rewards: &Rewards,
    now: Time,
) -> Result<Status> {
    let asset = assets::lock(tx, id)?.ok_or_else(not_found)?;
    if step(asset.status, change).is_err() && is_done(asset.status, change) {
        return Ok(asset.status);
    }
    match lifecycle::change(tx, id, change, actor, reason, now)? {
        Changed::Done { to, .. } => {
            scoring::rescore(tx, id, now)?;
            if change == Change::Promote {
                rewards::promoted(tx, rewards, id, now)?;
            }
            Ok(to)
        }
        Changed::NotFound => Err(not_found()),
        Changed::Refused(refusal) => Err(ApiError::new(
            HubCode::StateConflict,
            refusal.to_string(),
            "GET /a2a/assets/{asset_id} tells where the asset stands and how it got there.",
        )
        .with("asset_status", refusal.from.as_str())),
    }
}

/// Whether an asset is where a change would bring it.
fn is_done(status: Status, change: Change) -> bool {
    matches!(
        (status, change),
        (Status::Promoted, Change::Promote)
            | (Status::Rejected, Change::Reject)
            | (Status::Quarantined, Change::Quarantine)
            | (Status::Candidate, Change::Release)
    )
}

/// The reason in the body of an admin's call.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct Why {
    reason: Option<String>,
}

impl Why {
    /// The reason, not longer than it may be.
    pub fn checked(self) -> Result<Option<String>> {
        checks::text_or(self.reason.as_deref(), "reason", 2000)?;
        Ok(self.reason)
    }
}
