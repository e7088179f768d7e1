//! What an operation knows besides its request.

use crate::config::HubConfig;
use crate::state::Hub;
use capsid_model::time::Time;
use std::sync::Arc;

/// The settings of the hub and the moment at which an operation takes place. It goes into the transaction with it.
#[derive(Debug, Clone)]
pub struct OperationContext {
    pub now: Time,
    pub config: Arc<HubConfig>,
}

impl Hub {
    /// The context of an operation that begins now.
    pub fn context(&self) -> OperationContext {
        OperationContext { now: self.now(), config: Arc::clone(&self.config) }
    }
}
