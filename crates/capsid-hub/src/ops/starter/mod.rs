//! The starter pack: solutions for common errors, which an operator loads into an empty hub.

pub mod load;

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::runtime::starter::view::{StarterPackView, StarterState};
use crate::runtime::starter::{StarterRunner, pack};
use crate::state::SharedHub;
use capsid_store::assets::id::AssetId;
use load::StarterLoad;
use std::sync::Arc;

/// The pack, and how far its loading is; for admins.
#[tracing::instrument(skip_all)]
pub async fn show(hub: &SharedHub, credentials: Credentials) -> ApiResult<StarterPackView> {
    let now = hub.now();
    let entries = pack::entries()?;
    let ids: Vec<AssetId> = entries.iter().map(|entry| entry.asset_id).collect();
    let statuses = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            require_admin(tx, &credentials, now)?;
            Ok(load::load_statuses(tx, &ids)?)
        })
        .await?;
    let mut view = hub.starter.view().unwrap_or_else(|| StarterPackView::new(entries));
    if view.state != StarterState::Running {
        for (entry, status) in view.entries.iter_mut().zip(statuses) {
            entry.status = status;
        }
        view.recount();
    }
    Ok(view)
}

/// Begins to load the pack; for admins. That permits its commands, in the sandbox. While it is being loaded, this only
/// tells how far that is.
#[tracing::instrument(skip_all)]
pub async fn start(hub: &SharedHub, credentials: Credentials) -> ApiResult<StarterPackView> {
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| require_admin(tx, &credentials, now).map(drop)).await?;
    let runner = hub.starter.runner().ok_or_else(|| {
        ApiError::new(
            HubCode::NotOffered,
            "This hub runs no commands, so it cannot test the starter pack.",
            "Start the hub with `capsid up` or `capsid hub serve`.",
        )
    })?;
    let view = StarterPackView { state: StarterState::Running, ..StarterPackView::new(pack::entries()?) };
    if hub.starter.begin(view.clone()) {
        let hub = Arc::clone(hub);
        tokio::task::spawn_blocking(move || load_pack(&hub, runner.as_ref()));
    }
    Ok(hub.starter.view().unwrap_or(view))
}

fn load_pack(hub: &SharedHub, runner: &dyn StarterRunner) {
    let load = StarterLoad {
        store: &hub.store,
        config: &hub.config,
        clock: hub.clock.as_ref(),
        random: Arc::clone(&hub.random),
        runner,
    };
    let ended = load.run(&|view| hub.starter.set(view.clone()));
    hub.index.changed();
    if let Err(problem) = ended {
        tracing::warn!(code = problem.code.as_str(), "the starter pack was not loaded: {problem}");
        hub.starter.fail(problem.message);
    }
}
