//! What a call to the graph costs. It is asked for before anything is done, and taken once it is done: nobody pays for a
//! call that fails.

use super::caller::{self, GraphCaller, GraphSender};
use crate::auth::sender::Sender;
use crate::config::GraphAccess;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::rate_limit::RateLimit;
use capsid_store::db::tx::Tx;
use capsid_store::graph::usage;
use capsid_store::graph::usage::{GraphUsage, GraphUseKind};
use capsid_store::ledger::{self, TransferOutcome};

/// A call that may be made.
#[derive(Debug, Clone)]
pub struct GraphCharge {
    /// Who makes it; nobody where anybody may.
    pub asker: Option<GraphCaller>,
    /// What it costs, in milli-credits.
    pub price: i64,
    what: GraphUseKind,
    /// Its own name, so that it is paid for once.
    call: String,
}

/// Whether somebody who shows nothing may make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnonymousAccess {
    /// Where it is open to everyone and costs nothing.
    Welcome,
    Refused,
}

/// Lets a call in: whoever makes it is known and entitled, has not made too many, and can pay.
pub async fn admit(
    hub: &SharedHub,
    sender: &GraphSender,
    what: GraphUseKind,
    strangers: AnonymousAccess,
) -> ApiResult<GraphCharge> {
    hub.limit_reads(&sender.credentials).await?;
    let price = price(hub, what);
    let (asker, have) = find_caller(hub, sender, price).await?;
    match (&asker, hub.config.graph.access) {
        (Some(asker), access) => caller::check_entitled(access, asker.is_admin)?,
        (None, GraphAccess::Everyone) if strangers == AnonymousAccess::Welcome && price == 0 => {}
        (None, GraphAccess::Nobody) => caller::check_entitled(GraphAccess::Nobody, false)?,
        (None, _) => return Err(caller::nobody(sender)),
    }
    charge_rate_limit(hub, sender, asker.as_ref(), what).await?;
    if have < price {
        return Err(insufficient(what, price, have));
    }
    Ok(GraphCharge { asker, price, what, call: hub.new_id("kg") })
}

/// The same for a call that nobody pays for, and that strangers have no part in.
pub async fn admit_free(hub: &SharedHub, sender: &GraphSender, what: GraphUseKind) -> ApiResult<()> {
    hub.limit_reads(&sender.credentials).await?;
    let (asker, _) = find_caller(hub, sender, 0).await?;
    match (&asker, hub.config.graph.access) {
        (Some(asker), access) => caller::check_entitled(access, asker.is_admin)?,
        (None, GraphAccess::Nobody) => caller::check_entitled(GraphAccess::Nobody, false)?,
        (None, _) => return Err(caller::nobody(sender)),
    }
    charge_rate_limit(hub, sender, asker.as_ref(), what).await
}

/// Who sends a request, and what they have to spend. A node that shows its secret for the first time is bound to it.
async fn find_caller(
    hub: &SharedHub,
    sender: &GraphSender,
    price: i64,
) -> ApiResult<(Option<GraphCaller>, i64)> {
    let (context, who) = (hub.context(), sender.clone());
    let known = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let asker = caller::authenticate_caller(tx, &context, &who, price > 0)?;
            let have = match &asker {
                Some(asker) if price > 0 => ledger::balance(tx, &asker.name)?,
                _ => 0,
            };
            Ok((asker, have))
        })
        .await?;
    if let (Some(node_id), true) = (&sender.node_id, known.0.as_ref().is_some_and(|asker| asker.is_noted)) {
        Sender::new(node_id, sender.credentials.clone()).note_secret_use(hub).await?;
    }
    Ok(known)
}

/// What a call costs on this hub, in milli-credits.
pub fn price(hub: &SharedHub, what: GraphUseKind) -> i64 {
    match what {
        GraphUseKind::Query => hub.config.graph.query_price,
        GraphUseKind::Ingest => hub.config.graph.ingest_price,
    }
}

fn limit(hub: &SharedHub, what: GraphUseKind) -> RateLimit {
    match what {
        GraphUseKind::Query => hub.config.limits.graph_query,
        GraphUseKind::Ingest => hub.config.limits.graph_ingest,
    }
}

async fn charge_rate_limit(
    hub: &SharedHub,
    sender: &GraphSender,
    asker: Option<&GraphCaller>,
    what: GraphUseKind,
) -> ApiResult<()> {
    let who = asker.map_or(sender.credentials.address.as_str(), |asker| &asker.name);
    // Questions are reads, which are many and must not become writes.
    let limiter = if what == GraphUseKind::Query { &hub.reads } else { &hub.limiter };
    limiter.check(&hub.store, HubCode::RateLimited, what.kind(), who, limit(hub, what), hub.now()).await
}

impl GraphCharge {
    /// Pays for a question that was answered, and tells what it cost.
    pub async fn charge(self, hub: &SharedHub) -> ApiResult<i64> {
        let Some(asker) = self.asker.clone() else { return Ok(0) };
        if self.price == 0 {
            hub.usage.count_query(&asker.name);
            return Ok(0);
        }
        let (price, context) = (self.price, hub.context());
        let charge = move |tx: &mut dyn Tx| self.charge_in(tx, &asker, context.begin().now);
        hub.store.write::<_, ApiError, _>(charge).await?;
        Ok(price)
    }

    /// The same within a transaction, which is undone as a whole where it cannot be paid for.
    pub fn charge_in(&self, tx: &mut dyn Tx, asker: &GraphCaller, now: Time) -> ApiResult<()> {
        if self.price == 0 {
            let (queries, ingests) = if self.what == GraphUseKind::Query { (1, 0) } else { (0, 1) };
            return Ok(usage::count(tx, &asker.name, GraphUsage { queries, ingests, credits: 0 }, now)?);
        }
        match usage::charge(tx, &asker.name, self.what, (self.price, &self.call), now)? {
            TransferOutcome::Done | TransferOutcome::AlreadyDone => Ok(()),
            TransferOutcome::Insufficient { have } => Err(insufficient(self.what, self.price, have)),
        }
    }
}

fn insufficient(what: GraphUseKind, required: i64, available: i64) -> ApiError {
    let doing = match what {
        GraphUseKind::Query => "Asking the knowledge graph",
        GraphUseKind::Ingest => "Telling the knowledge graph something",
    };
    ApiError::new(
        HubCode::InsufficientCredits,
        format!(
            "{doing} costs more credits than the account holds: need {}, have {}.",
            credits::text(required),
            credits::text(available)
        ),
        "Earn credits with tasks, or move some with POST /account/transfer; GET /kg/status tells the prices.",
    )
    .with("required", credits::to_decimal(required))
    .with("available", credits::to_decimal(available))
}
