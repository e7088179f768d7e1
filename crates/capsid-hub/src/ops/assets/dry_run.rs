//! What a publish would answer, without keeping anything.

use super::bundle::{
    AssetIdCheck, CheckedBundle, PublishRequest, PublishWarning, SAFETY_WARNING, check_bundle, check_ids,
};
use crate::auth::message::Message;
use crate::error::{ApiError, ApiResult, ErrorCorrection, FieldError};
use crate::http::envelope::A2aResponse;
use crate::state::SharedHub;
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
    let response = DryRunResponse { dry_run: true, computed_assets, ..DryRunResponse::default() };
    let response = match check_bundle(
        &request,
        &hub.config.command_policy(),
        hub.config.quotas.asset_bytes,
        hub.new_id("rcpt"),
    ) {
        Ok(checked) => response.accept(checked),
        Err(error) => response.refuse(error),
    };
    Ok(hub.answer("validate").wrap(response))
}
