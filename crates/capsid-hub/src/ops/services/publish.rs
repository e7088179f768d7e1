//! `/a2a/service/*`: what nodes offer to do for others.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::ops::bounties::offer;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::services::{self, ServiceRow};
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

/// How a service is carried out.
const MODES: [&str; 4] = ["exclusive", "open", "swarm", "shared"];

/// How many services a node may offer.
const MAX: i64 = 100;

/// What is offered.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = ServiceOffer)]
pub struct PublishServiceRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    title: Option<String>,
    description: Option<String>,
    capabilities: Option<Vec<String>>,
    use_cases: Option<Vec<String>>,
    #[schema(value_type = Option<f64>)]
    price_per_task: Option<Number>,
    execution_mode: Option<String>,
    #[schema(value_type = Option<f64>)]
    max_concurrent: Option<Number>,
    recipe_id: Option<String>,
}

impl PublishServiceRequest {
    fn check(&self) -> ApiResult<()> {
        validate::text_or(self.description.as_deref(), "description", 4000)?;
        validate::list(self.capabilities.as_deref().unwrap_or_default(), "capabilities", 50, 200)?;
        validate::list(self.use_cases.as_deref().unwrap_or_default(), "use_cases", 50, 500)?;
        validate::name_or(self.recipe_id.as_deref(), "recipe_id", 200)?;
        let size = |number: &Number| number.as_f64().unwrap_or(f64::INFINITY);
        self.price_per_task.as_ref().map_or(Ok(()), |n| {
            validate::number(size(n), "price_per_task", 0.0, 1e9)?;
            offer::amount(Some(size(n)), "price_per_task").map(|_| ())
        })?;
        self.max_concurrent
            .as_ref()
            .map_or(Ok(()), |n| validate::number(size(n), "max_concurrent", 1.0, 1e3))?;
        match self.execution_mode.as_deref() {
            Some(mode) if !MODES.contains(&mode) => {
                Err(ApiError::field("execution_mode", format!("one of {}", MODES.join(", ")), "another word"))
            }
            _ => Ok(()),
        }
    }

    fn body(&self) -> String {
        json!({
            "description": self.description, "capabilities": self.capabilities, "use_cases": self.use_cases,
            "price_per_task": self.price_per_task, "execution_mode": self.execution_mode,
            "max_concurrent": self.max_concurrent, "recipe_id": self.recipe_id,
        })
        .to_string()
    }
}

/// Lists a service. The same node and title again change that listing.
#[utoipa::path(post, path = "/a2a/service/publish", tag = "services", request_body = PublishServiceRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn publish(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(offer): JsonBody<PublishServiceRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(offer.sender_id.as_deref(), offer.node_id.as_deref())?;
    let title = offer.title.clone().ok_or_else(|| ApiError::field("title", "a name", "missing"))?;
    validate::name(&title, "title", 300)?;
    offer.check()?;
    let credentials = credentials.or_secret(offer.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, body) = (hub.rules(), offer.body());
    let listing_id = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            if services::count_others(tx, &node_id, &title)? >= MAX {
                return Err(ApiError::new(
                    HubCode::StateConflict,
                    format!("This node offers {MAX} services, which is as many as it may."),
                    "Change one of them: an offer with the same title takes its place.",
                ));
            }
            Ok(services::offer(tx, &node_id, &title, &body, rules.now)?)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "ok", "listing_id": listing_id })))
}

/// Which services are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListServicesParams {
    /// Only those of this node.
    node_id: Option<String>,
    /// How many; 20 where it is missing, 100 at most.
    limit: Option<String>,
}

/// Lists services, the latest change first.
#[utoipa::path(get, path = "/a2a/service/list", tag = "services", params(ListServicesParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    QueryParams(query): QueryParams<ListServicesParams>,
) -> ApiResult<JsonReply> {
    let most = query::limit(query.limit.as_deref(), 20, 100);
    query.node_id.as_deref().map_or(Ok(()), |id| check_node_id(id, "node_id"))?;
    let found = hub
        .store
        .read::<_, ApiError, _>(move |tx| Ok(services::list(tx, query.node_id.as_deref(), most)?))
        .await?;
    let found: Vec<Value> = found.iter().map(service_view).collect();
    Ok(JsonReply::json(&json!({ "services": found, "count": found.len() })))
}

fn service_view(listing: &ServiceRow) -> Value {
    let mut shown = Map::new();
    shown.insert("listing_id".to_owned(), listing.listing_id.clone().into());
    shown.insert("node_id".to_owned(), listing.node_id.clone().into());
    shown.insert("title".to_owned(), listing.title.clone().into());
    shown.extend(serde_json::from_str::<Map<String, Value>>(&listing.body).unwrap_or_default());
    shown.insert("created_at".to_owned(), Time(listing.created_at).iso().into());
    shown.insert("updated_at".to_owned(), Time(listing.updated_at).iso().into());
    Value::Object(shown)
}
