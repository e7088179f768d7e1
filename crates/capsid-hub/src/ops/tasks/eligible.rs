//! How many nodes may take a task.

use super::find;
use super::list::number_or;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use capsid_store::db::tx::Tx;
use capsid_store::nodes;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::list as task_list;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// For what the nodes are counted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EligibleNodesParams {
    /// The task.
    task_id: Option<String>,
    /// Or a reputation, where there is no task.
    #[param(value_type = Option<f64>)]
    min_reputation: Option<String>,
}

/// How many nodes may take a task, or have a reputation.
#[derive(Debug, Serialize, ToSchema)]
pub struct EligibleNodesResponse {
    #[schema(required)]
    task_id: Option<String>,
    min_reputation: f64,
    eligible_count: i64,
}

/// Counts the nodes that may take a task, or have a reputation.
#[tracing::instrument(skip_all, fields(task.id = params.task_id.as_deref().map(traced_id)))]
pub async fn count_eligible_nodes(
    hub: &SharedHub,
    credentials: &Credentials,
    params: EligibleNodesParams,
) -> ApiResult<EligibleNodesResponse> {
    hub.limit_reads(credentials).await?;
    let reputation = number_or(params.min_reputation.as_deref(), "min_reputation")?.unwrap_or_default();
    let (task_id, tiers) = (params.task_id.filter(|id| !id.is_empty()), hub.config.work.model_tiers.clone());
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let task = task_id.as_deref().map(|id| find(tx, id)).transpose()?;
            let least = task.as_ref().map_or(reputation, |task| task.min_reputation);
            let eligible_count = count(tx, task.as_ref(), least, &tiers)?;
            let task_id = task.map(|task| task.task_id);
            Ok(EligibleNodesResponse { task_id, min_reputation: rounded(least), eligible_count })
        })
        .await
}

fn count(tx: &mut dyn Tx, task: Option<&TaskRow>, least: f64, tiers: &[(String, i64)]) -> ApiResult<i64> {
    let fits = |model: Option<&str>| task.is_none_or(|task| task.allows_model(model, tiers));
    if let Some(only) = task.and_then(|task| task.reserved_for.as_deref()) {
        let Some(node) = nodes::get(tx, only)? else { return Ok(0) };
        let model = nodes::model(tx, only)?;
        return Ok(i64::from(node.status == "active" && node.reputation >= least && fits(model.as_deref())));
    }
    let by_model = task_list::nodes_by_model(tx, least)?;
    Ok(by_model.iter().filter(|(model, _)| fits(model.as_deref())).map(|(_, count)| count).sum())
}
