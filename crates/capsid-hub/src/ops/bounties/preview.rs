//! What the creator of a bounty sees of an answer before paying for it, and reading it in full.

use super::decide::BountyDecider;
use super::view::BountyDetailView;
use super::{not_found, wrong_state};
use crate::auth::credentials::Credentials;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::ops::assets::detail::scan_view::ScanView;
use crate::state::SharedHub;
use capsid_rules::assets::traits::card_members;
use capsid_rules::work::bounties::BountyActor;
use capsid_store::assets::{self, scans};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::list_reports;
use capsid_store::work::bounties::{self, BountyRow, disputes};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What was handed in, without its body until the creator opens or accepts it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SubmissionPreview {
    asset_id: String,
    summary: String,
    signals: Vec<String>,
    /// Its size in bytes.
    bytes: usize,
    #[schema(required)]
    scan: Option<ScanView>,
    /// What the hub's runner found: passed or failed; nothing where it did not run it.
    #[schema(required)]
    runner: Option<&'static str>,
    /// When the creator read it.
    #[schema(required)]
    opened_at: Option<String>,
    /// The asset itself, for the creator who opens it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = BTreeMap<String, Value>, required = false)]
    body: Option<Box<RawValue>>,
}

impl SubmissionPreview {
    /// The preview of what a bounty is matched with.
    pub fn load(tx: &mut dyn Tx, bounty: &BountyRow, with_body: bool) -> ApiResult<Option<Self>> {
        let Some(id) = &bounty.matched_asset else { return Ok(None) };
        let Some((asset, body)) = assets::get(tx, id)?.zip(assets::body(tx, id)?) else { return Ok(None) };
        let is_scanned = asset.is_scanned();
        let card = if is_scanned { card_members(&asset.card) } else { Map::new() };
        let texts = |key: &str| -> Vec<String> {
            let list = card.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let runner = list_reports::runner_outcome(tx, id)?.map(|ok| if ok { "passed" } else { "failed" });
        let opened_at = bounty.opened_at.filter(|_| bounty.is_opened());
        let (bytes, shown) =
            (body.len(), (with_body && is_scanned).then(|| RawValue::from_string(body).ok()).flatten());
        Ok(Some(Self {
            asset_id: id.to_string(),
            summary: card.get("summary").and_then(Value::as_str).unwrap_or_default().to_owned(),
            signals: texts("trigger"),
            bytes,
            scan: scans::get(tx, id)?.map(ScanView::from),
            runner,
            opened_at: opened_at.map(|at| capsid_model::time::Time(at).iso()),
            body: shown,
        }))
    }
}

/// Shows a bounty with the answer in full, for its creator. On a hub where creators get a preview this is recorded: after
/// it the bounty cannot be cancelled, and a rejection can be disputed.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id)))]
pub async fn open_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    node: Option<&str>,
) -> ApiResult<BountyDetailView> {
    let decider = BountyDecider::new(node, credentials)?;
    super::decide::decide(hub, decider, move |tx, context, decider| open_in(tx, context, &bounty_id, decider))
        .await
}

fn open_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    bounty_id: &str,
    decider: &BountyDecider,
) -> ApiResult<BountyDetailView> {
    let bounty = bounties::get(tx, bounty_id)?.ok_or_else(|| not_found(bounty_id))?;
    let (actor, by) = decider.may_decide(tx, context, &bounty)?;
    if bounty.matched_asset.is_none() {
        return Err(nothing_handed_in(&bounty));
    }
    // An admin who looks does not bind the creator.
    let binds = context.config.work.preview && !matches!(by, BountyActor::Admin | BountyActor::Operator);
    if binds {
        disputes::record_opening(tx, bounty_id, &actor, context.now)?;
    }
    BountyDetailView::load_opened(tx, bounty_id, context.now)
}

fn nothing_handed_in(bounty: &BountyRow) -> ApiError {
    wrong_state(
        bounty,
        "Nothing is handed in that could be opened.",
        "Wait until a node completes the task; GET /bounty/{id} shows `matched_asset_id` then.",
    )
}
