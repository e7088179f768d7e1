//! Publishing a service: what a node offers to do for others.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json::read_stored;
use crate::http::validate;
use crate::ops::bounties::offer;
use crate::state::SharedHub;
use capsid_store::services::{self, ServiceRow};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

/// How a service is carried out.
const MODES: [&str; 4] = ["exclusive", "open", "swarm", "shared"];

/// How many services a node may offer.
const MAX: i64 = 100;

/// What is offered.
#[derive(Debug, Deserialize, ToSchema)]
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

sender_fields!(PublishServiceRequest);

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

    fn into_terms(self) -> ServiceTerms {
        ServiceTerms {
            description: self.description,
            capabilities: self.capabilities,
            use_cases: self.use_cases,
            price_per_task: self.price_per_task,
            execution_mode: self.execution_mode,
            max_concurrent: self.max_concurrent,
            recipe_id: self.recipe_id,
        }
    }
}

/// What is stored of a service besides its title, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ServiceTerms {
    #[schema(required)]
    description: Option<String>,
    #[schema(required)]
    capabilities: Option<Vec<String>>,
    #[schema(required)]
    use_cases: Option<Vec<String>>,
    #[schema(required, value_type = Option<f64>)]
    pub price_per_task: Option<Number>,
    #[schema(required)]
    execution_mode: Option<String>,
    #[schema(required, value_type = Option<f64>)]
    pub max_concurrent: Option<Number>,
    #[schema(required)]
    recipe_id: Option<String>,
}

impl ServiceTerms {
    /// Reads what is stored of a service.
    pub fn from_row(service: &ServiceRow) -> ApiResult<Self> {
        read_stored(&service.body)
    }
}

/// A service that was listed.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublishServiceResponse {
    status: &'static str,
    listing_id: String,
}

/// Lists a service of the node that sends. The same title again changes that listing.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced()))]
pub async fn publish_service(
    hub: &SharedHub,
    credentials: Credentials,
    request: PublishServiceRequest,
) -> ApiResult<PublishServiceResponse> {
    let node_id = request.sender().node_id()?;
    let title = request.title.clone().ok_or_else(|| ApiError::field("title", "a name", "missing"))?;
    validate::name(&title, "title", 300)?;
    request.check()?;
    let sender = Sender::new(&node_id, request.sender().credentials(credentials));
    hub.limit_calls(&sender).await?;
    let (context, terms) = (hub.context(), serde_json::to_string(&request.into_terms()).unwrap_or_default());
    let listing_id = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            if services::count_others(tx, &node_id, &title)? >= MAX {
                return Err(ApiError::new(
                    HubCode::StateConflict,
                    format!("This node offers {MAX} services, which is as many as it may."),
                    "Change one of them: an offer with the same title takes its place.",
                ));
            }
            Ok(services::offer(tx, &node_id, &title, &terms, context.now)?)
        })
        .await?;
    Ok(PublishServiceResponse { status: "ok", listing_id })
}
