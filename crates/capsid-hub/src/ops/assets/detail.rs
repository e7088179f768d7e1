//! `GET /a2a/assets/{asset_id}`: all that is known of one asset; and whether its id holds.

use crate::auth::account;
use crate::auth::credentials::{Credentials, OperationContext, authenticate_reader, is_first_use};
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::query::{PathId, QueryParams};
use crate::ops::assets::fetch::{AssetReader, may_have};
use crate::ops::assets::purchase;
use crate::ops::assets::revoke::not_found;
use crate::ops::assets::view;
use crate::ops::assets::view::{FieldSelection, quoted};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::asset;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::ConsensusTally;
use capsid_rules::evaluation::gdi::gdi;
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::identity::secrets::PresentedSecret;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::audit::{self, AuditEntry};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::{promotion, scoring};
use capsid_store::nodes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write;
use utoipa::IntoParams;

/// How many bundles, siblings and changes are told at most.
const MAX: usize = 20;
const MAX_CHANGES: i64 = 200;
/// How many of them the detail shows.
const LATEST_CHANGES: i64 = 50;

/// How much is told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GetAssetParams {
    /// `true` adds the whole asset as `payload`.
    #[param(value_type = Option<bool>)]
    detailed: Option<String>,
    /// The node that asks, if it may see more than others.
    node_id: Option<String>,
    /// Only these members, with commas between them. Not described: what is left fits no one description.
    #[param(ignore)]
    fields: Option<String>,
}

/// The asset that a path names. What is no id names nothing.
pub(crate) fn id_in_path(text: &str) -> ApiResult<AssetId> {
    AssetId::parse(text).ok_or_else(not_found)
}

/// All that is known of an asset.
///
/// The whole asset is shown with `detailed=true`; that of a candidate only to its publisher, its owner, an admin, the
/// nodes that are to validate it, and whoever it was handed in to. A candidate also tells what stands between it and its promotion.
/// `fields=asset_id,summary` leaves out all other members.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"), GetAssetParams),
    responses((status = 200, body = crate::http::openapi::assets::AssetDetail), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn detail(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(asked): QueryParams<GetAssetParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let id = id_in_path(&id)?;
    if let Some(node_id) = &asked.node_id {
        check_node_id(node_id, "node_id")?;
    }
    let fields = FieldSelection::parse(asked.fields.as_deref());
    let (rules, rule) = (hub.rules(), hub.config.promotion.rule);
    let by = credentials.clone();
    let (told, binds) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let listed = list::by_id(tx, &[id])?.pop().ok_or_else(not_found)?;
            let viewer = AssetViewer::load(tx, &rules, &by, asked.node_id.as_deref(), &listed)?;
            let detailed = asked.detailed.as_deref().is_some_and(|text| text != "false" && text != "0");
            Ok((to_view(tx, &listed, &viewer, detailed, &rule, rules.now)?, viewer.binds))
        })
        .await?;
    if let Some(node_id) = binds {
        hub.bind_if_shown(&node_id, &credentials).await?;
    }
    hub.usage.viewed(&hub, id);
    Ok(JsonReply::ok(fields.select(told)))
}

/// Who looks at an asset.
struct AssetViewer {
    /// May have the whole asset.
    sees_body: bool,
    /// Has shown who it is: an account, or a node by its secret.
    is_known: bool,
    /// The node whose secret was shown for the first time.
    binds: Option<String>,
}

impl AssetViewer {
    fn load(
        tx: &mut dyn Tx,
        rules: &OperationContext,
        credentials: &Credentials,
        node_id: Option<&str>,
        listed: &ListedAsset,
    ) -> ApiResult<Self> {
        let user = account::find_caller_or_none(tx, credentials, rules.now)?;
        let publisher = nodes::get(tx, &listed.asset.node_id)?;
        // Today's clients show the secret and do not say whose it is.
        let is_publisher = publisher
            .as_ref()
            .is_some_and(|node| node.presented(credentials.secret.as_deref()) == PresentedSecret::Right);
        let is_owner = match (&user, &publisher) {
            (Some(user), Some(publisher)) => account::may_act_for(user, publisher),
            _ => false,
        };
        let node = match node_id {
            Some(node_id) => authenticate_reader(tx, rules, node_id, credentials)?,
            None => None,
        };
        let has_secret = node
            .as_ref()
            .is_some_and(|node| node.presented(credentials.secret.as_deref()) == PresentedSecret::Right);
        let mut named = [publisher.as_ref(), node.as_ref()].into_iter().flatten();
        let asking = AssetReader { node: node.as_ref(), user: user.as_ref() };
        let may_have = may_have(tx, rules, asking, listed)?;
        let owed = purchase::is_owed(tx, rules, asking, listed)? && !is_publisher && !is_owner;
        Ok(Self {
            binds: named.find(|node| is_first_use(node, credentials)).map(|node| node.node_id.clone()),
            sees_body: is_publisher || is_owner || (may_have && !owed),
            is_known: !owed && (user.is_some() || is_publisher || has_secret),
        })
    }
}

fn to_view(
    tx: &mut dyn Tx,
    listed: &ListedAsset,
    viewer: &AssetViewer,
    detailed: bool,
    rule: &PromotionRule,
    now: Time,
) -> ApiResult<String> {
    let asset = &listed.asset;
    let mut more = String::new();
    let mut put = |key: &str, value: &str| {
        let comma = if more.is_empty() { "" } else { "," };
        let _to_a_string = write!(more, "{comma}\"{key}\":{value}");
    };
    put("bundle", &bundle(tx, &asset.bundle_id)?);
    let tally = scoring::consensus(tx, &asset.asset_id)?;
    put("validation", &validation(&tally, asset.traits.proof).to_string());
    let score = gdi(&scoring::evidence(tx, asset, now)?);
    put("gdi", &view::round_numbers(serde_json::to_value(&score).unwrap_or_default()).to_string());
    let siblings = match &asset.traits.chain_id {
        Some(chain) => list::chain(tx, chain, asset.seq, MAX)?,
        None => Vec::new(),
    };
    put("chain_siblings", &view::array(&siblings.iter().map(view::row).collect::<Vec<_>>()));
    put("audit_trail", &changes(tx, listed, LATEST_CHANGES)?.to_string());
    if asset.status == AssetStatus::Candidate {
        let obstacles = promotion::list_obstacles(tx, asset, rule, now)?;
        put(
            "why_not_promoted",
            &view::round_numbers(serde_json::to_value(&obstacles).unwrap_or_default()).to_string(),
        );
    }
    if viewer.is_known || viewer.sees_body && !asset.status.is_distributed() {
        put("bundle_events", &events(tx, listed)?);
    }
    if detailed {
        let body = match viewer.sees_body {
            true => list::bodies(tx, &[asset.seq])?.remove(&asset.seq),
            false => None,
        };
        put("payload", body.as_deref().unwrap_or("null"));
        if !viewer.sees_body {
            let why = match asset.status.is_distributed() {
                true => "The whole of it has a price on this hub; POST /a2a/fetch buys it.",
                false => {
                    "Only its publisher, its owner, its validators, whoever it was handed in to and admins see the \
                     whole of an asset that is not promoted."
                }
            };
            put("payload_withheld", &quoted(why));
        }
    }
    Ok(view::row_with(listed, &more))
}

/// The bundle that an asset first came in, with the rows of its assets.
fn bundle(tx: &mut dyn Tx, bundle_id: &str) -> ApiResult<String> {
    let Some(bundle) = list::bundle(tx, bundle_id)? else { return Ok("null".to_owned()) };
    let ids: Vec<AssetId> =
        [Some(bundle.gene), Some(bundle.capsule), bundle.event].into_iter().flatten().collect();
    let known = list::by_id(tx, &ids)?;
    let part = |id: Option<AssetId>| {
        let found = known.iter().find(|listed| Some(listed.asset.asset_id) == id);
        found.map_or_else(|| "null".to_owned(), view::row)
    };
    Ok(format!(
        "{{\"bundle_id\":{},\"gene\":{},\"capsule\":{},\"event\":{}}}",
        quoted(&bundle.bundle_id),
        part(Some(bundle.gene)),
        part(Some(bundle.capsule)),
        part(bundle.event)
    ))
}

/// The events of all bundles that an asset is in, as they were published.
fn events(tx: &mut dyn Tx, listed: &ListedAsset) -> ApiResult<String> {
    let bundles = list::bundles_of(tx, &listed.asset.asset_id, MAX)?;
    let ids: Vec<AssetId> = bundles.into_iter().filter_map(|bundle| bundle.event).collect();
    let seqs: Vec<i64> = list::by_id(tx, &ids)?.iter().map(|event| event.asset.seq).collect();
    let mut bodies = list::bodies(tx, &seqs)?;
    let bodies: Vec<String> = seqs.iter().filter_map(|seq| bodies.remove(seq)).collect();
    Ok(view::array(&bodies))
}

/// The latest changes of state, oldest first. That it was published is known from the asset itself.
fn changes(tx: &mut dyn Tx, listed: &ListedAsset, most: i64) -> ApiResult<Value> {
    let asset = &listed.asset;
    let mut entries = audit::newest(tx, "asset", &asset.asset_id.to_string(), most)?;
    if (entries.len() as i64) < most && !entries.iter().any(|entry| entry.action == "publish") {
        let published = AuditEntry {
            at: asset.created_at,
            actor: format!("node:{}", asset.node_id),
            action: "publish".to_owned(),
            before: None,
            after: Some(AssetStatus::Candidate.as_str().to_owned()),
            reason: None,
        };
        entries.insert(0, published);
    }
    let told = entries.into_iter().map(|entry| {
        json!({ "at": Time(entry.at).iso(), "actor": entry.actor, "action": entry.action, "before": entry.before,
            "after": entry.after, "reason": entry.reason })
    });
    Ok(told.collect())
}

/// Every change of an asset's state, by whom and why.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/audit-trail", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = crate::http::openapi::assets::AuditTrail), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn audit_trail(State(hub): State<SharedHub>, PathId(id): PathId) -> ApiResult<JsonReply> {
    let id = id_in_path(&id)?;
    let trail = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let listed = list::by_id(tx, &[id])?.pop().ok_or_else(not_found)?;
            changes(tx, &listed, MAX_CHANGES)
        })
        .await?;
    let count = trail.as_array().map_or(0, Vec::len);
    Ok(JsonReply::json(&json!({ "asset_id": id, "audit_trail": trail, "count": count })))
}

/// Computes an asset's id again from what is kept.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/verify", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = crate::http::openapi::assets::AssetVerified), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn verify(State(hub): State<SharedHub>, PathId(id): PathId) -> ApiResult<JsonReply> {
    let id = id_in_path(&id)?;
    let body = hub
        .store
        .read::<_, ApiError, _>(move |tx| Ok(capsid_store::assets::body(tx, &id)?))
        .await?
        .ok_or_else(not_found)?;
    let object: capsid_model::Object = crate::http::json::read(&body, "asset")?;
    let valid = capsid_rules::assets::traits::id_holds(&body, &object, &id.to_string());
    let computed = asset::asset_id(&object);
    // An id may leave out what clients disagree on. Then the hash of the whole is another, and the id still holds.
    let told = if valid { id.to_string() } else { computed.clone() };
    Ok(JsonReply::json(
        &json!({ "asset_id": id, "computed_asset_id": told, "content_hash": computed, "valid": valid }),
    ))
}

/// What others say of an asset, and what its own validation proves.
fn validation(tally: &ConsensusTally, proof: ProofLevel) -> Value {
    let mut told = view::consensus(tally);
    told["consensus"] = json!(tally.verdict);
    told["label"] = proof.as_str().into();
    told
}
