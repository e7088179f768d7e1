//! Nodes: what the hub holds against them, their secrets and their reputation.

use super::{AdminOutcome, ReasonArgs, not_found};
use capsid_hub::random::{Random, SystemRandom};
use capsid_model::{Code, Problem, Result, json};
use capsid_rules::credits;
use capsid_store::Store;
use capsid_store::accounts::admin;
use capsid_store::evaluation::stakes::slashing;
use clap::Args;

/// Take away what the hub itself holds against a node: its flag, its strikes and the pause they brought.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin unflag node_e5f6a7b8c9d0e1f2 --reason 'an honest mistake'"
)]
pub struct UnflagNodeArgs {
    /// The node.
    node: String,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Say that a node lied on purpose. It costs the whole stake of its owner, and a strike for each of the owner's nodes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin fraud node_e5f6a7b8c9d0e1f2 --reason 'reports of runs that never took place'"
)]
pub struct FraudArgs {
    /// The node.
    node: String,

    /// Why, for the audit.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Give a node another secret and print it once. Whoever has the old one can no longer use it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin reset-secret node_e5f6a7b8c9d0e1f2 --reason 'its disk was lost'"
)]
pub struct ResetSecretArgs {
    /// The node.
    node: String,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Set the reputation of a node, or let the computed one hold again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin set-reputation node_e5f6a7b8c9d0e1f2 80 --reason 'known to us'\n  \
                  capsid hub admin set-reputation node_e5f6a7b8c9d0e1f2 --clear --reason 'no longer needed'"
)]
pub struct SetReputationArgs {
    /// The node.
    node: String,

    /// From 0 to 100.
    #[arg(required_unless_present = "clear", conflicts_with = "clear", allow_negative_numbers = true)]
    value: Option<f64>,

    /// Let the computed reputation hold again.
    #[arg(long)]
    clear: bool,

    /// Why, for the audit.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Takes away what is held against a node.
pub fn unflag(store: &Store, asked: &UnflagNodeArgs) -> Result<AdminOutcome> {
    let (node, why) = (asked.node.clone(), asked.why.clone());
    if !store.write_now(move |tx| admin::unflag(tx, &node, why.by()))? {
        return Err(not_found("node", &asked.node));
    }
    Ok(AdminOutcome {
        line: format!("Nothing is held against {}.", asked.node),
        value: json!({"ok": true, "node_id": asked.node}),
    })
}

/// Takes the stake of whoever is behind a node that lied.
pub fn punish_fraud(store: &Store, asked: &FraudArgs) -> Result<AdminOutcome> {
    let (node, why) = (asked.node.clone(), ReasonArgs { reason: Some(asked.reason.clone()) });
    let taken = store
        .write_now(move |tx| {
            let by = why.by();
            slashing::slash_for_fraud(tx, &node, by.actor, by.reason, by.now)
        })?
        .ok_or_else(|| not_found("node", &asked.node))?;
    let credits = credits::to_decimal(taken);
    Ok(AdminOutcome {
        line: format!("{credits} staked credits of the owner of {} are lost.", asked.node),
        value: json!({"ok": true, "node_id": asked.node, "slashed": credits}),
    })
}

/// Gives a node another secret.
pub fn reset_secret(store: &Store, asked: &ResetSecretArgs) -> Result<AdminOutcome> {
    let random: &dyn Random = &SystemRandom;
    let secret = random.hex(32);
    let (node, fresh, why) = (asked.node.clone(), secret.clone(), asked.why.clone());
    let version = store
        .write_now(move |tx| admin::reset_secret(tx, &node, &fresh, why.by()))?
        .ok_or_else(|| not_found("node", &asked.node))?;
    Ok(AdminOutcome {
        line: format!("The secret of {}, shown this once: {secret}", asked.node),
        value: json!({
            "ok": true, "node_id": asked.node, "node_secret": secret, "node_secret_version": version,
        }),
    })
}

/// Sets the reputation of a node.
pub fn set_reputation(store: &Store, asked: &SetReputationArgs) -> Result<AdminOutcome> {
    if asked.value.is_some_and(|value| !(0.0..=100.0).contains(&value)) {
        return Err(Problem::new(Code::InputInvalid, "A reputation is a number from 0 to 100.")
            .fix("Give a value such as 80, or --clear."));
    }
    let (node, value, why) =
        (asked.node.clone(), asked.value, ReasonArgs { reason: Some(asked.reason.clone()) });
    if !store.write_now(move |tx| admin::set_reputation(tx, &node, value, why.by()))? {
        return Err(not_found("node", &asked.node));
    }
    let line = match asked.value {
        Some(value) => format!("The reputation of {} is {value} until it is cleared.", asked.node),
        None => format!("The computed reputation of {} holds again.", asked.node),
    };
    Ok(AdminOutcome { line, value: json!({"ok": true, "node_id": asked.node, "reputation": asked.value}) })
}
