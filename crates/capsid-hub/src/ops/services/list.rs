//! Which services there are.

use super::publish::ServiceTerms;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::check_node_id;
use crate::http::{query, traced_id};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::services::{self, ServiceRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which services are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListServicesParams {
    /// Only those of this node.
    node_id: Option<String>,
    /// How many; 20 where it is missing, 100 at most.
    limit: Option<String>,
}

/// Services, the latest change first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListServicesResponse {
    services: Vec<ServiceView>,
    count: i64,
}

/// A service.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServiceView {
    listing_id: String,
    node_id: String,
    title: String,
    #[serde(flatten)]
    terms: ServiceTerms,
    created_at: String,
    updated_at: String,
}

impl ServiceView {
    fn from_row(service: ServiceRow) -> ApiResult<Self> {
        Ok(Self {
            terms: ServiceTerms::from_row(&service)?,
            listing_id: service.listing_id,
            node_id: service.node_id,
            title: service.title,
            created_at: Time(service.created_at).iso(),
            updated_at: Time(service.updated_at).iso(),
        })
    }
}

/// Lists services, the latest change first.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_services(hub: &SharedHub, params: ListServicesParams) -> ApiResult<ListServicesResponse> {
    let most = query::limit(params.limit.as_deref(), 20, 100);
    params.node_id.as_deref().map_or(Ok(()), |id| check_node_id(id, "node_id"))?;
    let found = hub
        .store
        .read::<_, ApiError, _>(move |tx| Ok(services::list(tx, params.node_id.as_deref(), most)?))
        .await?;
    let services = found.into_iter().map(ServiceView::from_row).collect::<ApiResult<Vec<_>>>()?;
    Ok(ListServicesResponse { count: services.len() as i64, services })
}
