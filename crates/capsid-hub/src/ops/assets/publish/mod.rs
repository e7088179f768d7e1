//! Publishing a gene and a capsule together.

mod call;
pub mod load;
mod publish_policy;
mod receipt;

use self::call::PublishCall;
use self::publish_policy::PublishPolicy;
use self::receipt::PublishReceipt;
use super::bundle::{CheckedBundle, PublishRequest, PublishWarning, check_bundle};
use crate::auth::idempotency::Idempotent;
use crate::auth::message::Message;
use crate::auth::public_key::{is_signed_by, read_bytes};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, ErrorCorrection, HubCode};
use crate::http::cursor::unhex;
use crate::state::{Hub, SharedHub};
use capsid_model::time::Time;
use capsid_rules::assets::bundle::signed_text;
use capsid_rules::credits;
use capsid_rules::identity::secrets::{PresentedSecret, SecretState};
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::nodes::NodeRow;
use capsid_store::registry::publish as store;
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde_json::Number;
use sha2::Sha256;
use utoipa::ToSchema;

/// What became of a bundle.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublishResponse {
    /// The code of the refusal, where the bundle is rejected or held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ErrorCorrection, required = false)]
    correction: Option<ErrorCorrection>,
    /// Whether the hub stores the bundle, in whatever state. Sending the same again then changes nothing.
    stored: bool,
    /// accepted, published (before), rejected or quarantined.
    status: &'static str,
    /// accept, reject or quarantine.
    decision: &'static str,
    /// Why, where there is a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub reason: Option<String>,
    /// Why the quality gate does not let it pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    problems: Vec<String>,
    bundle_id: String,
    receipt_id: String,
    #[schema(value_type = Vec<String>)]
    asset_ids: Vec<AssetId>,
    assets: Vec<PublishedAssetView>,
    /// The score of the capsule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PublishedScore, required = false)]
    gdi: Option<PublishedScore>,
    credits: PublishCredits,
    warnings: Vec<PublishWarning>,
}

/// An asset of the bundle, with its state and its score as they are in the store, which may have known it before.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublishedAssetView {
    #[schema(value_type = String)]
    asset_id: AssetId,
    r#type: AssetType,
    status: AssetStatus,
    gdi_score: f64,
}

/// A score and its four dimensions.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublishedScore {
    score: f64,
    mean: f64,
    intrinsic: f64,
    usage: f64,
    social: f64,
    freshness: f64,
}

/// What a publish costs, and what the node has.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublishCredits {
    charged: i64,
    #[schema(value_type = f64)]
    available: Number,
}

/// A bundle that was checked, on its way into the store.
#[derive(Debug)]
pub struct CheckedPublication {
    checked: CheckedBundle,
    /// A signature and the key that it must be made with.
    signature: Option<(String, Option<String>)>,
    /// A signature that must be made with the node's public key.
    key_signature: Option<String>,
}

impl CheckedPublication {
    /// Checks all that can be checked without the database. A signature is made with `secret`.
    pub fn check(hub: &Hub, request: &PublishRequest<'_>, secret: Option<&str>) -> ApiResult<Self> {
        let limit = hub.config.quotas.asset_bytes;
        let checked = check_bundle(request, &hub.config.command_policy(), limit, hub.new_id("rcpt"))?;
        let signature = request.signature.clone().map(|signature| (signature, secret.map(str::to_owned)));
        Ok(Self { checked, signature, key_signature: request.public_key_signature.clone() })
    }
}

/// Publishes a bundle. It enters as a candidate and is promoted once another owner's node has reproduced it.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id(), bundle.id))]
pub async fn publish(
    hub: &SharedHub,
    message: &Message<'_>,
    request: &PublishRequest<'_>,
) -> ApiResult<Idempotent<PublishResponse>> {
    hub.index.admit_publish().await?;
    let publication = CheckedPublication::check(hub, request, message.header.secret.as_deref())?;
    tracing::Span::current().record("bundle.id", &publication.checked.bundle.bundle_id);
    let published = PublishCall::new(hub, message, publication).run(hub).await?;
    hub.index.changed();
    Ok(published)
}

/// The part inside a transaction, for callers that have one of their own. Gives the whole response.
pub fn publish_and_respond(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    publication: &CheckedPublication,
) -> ApiResult<PublishResponse> {
    let receipt = publish_in(tx, context, node, publication, ("", context.now))?;
    Ok(PublishResponse::new(&publication.checked, &receipt))
}

/// Publishes a bundle by itself. `head` names the response: its id, and when it was made.
fn publish_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    publication: &CheckedPublication,
    head: (&str, Time),
) -> ApiResult<PublishReceipt> {
    let weak = check_signature(publication, node)?;
    let signed_by = check_key_signature(publication, node)?;
    may_publish(node, context.now)?;
    let bundle = &publication.checked.bundle;
    let policy = PublishPolicy::load(tx, context, node, bundle)?;
    policy.check_quota(tx, context, bundle)?;
    let admitted = policy.admit(context, bundle);
    let published = store::publish(tx, node, &admitted, context.now)?;
    policy.record(tx, context, node, &admitted, &published)?;
    if let Some(key) = signed_by {
        store::set_signer(tx, &bundle.bundle_id, &node.node_id, key)?;
    }
    let balance = ledger::balance(tx, &ledger::node_account(&node.node_id))?;
    PublishReceipt::new(head, bundle, published, balance, weak.is_some())
}

impl PublishResponse {
    /// Whether the bundle was stored and not let in.
    pub fn is_refused(&self) -> bool {
        self.decision != "accept"
    }

    /// Many clients look at the status alone, so a refusal has that of one.
    fn http_status(&self) -> u16 {
        if self.is_refused() { 422 } else { 200 }
    }

    fn new(checked: &CheckedBundle, receipt: &PublishReceipt) -> Self {
        let own = &checked.bundle;
        let mut warnings = checked.warnings.clone();
        warnings.extend(receipt.similar.map(|(id, likeness)| PublishWarning {
            similar_to: Some(id),
            likeness: Some(likeness),
            ..PublishWarning::new("similarity_warning", format!("It is much like {id}."))
        }));
        warnings.extend(receipt.is_signature_weak.then(weak_signature));
        let (status, reason) = (receipt.status, receipt.reason.clone());
        let (word, decision, reason) = match status {
            AssetStatus::Rejected => ("rejected", "reject", reason),
            AssetStatus::Quarantined => ("quarantined", "quarantine", reason),
            _ if receipt.is_known => ("published", "accept", Some("already_published".to_owned())),
            _ => ("accepted", "accept", reason),
        };
        let refusal = refusal(status, reason.as_deref(), &checked.faults);
        let known = [Some(&own.gene), Some(&own.capsule), own.event.as_ref()];
        let assets: Vec<PublishedAssetView> = known
            .into_iter()
            .flatten()
            .zip(&receipt.assets)
            .map(|(asset, (status, gdi))| PublishedAssetView {
                asset_id: asset.asset_id,
                r#type: asset.asset_type,
                status: *status,
                gdi_score: *gdi as f64 / 100.0,
            })
            .collect();
        let capsule = assets.iter().find(|asset| asset.r#type == AssetType::Capsule);
        Self {
            error: refusal.as_ref().map(|error| error.code.as_str()),
            correction: refusal.map(|error| error.correction()),
            stored: true,
            status: word,
            decision,
            reason,
            problems: checked.faults.clone(),
            bundle_id: own.bundle_id.clone(),
            receipt_id: receipt.receipt_id.clone(),
            asset_ids: assets.iter().map(|asset| asset.asset_id).collect(),
            gdi: capsule.map(|capsule| PublishedScore::new(capsule.gdi_score, receipt.parts)),
            assets,
            credits: PublishCredits { charged: 0, available: credits::to_decimal(receipt.balance) },
            warnings,
        }
    }
}

/// The refusal of a bundle that is stored and not let in.
fn refusal(status: AssetStatus, reason: Option<&str>, faults: &[String]) -> Option<ApiError> {
    let reason = match faults {
        [] => reason.unwrap_or("no reason is known").to_owned(),
        faults => faults.join("; "),
    };
    let changed = "Change what it names, and publish that: changed content has an id of its own.";
    match status {
        AssetStatus::Rejected => Some(ApiError::new(
            HubCode::BundleRejected,
            format!("The bundle is stored and rejected: {reason}."),
            changed,
        )),
        AssetStatus::Quarantined => Some(ApiError::new(
            HubCode::BundleQuarantined,
            format!("The bundle is stored and held back: {reason}."),
            "Wait for the operator of this hub to look at it, or publish changed content.",
        )),
        _ => None,
    }
}

impl PublishedScore {
    fn new(score: f64, [mean, intrinsic, usage, social, freshness]: [f64; 5]) -> Self {
        Self { score, mean, intrinsic, usage, social, freshness }
    }
}

fn weak_signature() -> PublishWarning {
    let text = "`payload.signature` was made with the node's id, which everybody knows. It is ignored.";
    PublishWarning::new("signature_weak", text)
}

/// A signature counts once the node's secret is proven to be known; before that anybody could make one. Some clients sign
/// with the node's id, which proves nothing; the secret that they show proves more, so their bundle is taken.
fn check_signature(publication: &CheckedPublication, node: &NodeRow) -> ApiResult<Option<PublishWarning>> {
    let Some((signature, Some(secret))) = &publication.signature else { return Ok(None) };
    if node.secret_state != SecretState::Bound {
        return Ok(None);
    }
    let bundle = &publication.checked.bundle;
    let signed = signed_text(&bundle.gene.asset_id.to_string(), &bundle.capsule.asset_id.to_string());
    let is_made_with = |key: &str| {
        Hmac::<Sha256>::new_from_slice(key.as_bytes()).is_ok_and(|mut mac| {
            mac.update(signed.as_bytes());
            unhex(signature).is_some_and(|signature| mac.verify_slice(&signature).is_ok())
        })
    };
    if is_made_with(secret) {
        return Ok(None);
    }
    if is_made_with(&node.node_id) && node.presented(Some(secret)) == PresentedSecret::Right {
        return Ok(Some(weak_signature()));
    }
    Err(ApiError::new(
        HubCode::SignatureInvalid,
        "`payload.signature` was not made with the node's secret over the ids of gene and capsule.",
        "Sign `sorted([gene_id, capsule_id]).join(\"|\")` with HMAC-SHA256 and the node's secret, or leave the \
         signature out.",
    ))
}

/// The public key of the node, where it signed the bundle.
fn check_key_signature<'n>(
    publication: &CheckedPublication,
    node: &'n NodeRow,
) -> ApiResult<Option<&'n [u8]>> {
    let Some(signature) = &publication.key_signature else { return Ok(None) };
    let bundle = &publication.checked.bundle;
    let signed = signed_text(&bundle.gene.asset_id.to_string(), &bundle.capsule.asset_id.to_string());
    let key = node.public_key.as_deref();
    let signature = read_bytes(signature);
    match (key, signature) {
        (Some(key), Some(signature)) if is_signed_by(key, &signed, &signature) => Ok(Some(key)),
        _ => Err(ApiError::new(
            HubCode::SignatureInvalid,
            "`payload.public_key_signature` was not made with the node's public key over the ids of gene and capsule.",
            "Say hello with `public_key` first, sign `sorted([gene_id, capsule_id]).join(\"|\")` with that key (Ed25519), \
             or leave the signature out.",
        )),
    }
}

fn may_publish(node: &NodeRow, now: Time) -> ApiResult<()> {
    let cooling = node.cooldown_until.filter(|until| *until > now.0);
    if node.status != "quarantined" && cooling.is_none() {
        return Ok(());
    }
    let mut error = ApiError::new(
        HubCode::NodeQuarantined,
        format!("The node {} may not publish for the time being.", node.node_id),
        "Ask the operator of this hub to release it.",
    );
    if let Some(until) = cooling {
        error = error.with("publish_cooldown_until", Time(until).iso()).retry_after(until - now.0);
    }
    Err(error)
}

/// Only what is served can be reused.
fn duplicate_asset_error(status: AssetStatus) -> ApiError {
    let fix = match status {
        AssetStatus::Promoted | AssetStatus::Stale => {
            "Fetch and reuse it, or publish what you did differently."
        }
        AssetStatus::Candidate => "Report whether it works for you, or publish what you did differently.",
        _ => "Publish what you did differently; this capsule is not served.",
    };
    ApiError::new(HubCode::DuplicateAsset, "Another node has published this capsule.", fix)
        .with("asset_status", status.as_str())
}

fn revoked(id: &AssetId) -> ApiError {
    ApiError::new(
        HubCode::AssetRevoked,
        format!("{id} was withdrawn by its publisher and cannot come back."),
        "Publish a changed asset; it gets an id of its own.",
    )
}
