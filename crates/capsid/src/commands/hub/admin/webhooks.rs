//! Webhooks: where nodes are called, and the calls that wait or were given up.

use super::list::{LimitedList, coloured, one_more, show};
use super::{AdminOutcome, not_found, refused};
use crate::output::{DIM, NAME, paint};
use capsid_model::text::inert_line;
use capsid_model::time::Time;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_store::Store;
use capsid_store::notifications::deliveries;
use capsid_store::notifications::deliveries::{DeliveryFilter, DeliveryRow, ReplayOutcome, STATES};
use capsid_store::notifications::webhooks;
use capsid_store::notifications::webhooks::WebhookRow;
use clap::Args;

/// List calls to webhooks, the newest first; make one again; switch a webhook off or on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin webhooks --status dead
  capsid hub admin webhooks --node node_e5f6a7b8c9d0e1f2
  capsid hub admin webhooks --endpoints
  capsid hub admin webhooks --replay evt_42
  capsid hub admin webhooks --disable node_e5f6a7b8c9d0e1f2 --reason 'it answers with spam'")]
pub struct AdminWebhooksArgs {
    /// Only calls in this state: queued, delivering, retrying, delivered or dead.
    #[arg(long = "status", alias = "state", value_name = "STATUS")]
    state: Option<String>,

    /// Only calls to this node.
    #[arg(long, value_name = "NODE")]
    node: Option<String>,

    /// List webhooks instead of calls.
    #[arg(long, conflicts_with_all = ["state", "node"])]
    endpoints: bool,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,

    /// Make this call again.
    #[arg(long, value_name = "DELIVERY", conflicts_with_all = ["disable", "enable"])]
    replay: Option<String>,

    /// Make no more calls to this node.
    #[arg(long, value_name = "NODE", conflicts_with = "enable")]
    disable: Option<String>,

    /// Make calls to this node again.
    #[arg(long, value_name = "NODE")]
    enable: Option<String>,

    /// Why a webhook is switched off.
    #[arg(long, value_name = "TEXT", requires = "disable")]
    reason: Option<String>,
}

impl AdminWebhooksArgs {
    /// Whether something is to be done, and not only looked at.
    pub fn changes(&self) -> bool {
        self.replay.is_some() || self.disable.is_some() || self.enable.is_some()
    }
}

/// Lists calls or webhooks.
pub fn list(store: &Store, asked: &AdminWebhooksArgs, as_json: bool) -> Result<u8> {
    let limit = one_more(asked.limit);
    if asked.endpoints {
        let found = store.read_now(move |tx| webhooks::list(tx, false, "", limit))?;
        show("webhooks", &LimitedList::from_limited(found, asked.limit), as_json, webhook_value, webhook_row);
        return Ok(0);
    }
    if let Some(state) = asked.state.as_deref().filter(|state| !STATES.contains(state)) {
        return Err(Problem::new(Code::InputInvalid, format!("There is no state `{state}` of calls."))
            .fix(format!("Use one of {}.", STATES.join(", "))));
    }
    let filter = DeliveryFilter { node_id: asked.node.clone(), state: asked.state.clone() };
    let found = store.read_now(move |tx| deliveries::list(tx, &filter, i64::MAX, limit))?;
    show("deliveries", &LimitedList::from_limited(found, asked.limit), as_json, delivery_value, delivery_row);
    Ok(0)
}

/// Makes a call again, or switches a webhook off or on.
pub fn change(store: &Store, asked: &AdminWebhooksArgs) -> Result<AdminOutcome> {
    let now = SystemClock.now();
    if let Some(id) = &asked.replay {
        return replay(store, id, now);
    }
    let off = asked.disable.is_some();
    let node = asked.disable.clone().or_else(|| asked.enable.clone()).unwrap_or_default();
    let reason = asked.reason.clone().unwrap_or_else(|| "by the operator".to_owned());
    let named = node.clone();
    let changed = store.write_now(move |tx| match off {
        true => webhooks::disable(tx, &named, &reason, now),
        false => webhooks::enable(tx, &named, now),
    })?;
    if !changed {
        return Err(not_found("webhook of", &node));
    }
    let word = if off { "off" } else { "on" };
    Ok(AdminOutcome {
        line: format!("The webhook of {node} is {word}."),
        value: json!({"ok": true, "node_id": node, "enabled": !off}),
    })
}

fn replay(store: &Store, id: &str, now: Time) -> Result<AdminOutcome> {
    let named = id.to_owned();
    match store.write_now(move |tx| deliveries::replay(tx, &named, None, now))? {
        ReplayOutcome::Queued => Ok(AdminOutcome {
            line: format!("{id} is made again."),
            value: json!({"ok": true, "delivery_id": id, "state": "queued"}),
        }),
        ReplayOutcome::Missing => Err(not_found("delivery", id)),
        ReplayOutcome::UnderWay(state) => {
            Err(refused(format!("`{id}` is {state}, so it is still being made.")))
        }
        ReplayOutcome::NoWebhook => {
            Err(refused(format!("The node of `{id}` has no webhook, or it is switched off.")))
        }
    }
}

fn moment(at: i64) -> String {
    Time(at).iso()
}

fn delivery_row(call: &DeliveryRow) -> Vec<String> {
    let last = call.last_error.clone().or(call.last_status.map(|status| status.to_string()));
    vec![
        paint(NAME, inert_line(&call.delivery_id)),
        coloured(&call.state),
        inert_line(&call.node_id),
        inert_line(&call.kind),
        match call.attempts {
            1 => "1 try".to_owned(),
            tries => format!("{tries} tries"),
        },
        paint(DIM, moment(call.created_at)),
        inert_line(last.as_deref().unwrap_or_default()),
    ]
}

fn delivery_value(call: &DeliveryRow) -> Value {
    json!({
        "delivery_id": call.delivery_id, "node_id": call.node_id, "type": call.kind, "state": call.state,
        "attempts": call.attempts, "next_at": moment(call.next_at), "last_status": call.last_status,
        "last_error": call.last_error, "created_at": moment(call.created_at),
        "delivered_at": call.delivered_at.map(moment),
    })
}

fn webhook_row(webhook: &WebhookRow) -> Vec<String> {
    vec![
        paint(NAME, inert_line(&webhook.node_id)),
        coloured(if webhook.disabled_at.is_some() { "off" } else { "active" }),
        inert_line(&webhook.url),
        format!("{} given up in a row", webhook.deaths),
        inert_line(webhook.disabled_reason.as_deref().unwrap_or_default()),
    ]
}

fn webhook_value(webhook: &WebhookRow) -> Value {
    json!({
        "node_id": webhook.node_id, "url": webhook.url, "enabled": webhook.disabled_at.is_none(),
        "disabled_reason": webhook.disabled_reason, "deaths": webhook.deaths,
        "created_at": moment(webhook.created_at),
    })
}
