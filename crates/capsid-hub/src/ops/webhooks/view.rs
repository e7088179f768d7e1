//! A node's webhook as its owner and the node itself see it.

use crate::error::ApiResult;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::notifications::{deliveries, webhooks};
use serde::Serialize;
use utoipa::ToSchema;

/// The webhook of a node.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub struct WebhookView {
    node_id: String,
    registered: bool,
    #[schema(required)]
    url: Option<String>,
    enabled: bool,
    #[schema(required)]
    disabled_at: Option<String>,
    #[schema(required)]
    disabled_reason: Option<String>,
    /// How many calls in a row were given up.
    deaths: i64,
    #[schema(required)]
    old_secret_valid_until: Option<String>,
    #[schema(required)]
    created_at: Option<String>,
    deliveries: DeliveryCounts,
}

/// How many calls stand how.
#[derive(Debug, Default, Serialize, ToSchema)]
struct DeliveryCounts {
    queued: i64,
    delivering: i64,
    retrying: i64,
    delivered: i64,
    dead: i64,
}

impl DeliveryCounts {
    fn set(&mut self, state: &str, count: i64) {
        match state {
            "queued" => self.queued = count,
            "delivering" => self.delivering = count,
            "retrying" => self.retrying = count,
            "delivered" => self.delivered = count,
            _ => self.dead = count,
        }
    }
}

/// How it stands with a node's webhook. The secret is not shown.
pub fn load_webhook_view(tx: &mut dyn Tx, node_id: &str, now: Time) -> ApiResult<WebhookView> {
    let webhook = webhooks::get(tx, node_id)?;
    let mut counts = DeliveryCounts::default();
    for (state, count) in deliveries::counts(tx, Some(node_id))? {
        counts.set(&state, count);
    }
    let shown = webhook.as_ref();
    let old_until = shown.and_then(|webhook| webhook.old_until).filter(|until| now.0 < *until);
    Ok(WebhookView {
        node_id: node_id.to_owned(),
        registered: shown.is_some(),
        url: shown.map(|webhook| webhook.url.clone()),
        enabled: shown.is_some_and(|webhook| webhook.disabled_at.is_none()),
        disabled_at: shown.and_then(|webhook| webhook.disabled_at).map(|at| Time(at).iso()),
        disabled_reason: shown.and_then(|webhook| webhook.disabled_reason.clone()),
        deaths: shown.map_or(0, |webhook| webhook.deaths),
        old_secret_valid_until: old_until.map(|at| Time(at).iso()),
        created_at: shown.map(|webhook| Time(webhook.created_at).iso()),
        deliveries: counts,
    })
}
