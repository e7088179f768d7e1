//! The secret in a hello: who is told one, who gets another, and what becomes of a lost one.

use super::HelloContext;
use super::response::RejectedHello;
use crate::auth::sender::access_denied;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::ResponseEnvelope;
use capsid_model::time::Time;
use capsid_rules::identity::issuing::{HelloFacts, RotationDenial, SecretPlan, plan_secret};
use capsid_rules::identity::recovery::{RecoveryFacts, SecretRecovery, moves_network, recover_secret};
use capsid_rules::identity::secrets::{PresentedSecret, SecretStage};
use capsid_store::accounts::node_secrets::{self, IssuedSecret};
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::notifications::notices::{NodeNotice, notify_node};
use serde_json::{Map, Value};

/// What a hello does to the node's secret.
pub(super) struct SecretDecision {
    pub(super) plan: SecretPlan,
    /// Whether the secret is one that was lost.
    recovers: bool,
}

/// Decides about the secret. A refused recovery is noted, and the node is told.
pub(super) fn decide(tx: &mut dyn Tx, hello: &HelloContext, node: &NodeRow) -> ApiResult<SecretDecision> {
    let (identity, now) = (&hello.context.config.identity, hello.context.now);
    let stage = node.stage(identity.issue_window_ms, now);
    let presented = hello.credentials.presented_to(node);
    let moves =
        moves_network(stage, identity.pin_keyless, now.0 - node.last_seen_at, identity.keyless_repin_ms);
    let recovery = match (stage, presented) {
        (_, PresentedSecret::Right) => SecretRecovery::Impossible,
        (SecretStage::Bound, _) if hello.rotate => recovery(tx, hello, node)?,
        _ => SecretRecovery::Impossible,
    };
    let plan = plan_secret(HelloFacts {
        stage,
        presented,
        same_network: moves || node.is_from_network(&hello.credentials.network),
        claimed: node.owner.is_some(),
        pin: identity.pin_keyless,
        rotate: hello.rotate,
        window_open: node.is_window_open(identity.issue_window_ms, now),
        recoverable: recovery == SecretRecovery::Possible,
    });
    if matches!(recovery, SecretRecovery::After { .. }) && node.recovery_at.is_none() {
        node_secrets::request_recovery(tx, &node.node_id, now)?;
        let notice = NodeNotice { kind: "secret_recovery_requested", payload: Map::new() }
            .with("node_id", node.node_id.as_str())
            .with("network", hello.credentials.network.as_str());
        notify_node(tx, &node.node_id, &notice, now)?;
    }
    Ok(SecretDecision { plan, recovers: recovery == SecretRecovery::Possible })
}

fn recovery(tx: &mut dyn Tx, hello: &HelloContext, node: &NodeRow) -> ApiResult<SecretRecovery> {
    let used_at = node.last_secret_at.or(node.presented_at).unwrap_or(node.last_seen_at);
    let facts = RecoveryFacts {
        claimed: node.owner.is_some(),
        same_network: node.issued_network.as_deref() == Some(hello.credentials.network.as_str()),
        same_device: hello.told.device_hash.is_some_and(|hash| node.device_hash.as_deref() == Some(&hash)),
        unused_ms: hello.context.now.0 - used_at,
        quiet_ms: hello.context.config.identity.recovery_quiet_ms,
    };
    match (recover_secret(facts), &hello.device_id) {
        // What the node itself has told the world proves nothing.
        (SecretRecovery::Possible, Some(device)) => {
            let quoted = Value::from(device.as_str()).to_string();
            let is_public = nodes::has_published(tx, &node.node_id, quoted.trim_matches('"'))?;
            Ok(if is_public { SecretRecovery::Impossible } else { SecretRecovery::Possible })
        }
        (recovery, _) => Ok(recovery),
    }
}

/// Does what was decided, and gives the secret that this one answer returns, if it returns any.
pub(super) fn carry_out(
    tx: &mut dyn Tx,
    hello: &HelloContext,
    node: &NodeRow,
    decision: &SecretDecision,
) -> ApiResult<Option<String>> {
    let (node_id, now) = (&node.node_id, hello.context.now);
    match decision.plan {
        SecretPlan::Issue => issue(tx, hello, node, false).map(Some),
        SecretPlan::Repeat => match issued_secret(hello, node) {
            Some(secret) => Ok(Some(secret)),
            None => issue(tx, hello, node, true).map(Some),
        },
        SecretPlan::Reissue => issue(tx, hello, node, true).map(Some),
        SecretPlan::Replace => {
            let secret = hello.fresh_secret_text();
            node_secrets::replace(tx, node_id, &secret, now)?;
            if decision.recovers {
                audit_recovery(tx, node, now)?;
            }
            Ok(Some(secret))
        }
        SecretPlan::Confirm => {
            hello.sender().note_use(tx, node, now)?;
            Ok(None)
        }
        SecretPlan::Greet => Ok(None),
        SecretPlan::Deny(denial) => Err(access_denied(denial, node_id)),
        SecretPlan::Refuse(denial) => Err(refuse_rotation(denial, &hello.envelope)?),
    }
}

fn issue(tx: &mut dyn Tx, hello: &HelloContext, node: &NodeRow, keeps_earlier: bool) -> ApiResult<String> {
    let secret = hello.fresh_secret_text();
    let sealed = hello.keys.seal_secret(&node.node_id, node.secret_version + 1, &hello.fresh_secret);
    let issued = IssuedSecret {
        secret: &secret,
        sealed: &sealed,
        network: &hello.credentials.network,
        keeps_secret: hello.keeps_secret,
        keeps_earlier,
    };
    node_secrets::issue(tx, &node.node_id, &issued, hello.context.now)?;
    Ok(secret)
}

/// The secret of a moment ago. A hub that was started since cannot open it.
fn issued_secret(hello: &HelloContext, node: &NodeRow) -> Option<String> {
    let sealed = node.issued_sealed.as_ref()?;
    let secret = hello.keys.open_secret(&node.node_id, node.secret_version, sealed);
    node.is_newest_secret(&secret).then_some(secret)
}

fn audit_recovery(tx: &mut dyn Tx, node: &NodeRow, now: Time) -> ApiResult<()> {
    let (before, after) =
        (format!("version {}", node.secret_version), format!("version {}", node.secret_version + 1));
    let change = AuditChange {
        kind: "node",
        subject: &node.node_id,
        action: "recover_secret",
        before: Some(&before),
        after: Some(&after),
        reason: Some("the same network and machine, after nobody had shown the secret for a while"),
    };
    Ok(audit::add(tx, &format!("node:{}", node.node_id), change, now)?)
}

/// How it stands with a secret that is not returned.
pub(super) fn secret_status(stage: SecretStage) -> &'static str {
    if stage == SecretStage::None { "not_set" } else { "active" }
}

fn refuse_rotation(denial: RotationDenial, envelope: &ResponseEnvelope) -> ApiResult<ApiError> {
    let code = match denial {
        RotationDenial::SecretRequired => HubCode::NodeSecretRequired,
        RotationDenial::SecretInvalid => HubCode::NodeSecretInvalid,
        RotationDenial::AlreadyClaimed => {
            let rejected = RejectedHello { status: "rejected", reason: denial.reason() };
            let body: Map<String, Value> =
                serde_json::from_str(&envelope.render(&rejected)?).map_err(ApiError::not_serializable)?;
            let mut error = ApiError::new(
                HubCode::NodeIdAlreadyClaimed,
                "The node belongs to an account, and its secret is in use (node_id_already_claimed).",
                "Let the owner of the node reset its secret, or send the present one.",
            );
            error.extra.extend(body);
            return Ok(error);
        }
    };
    Ok(ApiError::new(
        code,
        "A new secret is given only to whoever shows the present one (rotation_requires_current_secret).",
        "Send the present secret as `Authorization: Bearer <node_secret>`, or let the owner of the node reset it.",
    )
    .with("reason", denial.reason()))
}
