//! Decisions about assets.

use super::{AdminOutcome, OPERATOR, ReasonArgs, not_found, refused};
use capsid_hub::ops::evaluation::moderate::moderate_in;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, json};
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::Store;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::lifecycle::StatusChangeOutcome;
use capsid_store::evaluation::rewards::RewardRates;
use clap::Args;

/// Give a candidate to everyone, whatever the gates say. Its bundle goes with it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin promote sha256:0edc0349... --reason 'read and tried'\n  \
                  capsid hub admin list assets --status candidate     to see what waits"
)]
pub struct PromoteAssetArgs {
    /// The asset: sha256: and 64 digits.
    #[arg(value_name = "ASSET_ID")]
    pub asset: String,

    #[command(flatten)]
    pub why: ReasonArgs,
}

/// Refuse a candidate or a quarantined asset for good.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  capsid hub admin reject sha256:0edc0349... --reason 'does not do what it says'"
)]
pub struct RejectAssetArgs {
    /// The asset: sha256: and 64 digits.
    #[arg(value_name = "ASSET_ID")]
    pub asset: String,

    #[command(flatten)]
    pub why: ReasonArgs,
}

/// Reads an id from the command line.
pub fn id(text: &str) -> Result<AssetId> {
    AssetId::parse(text.trim()).ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("`{text}` is not an asset's id."))
            .fix("Give the whole id: `sha256:` and 64 hexadecimal digits.")
    })
}

/// Promotes an asset with its bundle, and rewards its publisher as any promotion does.
pub fn promote(store: &Store, id: AssetId, why: &ReasonArgs, rewards: RewardRates) -> Result<AdminOutcome> {
    make(store, id, AssetEvent::Promote, why, rewards)
}

/// Changes the state of an asset, and of its bundle.
pub fn change(store: &Store, id: AssetId, change: AssetEvent, why: &ReasonArgs) -> Result<AdminOutcome> {
    make(store, id, change, why, RewardRates::NONE)
}

fn make(
    store: &Store,
    id: AssetId,
    change: AssetEvent,
    why: &ReasonArgs,
    rewards: RewardRates,
) -> Result<AdminOutcome> {
    let (reason, now) = (why.reason.clone(), SystemClock.now());
    let changed = store
        .write_now(move |tx| moderate_in(tx, &id, change, OPERATOR, reason.as_deref(), &rewards, now))?;
    match changed {
        StatusChangeOutcome::Done { from, to } => Ok(AdminOutcome {
            line: format!("{id} is {to}; it was {from}."),
            value: json!({"ok": true, "asset_id": id.to_string(), "from": from.as_str(), "to": to.as_str()}),
        }),
        StatusChangeOutcome::NotFound => Err(not_found("asset", &id.to_string())),
        StatusChangeOutcome::Refused(refusal) => Err(refused(refusal.to_string())),
    }
}
