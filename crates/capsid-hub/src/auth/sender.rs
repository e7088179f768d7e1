//! The node that a request speaks for, and the one place that decides whether it may.
//!
//! A request is authenticated once: its credentials keep what they were found to be, and whoever asks again only sees
//! whether the node has had another secret since.

use crate::auth::account;
use crate::auth::credentials::{Credentials, SEEN_EVERY_MS};
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_rules::identity::access::{AccessDenial, AccessFacts, SecretBinding, may_act};
use capsid_rules::identity::actor::Actor;
use capsid_rules::identity::secrets::{PresentedSecret, RequireSecret};
use capsid_store::accounts::{api_keys, node_secrets};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};

/// A node, and the credentials of a request that speaks for it.
#[derive(Debug, Clone)]
pub struct Sender {
    id: String,
    credentials: Credentials,
}

impl Sender {
    pub fn new(id: impl Into<String>, credentials: Credentials) -> Self {
        Self { id: id.into(), credentials }
    }

    /// The node.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Authenticates in a read, before the request is counted: whoever may not speak for a node cannot use up what it
    /// may send. Gives the node; nothing where the hub has not heard of it.
    pub async fn verify(&self, hub: &Hub) -> ApiResult<Option<NodeRow>> {
        let Some(node) = hub.nodes.find(&self.id).await? else { return Ok(None) };
        let context = hub.context();
        if may_act(self.facts(&context, &node)).is_err() {
            // It may come from the account that owns the node.
            return self.read(hub, |_, node| Ok(node.cloned())).await;
        }
        if self.credentials.is_use_to_note(&node, context.now) {
            self.note_secret_use(hub).await?;
        }
        Ok(Some(node))
    }

    /// Runs a read in the name of the node. An unknown node may read, and is not made. Showing the right secret binds
    /// the node here as it does everywhere.
    pub async fn read<T, F>(&self, hub: &Hub, mut op: F) -> ApiResult<T>
    where
        F: FnMut(&mut dyn Tx, Option<&NodeRow>) -> ApiResult<T> + Send + 'static,
        T: Send + 'static,
    {
        let (context, sender) = (hub.context(), self.clone());
        let (result, is_noted) = hub
            .store
            .read::<_, ApiError, _>(move |tx| {
                let node = sender.find(tx, &context)?;
                let is_noted =
                    node.as_ref().is_some_and(|node| sender.credentials.is_use_to_note(node, context.now));
                Ok((op(tx, node.as_ref())?, is_noted))
            })
            .await?;
        if is_noted {
            self.note_secret_use(hub).await?;
        }
        Ok(result)
    }

    /// Notes that the request shows the node's secret, which binds the node the first time.
    pub async fn note_secret_use(&self, hub: &Hub) -> ApiResult<()> {
        let (sender, now) = (self.clone(), hub.now());
        let noted = hub
            .store
            .write::<_, ApiError, _>(move |tx| match nodes::lock(tx, &sender.id)? {
                // It may have been replaced since it was looked at.
                Some(node) => sender.note_use(tx, &node, now),
                None => Ok(()),
            })
            .await;
        match noted {
            // What can be read is read, also while nothing can be written. The next call notes it.
            Err(error) if error.code.status() >= 500 => {
                tracing::warn!(code = error.code.as_str(), "that a secret was shown could not be noted");
                Ok(())
            }
            noted => noted,
        }
    }

    /// The same within a transaction.
    pub fn note_use(&self, tx: &mut dyn Tx, node: &NodeRow, now: Time) -> ApiResult<()> {
        match &self.credentials.secret {
            Some(secret) if self.credentials.is_first_use(node) => {
                Ok(node_secrets::bind(tx, node, secret, &self.credentials.network, now)?)
            }
            _ if self.credentials.is_use_to_note(node, now) => {
                Ok(node_secrets::note_use(tx, &node.node_id, now)?)
            }
            _ => Ok(()),
        }
    }

    /// Authenticates for a read within a transaction. An unknown node may read, and is not made.
    pub fn find(&self, tx: &mut dyn Tx, context: &OperationContext) -> ApiResult<Option<NodeRow>> {
        let Some(node) = nodes::get(tx, &self.id)? else { return Ok(None) };
        self.check(tx, context, &node)?;
        Ok(Some(node))
    }

    /// Lets a request act for a node that the hub has heard of: locks it, authenticates, binds the secret on first use,
    /// and notes that the node was heard of again. A banned node may not act.
    pub fn lock(&self, tx: &mut dyn Tx, context: &OperationContext) -> ApiResult<NodeRow> {
        let node = nodes::lock(tx, &self.id)?.ok_or_else(|| self.unknown())?;
        self.act(tx, context, node)
    }

    /// The same for a message, which may be the first that the hub hears of a node: the node is made then.
    pub fn lock_or_register(&self, tx: &mut dyn Tx, context: &OperationContext) -> ApiResult<NodeRow> {
        let node = nodes::lock_or_register(tx, &self.id, context.config.node_grant, context.now)?;
        self.act(tx, context, node)
    }

    /// The same for a request that spends the node's credits.
    pub fn lock_spender(&self, tx: &mut dyn Tx, context: &OperationContext) -> ApiResult<NodeRow> {
        let node = self.lock(tx, context)?;
        self.check_spender(tx, context, &node)?;
        Ok(node)
    }

    /// Refuses a request that may not spend the node's credits. While nobody has shown its secret anybody may speak for
    /// a node, but not spend what it holds: that takes the secret, or its owner. Only reads.
    pub fn check_spender(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        node: &NodeRow,
    ) -> ApiResult<()> {
        match self.actor(tx, context, node)? {
            actor if actor.can_spend() => Ok(()),
            Actor::NewOwner => Err(account::in_grace(context, node)),
            _ => Err(access_denied(AccessDenial::SecretRequired, &self.id)),
        }
    }

    /// Who makes the request, as far as the node is concerned. Rights are checked against this. Only reads.
    pub fn actor(&self, tx: &mut dyn Tx, context: &OperationContext, node: &NodeRow) -> ApiResult<Actor> {
        let presented = self.presented(node);
        if presented == PresentedSecret::Right {
            return Ok(Actor::Node);
        }
        if presented == PresentedSecret::Nothing
            && let Some(user) = account::find_caller_or_none(tx, &self.credentials, context.now)?
            && let Some(actor) = account::actor_for(&user, node, context)
        {
            return Ok(actor);
        }
        Ok(match may_act(self.facts(context, node)) {
            Err(_) => Actor::Stranger,
            Ok(_) if context.config.require_secret == RequireSecret::Never => Actor::Unchecked,
            Ok(_) => Actor::Keyless,
        })
    }

    /// What the request shows of a node's secret. It is compared once, unless the node has another secret by now.
    pub fn presented(&self, node: &NodeRow) -> PresentedSecret {
        self.credentials.presented_to(node)
    }

    /// The refusal where a node that has to be known is not.
    pub fn unknown(&self) -> ApiError {
        access_denied(AccessDenial::SecretNotSet, &self.id)
    }

    fn act(&self, tx: &mut dyn Tx, context: &OperationContext, mut node: NodeRow) -> ApiResult<NodeRow> {
        let permission = self.check(tx, context, &node)?;
        refuse_banned(tx, &node)?;
        match permission {
            Permission::Secret(_) => self.note_contact(tx, context, &mut node)?,
            Permission::Owner => {
                if let Some(key) = &self.credentials.api_key {
                    api_keys::used(tx, key, context.now)?;
                }
                self.touch(tx, context, &mut node)?;
            }
        }
        Ok(node)
    }

    /// Whether the request may act for a node by what it shows of the node's secret, as far as the node's row tells.
    pub fn is_admitted(&self, context: &OperationContext, node: &NodeRow) -> bool {
        node.status != "banned" && may_act(self.facts(context, node)).is_ok()
    }

    /// Notes that a node whose secret allows the request was heard of, in the database and in its row.
    pub fn note_contact(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        node: &mut NodeRow,
    ) -> ApiResult<()> {
        let now = context.now;
        self.note_use(tx, node, now)?;
        if self.credentials.is_first_use(node) {
            node.presented_at = Some(now.0);
        }
        if self.credentials.is_use_to_note(node, now) {
            (node.last_secret_at, node.recovery_at) = (Some(now.0), None);
        }
        let network = &self.credentials.network;
        if node.issued_network.is_none() && node.is_from_network(network) {
            nodes::set_network(tx, &self.id, network)?;
            node.issued_network = Some(network.as_str().to_owned());
        }
        self.touch(tx, context, node)
    }

    /// To the half minute is exact enough, and spares most requests a write.
    fn touch(&self, tx: &mut dyn Tx, context: &OperationContext, node: &mut NodeRow) -> ApiResult<()> {
        if context.now.0 - node.last_seen_at >= SEEN_EVERY_MS {
            nodes::touch(tx, &self.id, context.now)?;
            node.last_seen_at = context.now.0;
        }
        Ok(())
    }

    /// Decides whether the request may speak for the node. Only reads.
    fn check(&self, tx: &mut dyn Tx, context: &OperationContext, node: &NodeRow) -> ApiResult<Permission> {
        let facts = self.facts(context, node);
        match may_act(facts) {
            Ok(binding) => Ok(Permission::Secret(binding)),
            Err(_) if self.is_owner_request(tx, context, node, facts.presented)? => Ok(Permission::Owner),
            Err(denial) => Err(access_denied(denial, &self.id)),
        }
    }

    fn facts(&self, context: &OperationContext, node: &NodeRow) -> AccessFacts {
        let identity = &context.config.identity;
        AccessFacts {
            stage: node.stage(identity.issue_window_ms, context.now),
            policy: context.config.require_secret,
            presented: self.presented(node),
            same_network: node.is_from_network(&self.credentials.network),
            pin: identity.pin_keyless,
        }
    }

    /// Whether a request that shows no secret comes from the account that owns the node, or from an admin.
    fn is_owner_request(
        &self,
        tx: &mut dyn Tx,
        context: &OperationContext,
        node: &NodeRow,
        presented: PresentedSecret,
    ) -> ApiResult<bool> {
        if presented != PresentedSecret::Nothing {
            return Ok(false);
        }
        let user = account::caller(tx, &self.credentials, context.now)?;
        Ok(user.is_some_and(|user| account::actor_for(&user, node, context).is_some()))
    }
}

/// Why a request may speak for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Permission {
    /// It shows the secret, or does not have to.
    Secret(SecretBinding),
    /// It comes from the account that owns the node, or from an admin.
    Owner,
}

/// A banned node may not act, nor may any node of a banned account.
pub fn refuse_banned(tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<()> {
    if node.status == "banned" {
        return Err(ApiError::new(
            HubCode::NodeBanned,
            format!("The node {} is banned from this hub.", node.node_id),
            "Ask the operator of this hub.",
        ));
    }
    let Some(owner) = &node.owner else { return Ok(()) };
    match capsid_store::accounts::get(tx, owner)? {
        Some(owner) if owner.banned_at.is_some() => Err(account::banned(&owner)),
        _ => Ok(()),
    }
}

/// The refusal of a request that may not act for a node.
pub fn access_denied(denial: AccessDenial, node_id: &str) -> ApiError {
    match denial {
        AccessDenial::SecretRequired => ApiError::new(
            HubCode::NodeSecretRequired,
            format!("The node {node_id} has a secret and this request does not show it."),
            "Send `Authorization: Bearer <node_secret>` with the secret that hello returned.",
        ),
        AccessDenial::SecretInvalid => ApiError::new(
            HubCode::NodeSecretInvalid,
            format!("The secret is not the one of {node_id}."),
            "Use the secret that hello returned last, or say hello with `rotate_secret: true` and the present secret.",
        ),
        AccessDenial::SecretNotSet => ApiError::new(
            HubCode::NodeSecretNotSet,
            format!("The node {node_id} has no secret yet."),
            "Say hello first: POST /a2a/hello.",
        ),
        AccessDenial::OtherNetwork => ApiError::new(
            HubCode::NodeSecretRequired,
            format!("The node {node_id} belongs to another network, and this request shows no secret."),
            "Send `Authorization: Bearer <node_secret>` with the secret that hello returned, or use the node from its own \
             network.",
        ),
    }
}
