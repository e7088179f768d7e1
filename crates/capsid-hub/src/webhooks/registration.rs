//! What a hello says about the node's webhook, and what comes of it. It never fails the hello.

use super::sign;
use crate::error::ApiResult;
use crate::outbound::url;
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::notifications::webhooks;
use std::time::Duration;

/// How long a hello waits for the addresses of a name.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a node wants.
#[derive(Debug, Clone)]
pub enum WebhookRegistration {
    Register {
        /// The address.
        url: String,
        /// What calls are signed with, if the address is a new one.
        secret: String,
    },
    /// Not to be called any more.
    Remove,
    /// To be called where the hub does not call, by a short code.
    Refused(&'static str),
}

impl WebhookRegistration {
    /// Reads what a node wants. A new address is looked up; one that has no address just now may have one later, and is
    /// judged when it is called.
    pub async fn read(hub: &Hub, node_id: &str, url: &str) -> ApiResult<Self> {
        if ["", "null"].contains(&url.trim()) {
            return Ok(Self::Remove);
        }
        let target = match url::check(url, hub.config.allow_local_webhooks) {
            Ok(target) => target,
            Err(reason) => return Ok(Self::Refused(reason)),
        };
        let node_id = node_id.to_owned();
        let present = hub.store.read(move |tx| webhooks::get(tx, &node_id)).await?;
        if present.is_none_or(|webhook| webhook.url != url)
            && target.place.is_private(&*hub.resolver, PATIENCE).await
        {
            return Ok(Self::Refused("private_address"));
        }
        Ok(Self::Register { url: url.to_owned(), secret: sign::new_secret(&*hub.random) })
    }

    /// Does what the node wants.
    pub fn fulfil(&self, tx: &mut dyn Tx, node_id: &str, now: Time) -> ApiResult<RegistrationOutcome> {
        Ok(match self {
            Self::Register { url, secret } => RegistrationOutcome {
                secret: webhooks::register(tx, node_id, url, secret, now)?,
                status: "registered".to_owned(),
            },
            Self::Remove => {
                webhooks::remove(tx, node_id, now)?;
                RegistrationOutcome { secret: None, status: "removed".to_owned() }
            }
            Self::Refused(reason) => {
                RegistrationOutcome { secret: None, status: format!("rejected:{reason}") }
            }
        })
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct RegistrationOutcome {
    /// What calls are signed with, where it has to be shown.
    pub secret: Option<String>,
    /// registered, removed, or rejected and why.
    pub status: String,
}
