//! A hub from its start to its end: the server and everything that goes on beside it.

use crate::jobs;
use crate::router;
use crate::server::serve_router;
use crate::state::SharedHub;
use crate::webhooks::worker::WebhookWorker;
use capsid_model::problem::Result;
use capsid_store::system::backlog::database_time;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// How long a job has for the step it is in; it goes on from there next time.
const LAST_STEP: Duration = Duration::from_secs(2);

/// How often a hub that shares a database looks at the database's clock.
const CLOCK_CHECK: Duration = Duration::from_secs(10);

/// Runs the hub until `shutdown` is over, then lets what is under way come to its end.
pub async fn serve_hub(
    hub: SharedHub,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    follow_database_clock(&hub).await;
    let followed = Arc::clone(&hub);
    let clock = tokio::spawn(async move {
        loop {
            tokio::time::sleep(CLOCK_CHECK).await;
            follow_database_clock(&followed).await;
        }
    });
    let (router, _) = router::router(&hub);
    let mut jobs = tokio::spawn(jobs::run(Arc::clone(&hub)));
    let mut webhooks = tokio::spawn(WebhookWorker::new(&hub).run());
    let indexed = Arc::clone(&hub);
    tokio::spawn(async move { indexed.index.run_sweeps(indexed.closing.clone()).await });
    let served = serve_router(Arc::clone(&hub), router, listener, shutdown).await;
    hub.close();
    if let Err(error) = hub.usage.flush().await {
        tracing::warn!(code = error.code.as_str(), "the last fetches were not counted: {}", error.problem);
    }
    clock.abort();
    for work in [&mut jobs, &mut webhooks] {
        if timeout(LAST_STEP, &mut *work).await.is_err() {
            work.abort();
        }
    }
    served
}

/// Sets the hub's time by the database, where several hubs share one. Without an answer it goes on as it was.
pub async fn follow_database_clock(hub: &SharedHub) {
    if let Ok(Some(time)) = hub.store.read(database_time).await {
        hub.clock.follow(time);
    }
}
