//! What a publish would answer, without keeping anything.

use super::bundle::{
    AssetIdCheck, CheckedBundle, PublishRequest, PublishWarning, SAFETY_WARNING, check_bundle, check_ids,
    filled_assets,
};
use crate::auth::message::Message;
use crate::error::{ApiError, ApiResult, ErrorCorrection, FieldError};
use crate::http::envelope::A2aResponse;
use crate::http::json;
use crate::state::SharedHub;
use capsid_model::Object;
use capsid_rules::lifecycle::AssetStatus;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What a publish would answer.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct DryRunResponse {
    dry_run: bool,
    estimated_fee: i64,
    computed_assets: Vec<AssetIdCheck>,
    /// The assets with their ids and the links between them filled in, ready to be published; only where an id is
    /// missing or wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<BTreeMap<String, Value>>, required = false)]
    assets: Option<Vec<Object>>,
    valid: bool,
    /// The same as `valid`.
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    computed_bundle_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<PublishWarning>, required = false)]
    warnings: Option<Vec<PublishWarning>>,
    /// Why it would not be accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    reason: Option<String>,
    /// Why the quality gate would not let it pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, required = false)]
    problems: Option<Vec<String>>,
    /// A text that looks dangerous.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    content_safety_warning: Option<Option<String>>,
    /// The code of the refusal, where a publish would be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ErrorCorrection, required = false)]
    correction: Option<ErrorCorrection>,
    /// The fields that are wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    details: Vec<FieldError>,
    /// More about the refusal.
    #[serde(flatten)]
    #[schema(value_type = BTreeMap<String, Value>)]
    extra: Map<String, Value>,
}

impl DryRunResponse {
    fn accept(self, checked: CheckedBundle) -> Self {
        let is_valid = checked.bundle.status == AssetStatus::Candidate;
        let unsafe_text = checked.warnings.iter().find(|warning| warning.code == SAFETY_WARNING);
        let unsafe_text = unsafe_text.map(|warning| warning.text.clone());
        Self {
            valid: is_valid,
            ok: is_valid,
            computed_bundle_id: Some(checked.bundle.bundle_id),
            warnings: Some(checked.warnings),
            reason: checked.bundle.reason.filter(|_| !is_valid),
            problems: (!is_valid).then_some(checked.faults),
            content_safety_warning: Some(unsafe_text),
            ..self
        }
    }

    fn refuse(self, error: ApiError) -> Self {
        Self {
            reason: Some(error.code.as_str().to_owned()),
            error: Some(error.code.as_str()),
            correction: Some(error.correction()),
            details: error.details,
            extra: error.extra,
            ..self
        }
    }
}

/// Answers what a publish would answer, and keeps nothing.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id()))]
pub async fn dry_run(hub: &SharedHub, message: &Message<'_>) -> ApiResult<A2aResponse<DryRunResponse>> {
    // Anybody may rehearse in any name. Whoever shows a secret is taken by its word.
    if message.sender.credentials().secret.is_some() {
        message.sender.verify(hub).await?;
    }
    let request: PublishRequest<'_> = message.payload()?;
    let computed_assets = check_ids(&request)?;
    let assets = filled_assets(&request, &computed_assets)?;
    // Whoever sends no ids asks for them; the rest of the bundle is then checked as it would be published.
    let response = match &assets {
        Some(filled) if !computed_assets.iter().any(AssetIdCheck::has_claim) => {
            let text = serde_json::to_string(&FilledBundle { assets: filled })
                .map_err(ApiError::not_serializable)?;
            let filled: PublishRequest<'_> = json::read(&text, "payload")?;
            let computed = check_ids(&filled)?.into_iter().map(AssetIdCheck::without_claim).collect();
            check(hub, &filled, computed)
        }
        _ => check(hub, &request, computed_assets),
    };
    Ok(hub.answer("validate").wrap(DryRunResponse { assets, ..response }))
}

/// A bundle whose ids the hub filled in.
#[derive(Serialize)]
struct FilledBundle<'a> {
    assets: &'a [Object],
}

fn check(
    hub: &SharedHub,
    request: &PublishRequest<'_>,
    computed_assets: Vec<AssetIdCheck>,
) -> DryRunResponse {
    let response = DryRunResponse { dry_run: true, computed_assets, ..DryRunResponse::default() };
    let (policy, receipt) = (hub.config.command_policy(), hub.new_id("rcpt"));
    match check_bundle(request, &policy, hub.config.quotas.asset_bytes, receipt) {
        Ok(checked) => response.accept(checked),
        Err(error) => response.refuse(error),
    }
}
