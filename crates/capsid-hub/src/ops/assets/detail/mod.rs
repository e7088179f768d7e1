//! All that is known of one asset.

mod runner_result;
pub mod scan_view;

use self::runner_result::RunnerResultView;
use self::scan_view::ScanView;
use super::audit_trail::{StateChangeView, list_changes};
use super::id_in_path;
use super::purchase;
use super::revoke::not_found;
use super::view::{AssetView, ConsensusWeight, FieldSelection, Selected, rounded};
use super::visibility::{AssetReader, may_have};
use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::check_node_id;
use crate::http::json::stored_json;
use crate::http::traced_id;
use crate::state::SharedHub;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_rules::evaluation::consensus::{ConsensusTally, ConsensusVerdict};
use capsid_rules::evaluation::gdi::{Gdi, gdi};
use capsid_rules::evaluation::promotion::{PromotionObstacle, PromotionRule};
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::identity::secrets::PresentedSecret;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::assets::scans;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::evidence::validation;
use capsid_store::evaluation::owners::audits;
use capsid_store::evaluation::{promotion, scoring};
use capsid_store::nodes::{self, NodeRow};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

/// How many bundles and siblings are shown at most.
const MAX: usize = 20;
/// How many changes of state are shown.
const LATEST_CHANGES: i64 = 50;

/// How much is shown.
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

/// All that is known of an asset.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetDetail)]
pub struct AssetDetailView {
    #[serde(flatten)]
    asset: AssetView,
    /// The bundle that it first came in.
    #[schema(required)]
    bundle: Option<BundleView>,
    validation: AssetValidationView,
    /// The last scan of its texts.
    #[schema(required)]
    scan: Option<ScanView>,
    gdi: Gdi,
    /// What the hub's runner found, where it ran the commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RunnerResultView, required = false)]
    runner: Option<RunnerResultView>,
    chain_siblings: Vec<AssetView>,
    /// The latest changes of state, oldest first.
    audit_trail: Vec<StateChangeView>,
    /// What stands between a candidate and its promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<PromotionObstacle>, required = false)]
    why_not_promoted: Option<Vec<PromotionObstacle>>,
    /// How it came about, for whoever has shown who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<BTreeMap<String, Value>>, required = false)]
    bundle_events: Option<Vec<Box<RawValue>>>,
    /// The whole asset as it was published, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, Value>>, required = false)]
    payload: Option<Option<Box<RawValue>>>,
    /// Why the whole asset is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    payload_withheld: Option<&'static str>,
}

/// The assets of a bundle.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetBundle)]
pub struct BundleView {
    bundle_id: String,
    #[schema(required)]
    gene: Option<AssetView>,
    #[schema(required)]
    capsule: Option<AssetView>,
    #[schema(required)]
    event: Option<AssetView>,
    /// The publisher's public key, where it signed the bundle: Ed25519, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    signed_by: Option<String>,
}

/// What others say of an asset, and what its own validation proves.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetValidation)]
pub struct AssetValidationView {
    passes: i64,
    fails: i64,
    total: i64,
    weight: ConsensusWeight,
    verdict: ConsensusVerdict,
    /// The same as `verdict`.
    consensus: ConsensusVerdict,
    label: ProofLevel,
}

/// All that is known of an asset.
///
/// The whole asset of a candidate is shown only to its publisher, its owner, an admin, the nodes that are to validate
/// it, and whoever it was handed in to.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id)))]
pub async fn asset_detail(
    hub: &SharedHub,
    credentials: &Credentials,
    id: &str,
    params: GetAssetParams,
) -> ApiResult<Selected<AssetDetailView>> {
    hub.limit_reads(credentials).await?;
    let id = id_in_path(id)?;
    if let Some(node_id) = &params.node_id {
        check_node_id(node_id, "node_id")?;
    }
    let fields = FieldSelection::parse(params.fields.as_deref());
    let (context, rule) = (hub.context(), hub.config.promotion.rule);
    let by = credentials.clone();
    let (detail, shows) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let listed = match list::by_id(tx, &[id])?.pop() {
                Some(listed) => listed,
                None => audits::show(tx, &id)?.ok_or_else(not_found)?,
            };
            let viewer = AssetViewer::load(tx, &context, &by, params.node_id.as_deref(), &listed)?;
            let detailed = params.detailed.as_deref().is_some_and(|text| text != "false" && text != "0");
            Ok((load_detail(tx, &context, &listed, &viewer, detailed, &rule)?, viewer.shows))
        })
        .await?;
    if let Some(node_id) = shows {
        Sender::new(node_id, credentials.clone()).note_secret_use(hub).await?;
    }
    hub.usage.viewed(id);
    fields.select(detail)
}

/// Who looks at an asset.
struct AssetViewer {
    /// May have the whole asset.
    sees_body: bool,
    /// Has shown who it is: an account, or a node by its secret.
    is_known: bool,
    /// The node whose secret was shown, where that has to be noted.
    shows: Option<String>,
}

impl AssetViewer {
    fn load(
        tx: &mut dyn Tx,
        context: &OperationContext,
        credentials: &Credentials,
        node_id: Option<&str>,
        listed: &ListedAsset,
    ) -> ApiResult<Self> {
        let user = account::find_caller_or_none(tx, credentials, context.now)?;
        let publisher = nodes::get(tx, &listed.asset.node_id)?;
        let is_owner = match (&user, &publisher) {
            (Some(user), Some(publisher)) => account::may_act_for(user, publisher),
            _ => false,
        };
        let node = match node_id {
            Some(node_id) => Sender::new(node_id, credentials.clone()).find(tx, context)?,
            None => None,
        };
        let shows_secret = |node: &NodeRow| credentials.presented_to(node) == PresentedSecret::Right;
        let has_secret = node.as_ref().is_some_and(shows_secret);
        // Today's clients show the secret and do not name its node. A secret is that of one node alone.
        let is_publisher = match &node {
            Some(node) if has_secret => node.node_id == listed.asset.node_id,
            _ => publisher.as_ref().is_some_and(shows_secret),
        };
        let mut named = [publisher.as_ref(), node.as_ref()].into_iter().flatten();
        let asking = AssetReader { node: node.as_ref(), user: user.as_ref() };
        let may_have = may_have(tx, context, asking, listed)?;
        let owed = purchase::is_owed(tx, context, asking, listed)? && !is_publisher && !is_owner;
        Ok(Self {
            shows: named
                .find(|node| credentials.is_use_to_note(node, context.now))
                .map(|node| node.node_id.clone()),
            sees_body: is_publisher || is_owner || (may_have && !owed),
            is_known: !owed && (user.is_some() || is_publisher || has_secret),
        })
    }
}

fn load_detail(
    tx: &mut dyn Tx,
    context: &OperationContext,
    listed: &ListedAsset,
    viewer: &AssetViewer,
    detailed: bool,
    rule: &PromotionRule,
) -> ApiResult<AssetDetailView> {
    let (asset, now) = (&listed.asset, context.now);
    let siblings = match &asset.traits.chain_id {
        Some(chain) => list::chain(tx, chain, asset.seq, MAX)?,
        None => Vec::new(),
    };
    let tally = scoring::consensus(tx, &asset.asset_id)?;
    let mut detail = AssetDetailView {
        asset: AssetView::new(listed),
        bundle: load_bundle(tx, listed)?,
        validation: AssetValidationView::new(&tally, validation::load_proof(tx, asset)?),
        scan: load_scan(tx, &asset.asset_id)?,
        gdi: round_gdi(gdi(&scoring::evidence(tx, asset, now)?, &tx.trust().belief)),
        runner: RunnerResultView::find(tx, &asset.asset_id)?,
        chain_siblings: siblings.iter().map(AssetView::new).collect(),
        audit_trail: list_changes(tx, listed, LATEST_CHANGES)?,
        why_not_promoted: None,
        bundle_events: None,
        payload: None,
        payload_withheld: None,
    };
    if asset.status == AssetStatus::Candidate {
        let obstacles = promotion::list_obstacles(tx, asset, rule, now)?.into_iter();
        let obstacles = obstacles.map(|obstacle| PromotionObstacle {
            have: rounded(obstacle.have),
            need: rounded(obstacle.need),
            ..obstacle
        });
        detail.why_not_promoted = Some(obstacles.collect());
    }
    if viewer.is_known || viewer.sees_body && !asset.status.is_distributed() {
        detail.bundle_events = Some(load_events(tx, listed)?);
    }
    if detailed {
        let body = match viewer.sees_body {
            true => match list::bodies(tx, &[asset.seq])?.remove(&asset.seq) {
                Some(body) => Some(body),
                None => audits::find(tx, &asset.asset_id)?.map(|audit| audit.body),
            },
            false => None,
        };
        detail.payload = Some(body.map(stored_json).transpose()?);
        detail.payload_withheld = (!viewer.sees_body).then_some(match asset.status.is_distributed() {
            _ if !asset.is_scanned() => "Its texts are being scanned; look again in a minute.",
            true => "The whole of it has a price on this hub; POST /a2a/fetch buys it.",
            false => {
                "Only its publisher, its owner, its validators, whoever it was handed in to and admins see the \
                 whole of an asset that is not promoted."
            }
        });
    }
    Ok(detail)
}

impl AssetValidationView {
    fn new(tally: &ConsensusTally, proof: ProofLevel) -> Self {
        Self {
            passes: tally.passed as i64,
            fails: tally.failed() as i64,
            total: tally.counted as i64,
            weight: ConsensusWeight { passes: tally.passes, fails: tally.fails },
            verdict: tally.verdict,
            consensus: tally.verdict,
            label: proof,
        }
    }
}

/// A score as people read it.
fn round_gdi(mut gdi: Gdi) -> Gdi {
    for number in [
        &mut gdi.score,
        &mut gdi.mean,
        &mut gdi.intrinsic,
        &mut gdi.usage,
        &mut gdi.social,
        &mut gdi.freshness,
    ] {
        *number = rounded(*number);
    }
    (gdi.beliefs.validated, gdi.beliefs.used) = (rounded(gdi.beliefs.validated), rounded(gdi.beliefs.used));
    for part in &mut gdi.parts {
        (part.value, part.lower, part.weight) =
            (rounded(part.value), rounded(part.lower), rounded(part.weight));
    }
    gdi
}

/// The last scan of an asset; of an audit that of its original.
fn load_scan(tx: &mut dyn Tx, id: &AssetId) -> ApiResult<Option<ScanView>> {
    let scan = match scans::get(tx, id)? {
        Some(scan) => Some(scan),
        None => match audits::find(tx, id)? {
            Some(audit) => scans::get(tx, &audit.original)?,
            None => None,
        },
    };
    Ok(scan.map(ScanView::from))
}

/// The bundle that an asset first came in, with the rows of its assets.
fn load_bundle(tx: &mut dyn Tx, listed: &ListedAsset) -> ApiResult<Option<BundleView>> {
    let Some(bundle) = list::bundle(tx, &listed.asset.bundle_id)? else {
        return load_audit_bundle(tx, listed);
    };
    let ids: Vec<AssetId> =
        [Some(bundle.gene), Some(bundle.capsule), bundle.event].into_iter().flatten().collect();
    let known = list::by_id(tx, &ids)?;
    let part = |id: Option<AssetId>| {
        known.iter().find(|listed| Some(listed.asset.asset_id) == id).map(AssetView::new)
    };
    Ok(Some(BundleView {
        gene: part(Some(bundle.gene)),
        capsule: part(Some(bundle.capsule)),
        event: part(bundle.event),
        signed_by: bundle.signed_by.map(|key| STANDARD.encode(key)),
        bundle_id: bundle.bundle_id,
    }))
}

/// The bundle of an audit: its capsule and the gene that the original came with.
fn load_audit_bundle(tx: &mut dyn Tx, listed: &ListedAsset) -> ApiResult<Option<BundleView>> {
    let Some(gene) = audits::gene_of(tx, &listed.asset.asset_id)? else { return Ok(None) };
    Ok(Some(BundleView {
        gene: list::by_id(tx, &[gene])?.first().map(AssetView::new),
        capsule: Some(AssetView::new(listed)),
        event: None,
        signed_by: None,
        bundle_id: listed.asset.bundle_id.clone(),
    }))
}

/// The events of all bundles that an asset is in, as they were published.
fn load_events(tx: &mut dyn Tx, listed: &ListedAsset) -> ApiResult<Vec<Box<RawValue>>> {
    let bundles = list::bundles_of(tx, &listed.asset.asset_id, MAX)?;
    let ids: Vec<AssetId> = bundles.into_iter().filter_map(|bundle| bundle.event).collect();
    let events = list::by_id(tx, &ids)?;
    let scanned = events.iter().filter(|event| event.asset.is_scanned());
    let seqs: Vec<i64> = scanned.map(|event| event.asset.seq).collect();
    let mut bodies = list::bodies(tx, &seqs)?;
    seqs.iter().filter_map(|seq| bodies.remove(seq)).map(stored_json).collect()
}
