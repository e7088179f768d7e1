//! The worker: makes the calls that are due, many at a time but few to one node, until the hub closes.
//!
//! It holds nothing that would be lost with it. A call that it took and did not settle is made again: at the next start
//! where no other hub can be running, or else once the time is over for which it was taken.

use super::call::WebhookCaller;
use super::in_flight::{InFlightCall, InFlightCalls};
use crate::state::SharedHub;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_store::db::tx::Dialect;
use capsid_store::notifications::deliveries::calls;
use capsid_store::notifications::deliveries::calls::{DeliveryCall, DeliverySettlement};
use capsid_store::notifications::deliveries::select;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// How often the worker looks whether something is due.
const TICK: Duration = Duration::from_secs(1);
/// How long the outcome of a call may take to be written down.
const MARGIN_MS: i64 = 5_000;
/// How long calls have that are under way when the hub closes.
const LAST_CALLS: Duration = Duration::from_millis(1_500);

/// Makes calls for one hub.
pub struct WebhookWorker {
    hub: SharedHub,
    caller: WebhookCaller,
    holder: String,
    rule: BackoffPolicy,
    traffic: Arc<InFlightCalls>,
}

impl WebhookWorker {
    /// A worker with a name of its own, so that nobody takes its calls for theirs.
    pub fn new(hub: &SharedHub) -> Arc<Self> {
        let patience = Duration::from_millis(hub.config.webhooks.timeout_ms.max(1) as u64);
        let caller = WebhookCaller::new(Arc::clone(&hub.resolver), hub.config.allow_local_webhooks, patience);
        Self::with(hub, caller)
    }

    /// A worker that calls in its own way.
    pub fn with(hub: &SharedHub, caller: WebhookCaller) -> Arc<Self> {
        let settings = &hub.config.webhooks;
        let rule = BackoffPolicy {
            give_up_ms: settings.give_up_ms,
            ..BackoffPolicy::doubling(settings.first_retry_ms, settings.longest_retry_ms)
        };
        Arc::new(Self {
            hub: Arc::clone(hub),
            caller,
            holder: hub.random.hex(8),
            rule,
            traffic: Arc::default(),
        })
    }

    /// Frees what a former process held. Only where no other hub can be running on the same data.
    pub async fn recover(&self) -> Result<()> {
        if self.hub.store.dialect() == Dialect::Sqlite {
            let now = self.hub.now();
            self.hub.store.write(move |tx| calls::free(tx, None, now)).await?;
        }
        Ok(())
    }

    /// Takes what is due, as much as there is room for.
    async fn claim_due_calls(&self) -> Result<Vec<(DeliveryCall, InFlightCall)>> {
        let (now, store) = (self.hub.now(), &self.hub.store);
        if store.read(move |tx| calls::any_lost(tx, now)).await? {
            store.write(move |tx| calls::free_lost(tx, now)).await?;
        }
        let room = self.traffic.room(now);
        if room.calls == 0 {
            return Ok(Vec::new());
        }
        // Most of the time nothing is due, and looking costs less than writing.
        let (chosen, last) = store.read(move |tx| select::choose(tx, room.clone(), now)).await?;
        if chosen.is_empty() {
            return Ok(Vec::new());
        }
        let until = Time(now.0 + self.caller.patience.as_millis() as i64 + MARGIN_MS);
        let holder = self.holder.clone();
        let taken = store.write(move |tx| calls::lease_calls(tx, &chosen, &holder, until, now)).await?;
        self.traffic.called_last(last);
        Ok(taken
            .into_iter()
            .map(|call| {
                let underway = self.traffic.enter(&call, now);
                (call, underway)
            })
            .collect())
    }

    /// Makes one call and writes down what came of it.
    async fn run_call(
        self: Arc<Self>,
        call: DeliveryCall,
        _underway: InFlightCall,
    ) -> Result<DeliverySettlement> {
        let _counted = self.hub.telemetry.webhook_call();
        let began = Instant::now();
        let outcome = self.caller.call(&call, self.hub.now()).await;
        let took = began.elapsed();
        let mut chance = [0; 8];
        self.hub.random.fill(&mut chance);
        let (holder, rule, chance, now) =
            (self.holder.clone(), self.rule, u64::from_le_bytes(chance), self.hub.now());
        let settled = self
            .hub
            .store
            .write(move |tx| calls::finish_call(tx, &call, &holder, &outcome, (&rule, chance), now))
            .await?;
        self.hub.telemetry.webhook_called(settled.as_str(), took);
        Ok(settled)
    }

    /// Makes everything that is due, and gives how each call was settled.
    pub async fn run_due(self: &Arc<Self>) -> Result<Vec<DeliverySettlement>> {
        let (mut under_way, mut settled) = (JoinSet::new(), Vec::new());
        loop {
            for (call, its) in self.claim_due_calls().await? {
                under_way.spawn(Arc::clone(self).run_call(call, its));
            }
            match under_way.join_next().await {
                Some(Ok(done)) => settled.push(done?),
                Some(Err(error)) => tracing::error!(%error, "a webhook call was not made"),
                None => return Ok(settled),
            }
        }
    }

    /// Makes calls until the hub closes.
    pub async fn run(self: Arc<Self>) {
        if let Err(problem) = self.recover().await {
            tracing::warn!(%problem, "webhook calls of the last run could not be freed");
        }
        let mut under_way = JoinSet::new();
        let mut closing = self.hub.closing.clone();
        let mut bell = self.hub.events.listen();
        while !*closing.borrow() {
            match self.claim_due_calls().await {
                Ok(calls) => calls.into_iter().for_each(|(call, its)| {
                    under_way.spawn(Arc::clone(&self).run_call(call, its));
                }),
                Err(problem) => {
                    tracing::warn!(%problem, "webhook calls could not be taken");
                    // Whatever it is, trying at once again would not help.
                    tokio::time::sleep(TICK).await;
                }
            }
            tokio::select! {
                Some(done) = under_way.join_next() => log_outcome(done),
                _ = bell.wait(&self.hub.store, Instant::now() + TICK) => {}
                _ = closing.wait_for(|closing| *closing) => {}
            }
        }
        let rest = async {
            while let Some(done) = under_way.join_next().await {
                log_outcome(done);
            }
        };
        if timeout(LAST_CALLS, rest).await.is_err() {
            under_way.shutdown().await;
            let (holder, now) = (self.holder.clone(), self.hub.now());
            if let Err(problem) = self.hub.store.write(move |tx| calls::free(tx, Some(&holder), now)).await {
                tracing::warn!(%problem, "webhook calls that were under way could not be freed");
            }
        }
    }
}

fn log_outcome(done: std::result::Result<Result<DeliverySettlement>, tokio::task::JoinError>) {
    match done {
        Ok(Ok(_)) => {}
        Ok(Err(problem)) => tracing::warn!(%problem, "the outcome of a webhook call could not be kept"),
        Err(error) => tracing::error!(%error, "a webhook call was not made"),
    }
}
