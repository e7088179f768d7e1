//! Counting reads and calls that have no limit of their own.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiResult, HubCode};
use crate::state::Hub;

impl Hub {
    /// Takes one read of an address.
    pub async fn limit_reads(&self, credentials: &Credentials) -> ApiResult<()> {
        let (limit, now) = (self.config.limits.read, self.now());
        self.reads.check(&self.store, HubCode::RateLimited, "read", &credentials.address, limit, now).await
    }

    /// Takes one hello of a network: whoever has one address often has all of it.
    pub async fn limit_hellos(&self, credentials: &Credentials) -> ApiResult<()> {
        let (limit, who) = (self.config.limits.hello, credentials.network.as_str());
        self.limiter.check(&self.store, HubCode::HelloRateLimit, "hello", who, limit, self.now()).await
    }

    /// Takes one call that has no limit of its own. It is counted for the node and the address together, so that
    /// nobody can use up what another one has.
    pub async fn limit_calls(&self, sender: &Sender) -> ApiResult<()> {
        self.limit_calls_of(sender.credentials(), sender.id()).await
    }

    /// The same for calls of accounts: `who` stands in the place of the node.
    pub async fn limit_calls_of(&self, credentials: &Credentials, who: &str) -> ApiResult<()> {
        let who = format!("{}/{who}", credentials.address);
        let limit = self.config.limits.other;
        self.limiter.check(&self.store, HubCode::RateLimited, "call", &who, limit, self.now()).await
    }
}
