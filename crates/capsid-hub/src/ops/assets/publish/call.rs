//! A publish on its way into the store: with others where that is all there is to do, and otherwise by itself.

use super::publish_policy::PublishPolicy;
use super::receipt::PublishReceipt;
use super::{CheckedPublication, PublishResponse, check_key_signature, check_signature, may_publish};
use crate::auth::idempotency::{Idempotent, find_stored};
use crate::auth::message::Message;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::{JsonReply, ResponseEnvelope};
use crate::runtime::publish_queue::{QueuedPlan, QueuedPublish};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::registry::batch::{BatchItem, BatchPlan, PublishBatch, PublishTerms, PublishingNode};
use capsid_store::system::responses::{self, MessageKey, StoredResponse};
use std::sync::Arc;

const ENDPOINT: &str = "/a2a/publish";

/// A message that publishes a bundle, after every check that needs no database.
pub(super) struct PublishCall {
    key: MessageKey,
    sender: Sender,
    context: OperationContext,
    envelope: ResponseEnvelope,
    publication: CheckedPublication,
}

/// What is kept as the response to a message.
enum KeptResponse {
    New(PublishReceipt),
    /// From when the message first came.
    Before(u16, StoredResponse),
}

impl PublishCall {
    pub fn new(hub: &SharedHub, message: &Message<'_>, publication: CheckedPublication) -> Arc<Self> {
        Arc::new(Self {
            key: message.key(ENDPOINT),
            sender: message.sender.clone(),
            context: hub.context(),
            envelope: hub.answer("decision"),
            publication,
        })
    }

    /// Publishes the bundle unless that was done before, and responds once it is durable.
    pub async fn run(self: Arc<Self>, hub: &SharedHub) -> ApiResult<Idempotent<PublishResponse>> {
        let queued: Arc<dyn QueuedPublish> = Arc::<Self>::clone(&self);
        let kept = match hub.publishes.store(queued).await {
            Some(receipt) => KeptResponse::New(PublishReceipt::from_bytes(&receipt)?),
            None => Arc::clone(&self).run_alone(hub).await?,
        };
        match kept {
            KeptResponse::New(receipt) => {
                let (response, reply) = self.respond(&receipt)?;
                Ok(Idempotent::Fresh { response, reply })
            }
            KeptResponse::Before(status, StoredResponse::Body(body)) => {
                Ok(Idempotent::Stored(JsonReply { status, body }))
            }
            KeptResponse::Before(_, StoredResponse::Facts(facts)) => {
                let (_, reply) = self.respond(&PublishReceipt::from_bytes(&facts)?)?;
                Ok(Idempotent::Stored(reply))
            }
        }
    }

    /// The response that follows from the request and a receipt.
    fn respond(&self, receipt: &PublishReceipt) -> ApiResult<(PublishResponse, JsonReply)> {
        let response = PublishResponse::new(&self.publication.checked, receipt);
        let envelope = ResponseEnvelope {
            message_id: receipt.message_id.clone(),
            now: receipt.at,
            ..self.envelope.clone()
        };
        let reply = JsonReply { status: response.http_status(), body: envelope.render(&response)? };
        Ok((response, reply))
    }

    /// Publishes the bundle in a transaction of its own.
    async fn run_alone(self: Arc<Self>, hub: &SharedHub) -> ApiResult<KeptResponse> {
        hub.store
            .write::<_, ApiError, _>(move |tx| {
                let context = self.context.begin();
                let node = self.sender.lock_or_register(tx, &context)?;
                if let Some((status, response)) = find_stored(tx, &self.key, context.now)? {
                    return Ok(KeptResponse::Before(status, response));
                }
                let receipt = super::publish_in(tx, &context, &node, &self.publication, self.head())?;
                let status = PublishResponse::new(&self.publication.checked, &receipt).http_status();
                let response = StoredResponse::Facts(receipt.to_bytes()?);
                responses::save_response(tx, &self.key, status, &response, context.now)?;
                Ok(KeptResponse::New(receipt))
            })
            .await
    }

    /// What names the response.
    fn head(&self) -> (&str, Time) {
        (&self.envelope.message_id, self.envelope.now)
    }

    /// What decides on the bundle as a part of a batch, and whether its signature is weak; nothing where it is refused, or
    /// where more is to be done than storing it.
    fn terms(&self, context: &OperationContext, node: &PublishingNode) -> Option<BatchTerms> {
        let (row, bundle) = (&node.row, &self.publication.checked.bundle);
        if node.has_banned_owner || !self.sender.is_admitted(context, row) {
            return None;
        }
        let weak = check_signature(&self.publication, row).ok()?;
        let signed_by = check_key_signature(&self.publication, row).ok()?.map(<[u8]>::to_vec);
        may_publish(row, context.now).ok()?;
        let policy = PublishPolicy::of_node(context, node, bundle);
        if policy.is_held(context, bundle) || policy.needs_moderator(context, row, bundle) {
            return None;
        }
        Some(BatchTerms { is_signature_weak: weak.is_some(), signed_by, policy })
    }
}

/// What decides on a bundle as a part of a batch.
struct BatchTerms {
    is_signature_weak: bool,
    signed_by: Option<Vec<u8>>,
    policy: PublishPolicy,
}

impl QueuedPublish for PublishCall {
    fn item(&self) -> BatchItem<'_> {
        BatchItem {
            node_id: self.sender.id(),
            bundle: &self.publication.checked.bundle,
            message: Some(&self.key),
        }
    }

    fn plan(&self, tx: &mut dyn Tx, batch: &mut PublishBatch<'_>, at: usize) -> ApiResult<QueuedPlan> {
        let context = self.context.at(batch.now());
        let Some(node) = batch.node(at) else { return Ok(QueuedPlan::Alone) };
        let Some(terms) = self.terms(&context, node) else { return Ok(QueuedPlan::Alone) };
        let balance = node.balance;
        let plan = batch.plan(
            tx,
            at,
            PublishTerms {
                counted_for: Some(terms.policy.owner()),
                quota: terms.policy.quota(&context),
                signed_by: terms.signed_by.as_deref(),
            },
        )?;
        let outcome = match plan {
            BatchPlan::Kept(outcome) => outcome,
            BatchPlan::Later => return Ok(QueuedPlan::Later),
            BatchPlan::Alone => return Ok(QueuedPlan::Alone),
        };
        if let Some(node) = batch.node_mut(at) {
            self.sender.note_contact(tx, &context, &mut node.row)?;
        }
        let bundle = &self.publication.checked.bundle;
        let receipt = PublishReceipt::new(self.head(), bundle, outcome, balance, terms.is_signature_weak)?
            .to_bytes()?;
        // A bundle that only adds rows is let in.
        batch.keep_response(at, 200, &StoredResponse::Facts(receipt.clone()))?;
        Ok(QueuedPlan::Kept(receipt))
    }
}
