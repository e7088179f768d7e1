//! `POST /a2a/publish` and `POST /a2a/validate`: a gene and a capsule together, for real or as a rehearsal.

use crate::auth::credentials::Credentials;
use crate::auth::idempotency::{authenticate_and_limit, parse_envelope, run_idempotent};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor::unhex;
use crate::http::envelope::{JsonReply, ResponseEnvelope};
use crate::http::json::JsonText;
use crate::ops::assets::bundle;
use crate::ops::assets::bundle::{CheckedBundle, PublishRequest};
use crate::state::{Hub, SharedHub};
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::assets::bundle::signed_text;
use capsid_rules::credits;
use capsid_rules::identity::secrets::SecretState;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::nodes::NodeRow;
use capsid_store::registry::publish;
use capsid_store::registry::publish::{PublishOutcome, PublishedAsset};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;

/// Publishes a bundle.
///
/// `payload.assets` holds one Gene, one Capsule and perhaps one EvolutionEvent. Each id is computed again. The bundle
/// enters as a candidate and is promoted once another owner's node has reproduced it.
#[utoipa::path(post, path = "/a2a/publish", tag = "messages", request_body = crate::http::openapi::A2aMessage,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn publish(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let limit = ("publish", hub.config.limits.publish);
    let envelope = authenticate_and_limit(&hub, &text, &["publish"], &credentials, limit).await?;
    let submission = Submission::read(&hub, &envelope.payload()?, &credentials)?;
    let reply = run_idempotent(&hub, &envelope, "/a2a/publish", &text, credentials, move |tx, node| {
        submission.publish_bundle(tx, node)
    })
    .await?;
    hub.indexer.published(&hub);
    Ok(reply)
}

/// Says what a publish would say, and keeps nothing.
#[utoipa::path(post, path = "/a2a/validate", tag = "messages", request_body = crate::http::openapi::A2aMessage,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn validate(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let envelope = parse_envelope(&hub, &text, &["validate", "publish"])?;
    let shown = credentials.or_secret(envelope.node_secret.as_deref());
    // Anybody may rehearse in any name. Whoever shows a secret is taken by its word.
    if shown.secret.is_some() {
        hub.authenticate_reader(&envelope.sender_id, &shown, |_, _| Ok(())).await?;
    }
    let payload: PublishRequest<'_> = envelope.payload()?;
    let ids = bundle::check_ids(&payload)?;
    let mut answer = Map::new();
    answer.insert("dry_run".to_owned(), true.into());
    answer.insert("estimated_fee".to_owned(), 0.into());
    let computed = ids.iter().map(|checked| {
        json!({ "type": checked.asset_type, "computed_asset_id": checked.computed,
            "claimed_asset_id": checked.claimed, "match": checked.matches })
    });
    answer.insert("computed_assets".to_owned(), computed.collect());
    match bundle::read(&payload, &hub.config.command_policy(), hub.new_id("rcpt")) {
        Ok(publication) => rehearse(&publication, &mut answer),
        Err(error) => refuse(&error, &mut answer),
    }
    Ok(JsonReply::ok(hub.answer("validate").render(&answer)))
}

fn rehearse(publication: &CheckedBundle, answer: &mut Map<String, Value>) {
    let bundle = &publication.bundle;
    let valid = bundle.status == AssetStatus::Candidate;
    answer.insert("valid".to_owned(), valid.into());
    answer.insert("ok".to_owned(), valid.into());
    answer.insert("computed_bundle_id".to_owned(), bundle.bundle_id.clone().into());
    answer.insert("warnings".to_owned(), publication.warnings.clone().into());
    if !valid {
        answer.insert("reason".to_owned(), bundle.reason.clone().into());
        answer.insert("problems".to_owned(), publication.faults.clone().into());
    }
    let unsafe_text = publication.warnings.iter().find(|warning| warning["code"] == "content_safety_warning");
    answer
        .insert("content_safety_warning".to_owned(), unsafe_text.map_or(Value::Null, |w| w["text"].clone()));
}

fn refuse(error: &ApiError, answer: &mut Map<String, Value>) {
    answer.insert("valid".to_owned(), false.into());
    answer.insert("ok".to_owned(), false.into());
    answer.insert("reason".to_owned(), error.code.as_str().into());
    if let Value::Object(body) = error.body() {
        answer.extend(body);
    }
}

/// A bundle on its way into the store.
pub struct Submission {
    publication: CheckedBundle,
    /// A signature and the key that it must be made with.
    signature: Option<(String, Option<String>)>,
    answer: ResponseEnvelope,
    now: Time,
}

impl Submission {
    /// Reads and checks a payload.
    pub fn read(hub: &Hub, payload: &PublishRequest<'_>, credentials: &Credentials) -> ApiResult<Self> {
        let publication = bundle::read(payload, &hub.config.command_policy(), hub.new_id("rcpt"))?;
        let signature = payload.signature.clone().map(|signature| (signature, credentials.secret.clone()));
        Ok(Self { publication, signature, answer: hub.answer("decision"), now: hub.now() })
    }

    /// Keeps the bundle in the name of a node, and says what became of it.
    pub fn publish_bundle(&self, tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<JsonReply> {
        self.check_signature(node)?;
        may_publish(node, self.now)?;
        let published = publish::publish(tx, node, &self.publication.bundle, self.now)?;
        let payload = self.to_response(tx, node, &published)?;
        Ok(JsonReply::ok(self.answer.render(&payload)))
    }

    /// A signature counts once the node's secret is proven to be known; before that anybody could make one.
    fn check_signature(&self, node: &NodeRow) -> ApiResult<()> {
        let Some((signature, Some(secret))) = &self.signature else { return Ok(()) };
        if node.secret_state != SecretState::Bound {
            return Ok(());
        }
        let bundle = &self.publication.bundle;
        let signed = signed_text(&bundle.gene.asset_id.to_string(), &bundle.capsule.asset_id.to_string());
        let holds = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).is_ok_and(|mut mac| {
            mac.update(signed.as_bytes());
            unhex(signature).is_some_and(|signature| mac.verify_slice(&signature).is_ok())
        });
        match holds {
            true => Ok(()),
            false => Err(ApiError::new(
                HubCode::SignatureInvalid,
                "`payload.signature` was not made with the node's secret over the ids of gene and capsule.",
                "Sign `sorted([gene_id, capsule_id]).join(\"|\")` with HMAC-SHA256 and the node's secret, or leave the \
                 signature out.",
            )),
        }
    }

    fn to_response(
        &self,
        tx: &mut dyn Tx,
        node: &NodeRow,
        published: &PublishOutcome,
    ) -> ApiResult<Map<String, Value>> {
        let own = &self.publication.bundle;
        let (status, reason, receipt, assets) = match published {
            PublishOutcome::OfAnother => return Err(duplicate_asset_error()),
            PublishOutcome::Revoked(id) => return Err(revoked(id)),
            PublishOutcome::Already { status, receipt_id, assets } => {
                (status, own.reason.clone(), receipt_id, assets)
            }
            PublishOutcome::Kept { status, reason, assets, .. } => {
                (status, reason.clone(), &own.receipt_id, assets)
            }
        };
        let known = matches!(published, PublishOutcome::Already { .. });
        let (word, decision, reason) = match status {
            AssetStatus::Rejected => ("rejected", "reject", reason),
            AssetStatus::Quarantined => ("quarantined", "quarantine", reason),
            _ if known => ("published", "accept", Some("already_published".to_owned())),
            _ => ("accepted", "accept", reason),
        };
        let mut payload = Map::new();
        let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
        put("status", word.into());
        put("decision", decision.into());
        if let Some(reason) = reason {
            put("reason", reason.into());
        }
        if !self.publication.faults.is_empty() {
            put("problems", self.publication.faults.clone().into());
        }
        put("bundle_id", self.publication.bundle.bundle_id.clone().into());
        put("receipt_id", receipt.clone().into());
        put("asset_ids", assets.iter().map(|asset| Value::from(asset.asset_id.to_string())).collect());
        put("assets", assets.iter().map(to_view).collect());
        if let Some(capsule) = assets.iter().find(|asset| asset.asset_type == AssetType::Capsule) {
            put("gdi", dimensions(capsule));
        }
        let balance = ledger::balance(tx, &ledger::node_account(&node.node_id))?;
        put("credits", json!({ "charged": 0, "available": credits::to_decimal(balance) }));
        put("warnings", self.warnings(published).into());
        Ok(payload)
    }

    fn warnings(&self, published: &PublishOutcome) -> Vec<Value> {
        let mut warnings = self.publication.warnings.clone();
        if let PublishOutcome::Kept { similar: Some((id, likeness)), .. } = published {
            warnings.push(json!({ "code": "similarity_warning", "similar_to": id, "likeness": likeness,
                "text": format!("It is much like {id}.") }));
        }
        warnings
    }
}

/// An asset of the bundle, with its state and its score as they are in the store, which may have known it before.
fn to_view(asset: &PublishedAsset) -> Value {
    json!({ "asset_id": asset.asset_id, "type": asset.asset_type.as_str(), "status": asset.status.as_str(),
        "gdi_score": asset.gdi as f64 / 100.0 })
}

fn dimensions(capsule: &PublishedAsset) -> Value {
    let [mean, intrinsic, usage, social, freshness] = capsule.parts;
    json!({ "score": capsule.gdi as f64 / 100.0, "mean": mean, "intrinsic": intrinsic, "usage": usage,
        "social": social, "freshness": freshness })
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

fn duplicate_asset_error() -> ApiError {
    ApiError::new(
        HubCode::DuplicateAsset,
        "Another node has published this capsule.",
        "Fetch and reuse it, or publish what you did differently.",
    )
}

fn revoked(id: &AssetId) -> ApiError {
    ApiError::new(
        HubCode::AssetRevoked,
        format!("{id} was withdrawn by its publisher and cannot come back."),
        "Publish a changed asset; it gets an id of its own.",
    )
}
