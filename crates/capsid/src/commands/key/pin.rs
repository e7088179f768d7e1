//! `capsid key pin`: whose keys the user vouches for.

use crate::output::{self, NAME, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::keys::pinned;
use capsid_seal::meta::RotationRecord;
use capsid_seal::{PublicKey, RecordSeal, StoredRecord, TrailHome};
use clap::Args;
use std::path::{Path, PathBuf};

/// Which key to pin.
#[derive(Debug, Args)]
pub(super) struct PinArgs {
    /// The public key: 64 hex digits.
    #[arg(required_unless_present = "successor", conflicts_with = "successor")]
    key: Option<String>,
    /// Whose key it is. A name may have several keys.
    #[arg(long)]
    name: Option<String>,
    /// Pin the key that took the place of a pinned one. The file holds what `capsid key show --json` printed at its
    /// owner's; the old key must have signed the rotation.
    #[arg(long, value_name = "FILE")]
    successor: Option<PathBuf>,
}

pub(super) fn run(arguments: &PinArgs, home: &TrailHome) -> Result<u8> {
    let key = match (&arguments.key, &arguments.successor) {
        (Some(key), _) => {
            let key = PublicKey::from_hex(key.trim())?;
            pin(home, &key, arguments.name.as_deref())?;
            key
        }
        (None, Some(file)) => pin_successor(home, file, arguments.name.as_deref())?,
        (None, None) => return Err(Problem::new(Code::UsageError, "A public key is needed.")),
    };
    let name = pinned::names(home.root())?.remove(&key.hex());
    if output::is_json() {
        output::document(&json!({
            "fingerprint": key.fingerprint(), "public_key": key.hex(), "origin": "pinned", "name": name,
        }));
    } else {
        let of = name.map(|name| format!(" as {}", inert_line(&name))).unwrap_or_default();
        output::line(format_args!("{} is pinned{of}", paint(NAME, key.fingerprint())));
    }
    Ok(0)
}

fn pin(home: &TrailHome, key: &PublicKey, name: Option<&str>) -> Result<()> {
    match name {
        Some(name) => pinned::pin_as(home.root(), key, name),
        None => pinned::pin(home.root(), key),
    }
}

/// Follows the rotations of a file from a pinned key on; gives the last key.
fn pin_successor(home: &TrailHome, file: &Path, name: Option<&str>) -> Result<PublicKey> {
    let mut pinned = pinned::load(home.root())?.keys;
    let names = pinned::names(home.root())?;
    let mut last = None;
    for rotation in read_rotations(file)? {
        if !pinned.contains(&rotation.old) {
            continue;
        }
        if !rotation.is_signed_by_old() {
            let message = format!(
                "The rotation from {} to {} is not signed by the old key.",
                rotation.old.fingerprint(),
                rotation.new.fingerprint()
            );
            return Err(Problem::new(Code::KeyInvalid, message)
                .fix("Ask the owner, on a way that you trust, whether the new key is theirs."));
        }
        let name = name.or(names.get(&rotation.old.hex()).map(String::as_str));
        pin(home, &rotation.new, name)?;
        pinned.push(rotation.new);
        last = Some(rotation.new);
    }
    last.ok_or_else(|| {
        let message = format!("`{}` names no successor of a key that is pinned here.", file.display());
        Problem::new(Code::NotFound, message)
            .fix("Pin the old key first, or ask its owner for the output of `capsid key show --json`.")
    })
}

fn read_rotations(file: &Path) -> Result<Vec<RotationRecord>> {
    let text = capsid_disk::files::read_optional(file)?
        .ok_or_else(|| Problem::new(Code::FileNotFound, format!("There is no file `{}`.", file.display())))?;
    let broken = || {
        Problem::new(Code::JsonInvalid, format!("`{}` holds no rotations.", file.display()))
            .fix("Ask the owner of the key for the output of `capsid key show --json`.")
    };
    let value: Value = serde_json::from_str(&text).map_err(|_| broken())?;
    let list = value.get("rotations").and_then(Value::as_array).ok_or_else(broken)?;
    list.iter().map(|one| read_rotation(one).ok_or_else(broken)).collect()
}

fn read_rotation(value: &Value) -> Option<RotationRecord> {
    let record = value.get("record")?;
    let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let seal = RecordSeal {
        hash: text("hash")?,
        signature: text("signature")?,
        signed_by: text("signed_by")?,
        signed_at: text("signed_at"),
        ..RecordSeal::default()
    };
    RotationRecord::from_record(StoredRecord { canonical: text("canonical")?, seal, columns: None })
}
