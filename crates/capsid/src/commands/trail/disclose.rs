//! `capsid trail disclose`: prove a value that was redacted before sealing.

use super::chains::named;
use crate::commands::store::documents::read_bytes;
use crate::output::{self, GOOD, NAME, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, json};
use capsid_seal::keys::{KeySet, file, rotation};
use capsid_seal::sources::ChainSource;
use capsid_seal::verify::VerifyOptions;
use capsid_seal::{SigningKey, StoredRecord, TrailHome};
use capsid_signer::home_sealer::redaction_key_path;
use capsid_trail::disclosure::{Disclosure, disclosable_paths};
use clap::Args;

/// Prove a value that was redacted in a record before it was sealed.
///
/// Without a value, lists the places where something was redacted. With one, makes a disclosure: the value and the
/// salt that opens the record's commitment to it. Whoever has the chain can check it without any key.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail disclose 5f0c1b9e --seq 4                             what was redacted, and where
  pass show token | capsid trail disclose 5f0c1b9e --seq 4 --value - --json > proof.json
  capsid trail disclose chain.db --seq 4 --check proof.json          what the receiver does")]
pub(super) struct TrailDiscloseArgs {
    /// The chain: a file, PATH#TENANT in a shared database, a session of the home, or tool/session.
    chain: String,
    /// The record.
    #[arg(long, value_name = "N")]
    seq: u64,
    /// A file with the value; `-` reads stdin, so that it does not end up in your shell's history.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    value: Option<String>,
    /// A disclosure to check against the record.
    #[arg(long, value_name = "FILE")]
    check: Option<String>,
}

pub(super) fn run(arguments: &TrailDiscloseArgs, home: &TrailHome) -> Result<u8> {
    let chain = named(home, &arguments.chain)?;
    let stored = record(arguments, &chain)?;
    let as_json = output::is_json();
    match (&arguments.value, &arguments.check) {
        (Some(value), _) => disclose(home, &stored, value, as_json),
        (None, Some(proof)) => {
            holds(&chain)?;
            check(&stored, proof, as_json)
        }
        (None, None) => list(&stored, as_json),
    }
}

/// A disclosure says nothing about a chain that was changed.
fn holds(chain: &ChainSource) -> Result<()> {
    let checked = super::chains::check(chain, &VerifyOptions::default(), &KeySet::default())?;
    match checked.error() {
        None => Ok(()),
        Some(error) => Err(Problem::new(Code::ChainBroken, format!("The chain does not verify: {error}."))
            .fix("`capsid trail verify` says more; a disclosure proves nothing about a broken chain.")),
    }
}

fn record(arguments: &TrailDiscloseArgs, chain: &ChainSource) -> Result<StoredRecord> {
    chain.records_from(arguments.seq)?.next().transpose()?.ok_or_else(|| {
        Problem::new(Code::NotFound, format!("There is no record at sequence {}.", arguments.seq))
            .fix("`capsid trail inspect` lists the records of a chain.")
    })
}

fn list(stored: &StoredRecord, as_json: bool) -> Result<u8> {
    let paths = disclosable_paths(stored)?;
    if as_json {
        output::document(&json!({"record": stored.seal.hash, "places": paths}));
    } else if paths.is_empty() {
        output::talk("Nothing was redacted in this record.");
    } else {
        paths.iter().for_each(|path| output::line(inert_line(path)));
    }
    Ok(0)
}

fn disclose(home: &TrailHome, stored: &StoredRecord, value: &str, as_json: bool) -> Result<u8> {
    let text = text(value)?;
    let key = key(home, &stored.seal.signed_by)?;
    // Most ways to hand a value over add a line break.
    let disclosure = Disclosure::open(stored, &key, &text).or_else(|problem| {
        text.strip_suffix('\n').map_or(Err(problem), |text| Disclosure::open(stored, &key, text))
    })?;
    if as_json {
        output::document(&disclosure.to_json());
    } else {
        output::line(format_args!(
            "{} the value stood at {}",
            paint(GOOD, "proved:"),
            paint(NAME, inert_line(&disclosure.path))
        ));
        output::line(format_args!("record  {}", disclosure.record));
        output::line(format_args!("salt    {}", disclosure.salt));
        output::talk("--json prints the disclosure to hand over. It holds the value.");
    }
    Ok(0)
}

fn check(stored: &StoredRecord, proof: &str, as_json: bool) -> Result<u8> {
    let disclosure = Disclosure::read(&text(proof)?)?;
    disclosure.check(stored)?;
    if as_json {
        output::document(&json!({"valid": true, "path": disclosure.path, "record": disclosure.record}));
    } else {
        output::line(format_args!(
            "{} the value stood at {}",
            paint(GOOD, "valid:"),
            paint(NAME, inert_line(&disclosure.path))
        ));
        output::talk("The chain holds. Who signed it: `capsid trail verify --signatures`.");
    }
    Ok(0)
}

fn text(file: &str) -> Result<String> {
    String::from_utf8(read_bytes(file)?)
        .map_err(|_| Problem::new(Code::InputInvalid, format!("`{file}` is not UTF-8 text.")))
}

/// The private key that sealed the record: the present one, or one that was retired.
fn key(home: &TrailHome, signed_by: &str) -> Result<SigningKey> {
    let own = file::load(&home.key())?.filter(|key| key.public().fingerprint() == signed_by);
    let key = match own {
        Some(key) => Some(key),
        None => file::load(&rotation::retired_path(home.root(), signed_by))?,
    };
    // Where the service signs, another key makes the salts.
    let key = match key {
        None => file::load(&redaction_key_path(home.root()))?,
        key => key,
    };
    key.ok_or_else(|| {
        Problem::new(
            Code::KeyMissing,
            format!("The private key {signed_by}, which sealed the record, is not here."),
        )
        .fix("Only who sealed the record can disclose what was redacted in it.")
    })
}
