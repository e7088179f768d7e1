//! `GET /kg/status`: whether there is a graph to ask, by whom and for what, and how much there is of it.

use super::caller::{GraphCaller, GraphSender, authenticate_caller, check_entitled};
use super::price::price;
use crate::auth::credentials::Credentials;
use crate::config::GraphAccess;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::QueryParams;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::credits;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::graph::usage;
use capsid_store::graph::usage::{GraphUsage, GraphUseKind};
use capsid_store::graph::{self, GraphCounts};
use capsid_store::ledger;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Up to so many things and relations, counting is quicker than anybody notices.
const SMALL: i64 = 10_000;
/// How long the counts of a larger graph are kept.
const KEPT: Duration = Duration::from_secs(60);

/// The last counts, and until when they do. A small graph is always counted anew.
#[derive(Debug, Default)]
pub struct GraphCountCache(tokio::sync::Mutex<Option<(GraphCounts, Instant)>>);

impl GraphCountCache {
    async fn get(&self, hub: &SharedHub) -> ApiResult<GraphCounts> {
        let mut last = self.0.lock().await;
        if let Some((counts, until)) = &*last
            && Instant::now() < *until
        {
            return Ok(counts.clone());
        }
        let counts = hub.store.read::<_, ApiError, _>(|tx| Ok(graph::counts(tx)?)).await?;
        let all: i64 = counts.entities.values().chain(counts.relations.values()).sum();
        *last = (all > SMALL).then(|| (counts.clone(), Instant::now() + KEPT));
        Ok(counts)
    }
}

/// Who asks.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GraphStatusParams {
    /// The node that asks, where no account does.
    node_id: Option<String>,
}

/// Whether the knowledge graph may be asked, what that costs, and how much there is of it.
///
/// Anybody may look; whoever shows an account or a node also sees its balance and use.
#[utoipa::path(get, path = "/kg/status", tag = "graph", params(GraphStatusParams),
    responses((status = 200, body = crate::http::openapi::graph::GraphStatus), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(about): QueryParams<GraphStatusParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let sender = GraphSender::from_request(credentials, None, about.node_id.as_deref(), None)?;
    let (rules, now) = (hub.rules(), hub.now());
    let known = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            // What somebody has and pays is told to nobody else, so a secret is asked for as if something were spent.
            let Some(asker) = authenticate_caller(tx, &rules, &sender, true)? else { return Ok(None) };
            let balance = ledger::balance(tx, &asker.name)?;
            let used = usage::lately(tx, &asker.name, now)?;
            Ok(Some((asker, balance, used)))
        })
        .await?;
    let counts = hub.graph.get(&hub).await?;
    let mut told = to_view(&hub, known, &counts);
    if let Some(members) = told.as_object_mut() {
        members.insert("embeddings".to_owned(), embeddings(&hub).await?);
    }
    Ok(JsonReply::json(&told))
}

fn to_view(hub: &SharedHub, known: Option<(GraphCaller, i64, GraphUsage)>, counts: &GraphCounts) -> Value {
    let access = hub.config.graph.access;
    let is_admin = known.as_ref().is_some_and(|(asker, ..)| asker.is_admin);
    let shown = credits::to_decimal;
    let mut told = json!({
        "entitled": check_entitled(access, is_admin).is_ok(), "available": access != GraphAccess::Nobody,
        "plan": "self_hosted", "access": access.as_str(),
        "pricing": { "query": shown(price(hub, GraphUseKind::Query)), "ingest": shown(price(hub, GraphUseKind::Ingest)) },
        "entities": counts.entities.values().sum::<i64>(), "relationships": counts.relations.values().sum::<i64>(),
        "by_kind": counts.entities, "by_relation": counts.relations,
        "limits": {
            "query": limit(hub.config.limits.graph_query), "ingest": limit(hub.config.limits.graph_ingest),
            "items": capsid_rules::graph::ingest::MAX_ITEMS, "bytes": crate::http::json::GRAPH_LIMIT,
        },
    });
    if let (Some((asker, balance, used)), Some(members)) = (known, told.as_object_mut()) {
        members.insert("asker".to_owned(), asker.name.into());
        members.insert("balance".to_owned(), shown(balance).into());
        let used = json!({ "query_count": used.queries, "ingest_count": used.ingests, "total_credits": shown(used.credits) });
        members.insert("usage_30d".to_owned(), used);
    }
    told
}

/// How it stands with embeddings. Why they fail is the operator's business.
async fn embeddings(hub: &SharedHub) -> ApiResult<Value> {
    let state = hub.embedder.state(hub).await?;
    Ok(json!({
        "configured": state.configured, "model": state.model, "dims": state.dims, "embedded": state.embedded,
        "lacking": state.lacking, "ok": state.ok,
    }))
}

fn limit(limit: RateLimit) -> Value {
    json!({ "limit": limit.count, "window_ms": limit.window_ms })
}
