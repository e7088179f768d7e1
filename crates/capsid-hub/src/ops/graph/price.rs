//! What a call to the graph costs. It is asked for before anything is done, and taken once it is done: nobody pays for a
//! call that fails.

use super::who::{self, Asker, Sender};
use crate::config::GraphAccess;
use crate::error::{ApiError, HubCode, Result};
use crate::state::Shared;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::limits::Limit;
use capsid_store::db::tx::Tx;
use capsid_store::graph::graph_use;
use capsid_store::graph::graph_use::{Used, What};
use capsid_store::ledger::{self, Moved};

/// A call that may be made.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Who makes it; nobody where anybody may.
    pub asker: Option<Asker>,
    /// What it costs, in milli-credits.
    pub price: i64,
    what: What,
    /// Its own name, so that it is paid for once.
    call: String,
}

/// Whether somebody who shows nothing may make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strangers {
    /// Where it is open to everyone and costs nothing.
    Welcome,
    /// Never.
    Refused,
}

/// Lets a call in: whoever makes it is known and entitled, has not made too many, and can pay.
pub async fn admit(hub: &Shared, sender: &Sender, what: What, strangers: Strangers) -> Result<Ticket> {
    hub.take_read(&sender.credentials).await?;
    let price = price(hub, what);
    let (asker, have) = known(hub, sender, price).await?;
    match (&asker, hub.config.graph.access) {
        (Some(asker), access) => who::check_entitled(access, asker.is_admin)?,
        (None, GraphAccess::Everyone) if strangers == Strangers::Welcome && price == 0 => {}
        (None, GraphAccess::Nobody) => who::check_entitled(GraphAccess::Nobody, false)?,
        (None, _) => return Err(who::nobody(sender)),
    }
    take(hub, sender, asker.as_ref(), what).await?;
    if have < price {
        return Err(insufficient(what, price, have));
    }
    Ok(Ticket { asker, price, what, call: hub.new_id("kg") })
}

/// The same for a call that nobody pays for, and that strangers have no part in.
pub async fn admit_free(hub: &Shared, sender: &Sender, what: What) -> Result<()> {
    hub.take_read(&sender.credentials).await?;
    let (asker, _) = known(hub, sender, 0).await?;
    match (&asker, hub.config.graph.access) {
        (Some(asker), access) => who::check_entitled(access, asker.is_admin)?,
        (None, GraphAccess::Nobody) => who::check_entitled(GraphAccess::Nobody, false)?,
        (None, _) => return Err(who::nobody(sender)),
    }
    take(hub, sender, asker.as_ref(), what).await
}

/// Who sends a request, and what they have to spend. A node that shows its secret for the first time is bound to it.
async fn known(hub: &Shared, sender: &Sender, price: i64) -> Result<(Option<Asker>, i64)> {
    let (rules, who) = (hub.rules(), sender.clone());
    let known = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let asker = who::asker(tx, &rules, &who, price > 0)?;
            let have = match &asker {
                Some(asker) if price > 0 => ledger::balance(tx, &asker.name)?,
                _ => 0,
            };
            Ok((asker, have))
        })
        .await?;
    if let (Some(node_id), true) = (&sender.node_id, known.0.as_ref().is_some_and(|asker| asker.binds)) {
        hub.bind_if_shown(node_id, &sender.credentials).await?;
    }
    Ok(known)
}

/// What a call costs on this hub, in milli-credits.
pub fn price(hub: &Shared, what: What) -> i64 {
    match what {
        What::Query => hub.config.graph.query_price,
        What::Ingest => hub.config.graph.ingest_price,
    }
}

fn limit(hub: &Shared, what: What) -> Limit {
    match what {
        What::Query => hub.config.limits.graph_query,
        What::Ingest => hub.config.limits.graph_ingest,
    }
}

async fn take(hub: &Shared, sender: &Sender, asker: Option<&Asker>, what: What) -> Result<()> {
    let who = asker.map_or(sender.credentials.address.as_str(), |asker| &asker.name);
    // Questions are reads, which are many and must not become writes.
    let limiter = if what == What::Query { &hub.reads } else { &hub.limiter };
    limiter.take(&hub.store, HubCode::RateLimited, what.kind(), who, limit(hub, what), hub.now()).await
}

impl Ticket {
    /// Pays for a question that was answered, and tells what it cost.
    pub async fn pay(self, hub: &Shared) -> Result<i64> {
        let Some(asker) = self.asker.clone() else { return Ok(0) };
        if self.price == 0 {
            hub.usage.asked(hub, &asker.name);
            return Ok(0);
        }
        let (price, now) = (self.price, hub.now());
        hub.store.write::<_, ApiError, _>(move |tx| self.pay_in(tx, &asker, now)).await?;
        Ok(price)
    }

    /// The same within a transaction, which is undone as a whole where it cannot be paid for.
    pub fn pay_in(&self, tx: &mut dyn Tx, asker: &Asker, now: Time) -> Result<()> {
        if self.price == 0 {
            let (queries, ingests) = if self.what == What::Query { (1, 0) } else { (0, 1) };
            return Ok(graph_use::count(tx, &asker.name, Used { queries, ingests, credits: 0 }, now)?);
        }
        match graph_use::charge(tx, &asker.name, self.what, (self.price, &self.call), now)? {
            Moved::Done | Moved::AlreadyDone => Ok(()),
            Moved::Insufficient { have } => Err(insufficient(self.what, self.price, have)),
        }
    }
}

fn insufficient(what: What, required: i64, available: i64) -> ApiError {
    let doing = match what {
        What::Query => "Asking the knowledge graph",
        What::Ingest => "Telling the knowledge graph something",
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
    .with("required", credits::shown(required))
    .with("available", credits::shown(available))
}
