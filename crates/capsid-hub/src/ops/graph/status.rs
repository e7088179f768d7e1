//! Whether there is a graph to ask, by whom and for what, and how much there is of it.

use super::caller::{GraphSender, authenticate_caller, check_entitled, nobody};
use super::price::price;
use crate::auth::credentials::Credentials;
use crate::config::{GraphAccess, HubProfile};
use crate::embedding::EmbedderState;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::graph::usage;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, GraphCounts};
use capsid_store::ledger;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::ToSchema;

/// Up to so many things and relations, counting is quicker than anybody notices.
const SMALL: i64 = 10_000;
/// How long the counts of a larger graph are kept.
const KEPT: Duration = Duration::from_secs(60);

/// The counts of the graph. A small one is always counted anew.
async fn load_counts(hub: &SharedHub) -> ApiResult<GraphCounts> {
    let count = async {
        hub.index.wait_for_read().await?;
        let counts = hub.store.read::<_, ApiError, _>(|tx| Ok(graph::counts(tx)?)).await?;
        let all: i64 = counts.entities.values().chain(counts.relations.values()).sum();
        Ok((counts, (all > SMALL).then_some(KEPT)))
    };
    hub.graph.get_or_load(count).await
}

/// Who asks.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GraphStatusParams {
    /// The node that asks, where no account does.
    node_id: Option<String>,
}

/// Whether the graph may be asked, and how much there is of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphStatus)]
pub struct GraphStatusResponse {
    /// Whether whoever asks may ask it.
    entitled: bool,
    /// Whether anybody may.
    available: bool,
    plan: &'static str,
    access: GraphAccess,
    /// In credits.
    pricing: GraphPricing,
    entities: i64,
    relationships: i64,
    /// Things by their kind.
    by_kind: BTreeMap<String, i64>,
    /// Relations by their kind.
    by_relation: BTreeMap<String, i64>,
    limits: GraphLimits,
    /// `user:…` or `node:…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    asker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    balance: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = GraphUsageView, required = false)]
    usage_30d: Option<GraphUsageView>,
    embeddings: EmbeddingStateView,
}

/// What a question, and a call that tells something, cost.
#[derive(Debug, Serialize, ToSchema)]
struct GraphPricing {
    #[schema(value_type = f64)]
    query: Number,
    #[schema(value_type = f64)]
    ingest: Number,
}

/// What was used in the last thirty days.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphUsage)]
struct GraphUsageView {
    query_count: i64,
    ingest_count: i64,
    #[schema(value_type = f64)]
    total_credits: Number,
}

/// How much is taken.
#[derive(Debug, Serialize, ToSchema)]
struct GraphLimits {
    query: GraphRate,
    ingest: GraphRate,
    /// The most items of one call.
    #[schema(value_type = i64)]
    items: usize,
    /// The largest body of one call.
    #[schema(value_type = i64)]
    bytes: usize,
}

/// So many calls in such a time.
#[derive(Debug, Serialize, ToSchema)]
struct GraphRate {
    #[schema(value_type = i64)]
    limit: u32,
    window_ms: i64,
}

impl From<RateLimit> for GraphRate {
    fn from(limit: RateLimit) -> Self {
        Self { limit: limit.count, window_ms: limit.window_ms }
    }
}

/// How it stands with embeddings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EmbeddingState)]
struct EmbeddingStateView {
    /// Whether the operator named an endpoint that makes them.
    configured: bool,
    #[schema(required)]
    model: Option<String>,
    /// How many numbers each has.
    #[schema(required)]
    dims: Option<i64>,
    embedded: i64,
    /// How many assets lack one, counted up to a bound.
    lacking: i64,
    ok: bool,
}

impl From<EmbedderState> for EmbeddingStateView {
    /// Why they fail is the operator's business.
    fn from(state: EmbedderState) -> Self {
        Self {
            configured: state.configured,
            model: state.model,
            dims: state.dims,
            embedded: state.embedded,
            lacking: state.lacking,
            ok: state.ok,
        }
    }
}

/// Shows whether the knowledge graph may be asked, what that costs, and how much there is of it.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn show_graph_status(
    hub: &SharedHub,
    credentials: Credentials,
    params: GraphStatusParams,
) -> ApiResult<GraphStatusResponse> {
    hub.limit_reads(&credentials).await?;
    let sender = GraphSender::from_request(credentials, None, params.node_id.as_deref(), None)?;
    let (context, now) = (hub.context(), hub.now());
    // On a machine of one's own, a page and a monitor look at it without saying who they are.
    let may_be_unknown = hub.config.profile == HubProfile::Private && sender.credentials.is_from_loopback();
    let known = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            // What somebody has and pays is told to nobody else, so a secret is asked for as if something were spent.
            let Some(asker) = authenticate_caller(tx, &context, &sender, true)? else {
                return if may_be_unknown { Ok(None) } else { Err(nobody(&sender)) };
            };
            let balance = ledger::balance(tx, &asker.name)?;
            let used = usage::lately(tx, &asker.name, now)?;
            Ok(Some((asker, balance, used)))
        })
        .await?;
    let counts = load_counts(hub).await?;
    let (access, limits) = (hub.config.graph.access, &hub.config.limits);
    let is_admin = known.as_ref().is_some_and(|(asker, ..)| asker.is_admin);
    let shown = credits::to_decimal;
    Ok(GraphStatusResponse {
        entitled: check_entitled(access, is_admin).is_ok(),
        available: access != GraphAccess::Nobody,
        plan: "self_hosted",
        access,
        pricing: GraphPricing {
            query: shown(price(hub, GraphUseKind::Query)),
            ingest: shown(price(hub, GraphUseKind::Ingest)),
        },
        entities: counts.entities.values().sum(),
        relationships: counts.relations.values().sum(),
        by_kind: counts.entities,
        by_relation: counts.relations,
        limits: GraphLimits {
            query: limits.graph_query.into(),
            ingest: limits.graph_ingest.into(),
            items: capsid_rules::graph::ingest::MAX_ITEMS,
            bytes: crate::http::json::GRAPH_LIMIT,
        },
        asker: known.as_ref().map(|(asker, ..)| asker.name.clone()),
        balance: known.as_ref().map(|(_, balance, _)| shown(*balance)),
        usage_30d: known.map(|(.., used)| GraphUsageView {
            query_count: used.queries,
            ingest_count: used.ingests,
            total_credits: shown(used.credits),
        }),
        embeddings: hub.embedder.state().await?.into(),
    })
}
