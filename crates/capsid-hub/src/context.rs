//! What an operation knows besides its request.

use crate::config::HubConfig;
use crate::runtime::hub_clock::HubClock;
use crate::state::Hub;
use capsid_model::time::Time;
use std::sync::Arc;

/// The settings of the hub and the moment at which an operation takes place. It goes into the transaction with it.
#[derive(Debug, Clone)]
pub struct OperationContext {
    pub now: Time,
    pub config: Arc<HubConfig>,
    clock: Arc<HubClock>,
}

impl OperationContext {
    /// The same at the moment at which the operation's transaction begins. Before it, the operation may have waited for
    /// others, which changed something meanwhile.
    #[must_use]
    pub fn begin(&self) -> Self {
        self.at(self.clock.now())
    }

    /// The same at a moment.
    #[must_use]
    pub fn at(&self, now: Time) -> Self {
        Self { now, ..self.clone() }
    }
}

impl Hub {
    /// The context of an operation that begins now.
    pub fn context(&self) -> OperationContext {
        OperationContext { now: self.now(), config: Arc::clone(&self.config), clock: Arc::clone(&self.clock) }
    }
}
