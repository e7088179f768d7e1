//! `capsid trail export`: a folder that anybody can verify.

use super::Json;
use super::chains::{all, check, named, tell_refused};
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Result, SystemClock, json};
use capsid_seal::bundle::{Export, Plan, Unreadable, write};
use capsid_seal::keys::{KeySet, Origin, file};
use capsid_seal::sources::ChainSource;
use capsid_seal::verify::Options;
use capsid_seal::{Home, PublicKey};
use capsid_trail::log::local;
use clap::Args;
use std::path::PathBuf;

/// Write chains, the meta-chain and the public keys into a folder that anybody can verify, without local paths.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail export --out bundle                        everything
  capsid trail export --out bundle 5f0c1b9e codex/019e    some sessions, without the meta-chain
  capsid trail verify --signatures bundle                 what the receiver does")]
pub(super) struct Arguments {
    /// The folder. Other files in it stay.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only these chains: sessions of the home, tool/session, or files.
    #[arg(value_name = "CHAIN")]
    chains: Vec<String>,
    #[command(flatten)]
    pub json: Json,
}

pub(super) fn run(arguments: &Arguments, home: &Home) -> Result<u8> {
    let chains = match arguments.chains.is_empty() {
        true => all(home)?,
        false => arguments.chains.iter().map(|name| named(home, name)).collect::<Result<Vec<_>>>()?,
    };
    chains.iter().for_each(warn_if_broken);
    let collected = Collected::of(home, chains)?;
    tell_refused(&collected.refused);
    let written = write(&arguments.out, &collected.export())?;
    for (label, problem) in &written.left_out {
        output::talk(format_args!(
            "{} {}: {}",
            paint(WARN, "left out:"),
            inert_line(label),
            inert_line(&problem.message)
        ));
    }
    let own = collected.own;
    let hex = own.map(|key| key.hex()).unwrap_or_default();
    let fingerprint = own.map(|key| key.fingerprint()).unwrap_or_default();
    if arguments.json.json {
        output::document(&json!({
            "chains": written.chains, "capsules": written.records, "out": arguments.out,
            "public_key": hex, "fingerprint": fingerprint, "left_out": written.left_out.len(),
        }));
    } else {
        let out = inert_line(&arguments.out.to_string_lossy());
        let word = paint(GOOD, "exported");
        output::line(format_args!(
            "{word} {} chain(s), {} capsule(s) -> {out}/",
            written.chains, written.records
        ));
        let begin: String = hex.chars().take(16).collect();
        output::line(format_args!("public_key={begin}... fingerprint={}", paint(NAME, fingerprint)));
    }
    Ok(u8::from(!written.left_out.is_empty()))
}

/// Chains, and the keys that go with them.
pub(super) struct Collected {
    chains: Vec<ChainSource>,
    own: Option<PublicKey>,
    known: Vec<PublicKey>,
    generated_at: String,
    /// Why some keys do not go along.
    refused: Vec<String>,
}

impl Collected {
    pub fn of(home: &Home, chains: Vec<ChainSource>) -> Result<Self> {
        let own = file::load(&home.key())?.map(|key| key.public());
        let keys = KeySet::of_home(home.root());
        let known = keys.iter().filter(|trusted| trusted.origin != Origin::Own);
        let known = known.map(|trusted| trusted.key).collect();
        Ok(Self { chains, own, known, generated_at: local(SystemClock.now()), refused: keys.refused })
    }

    fn export(&self) -> Export<'_> {
        let Self { chains, own, known, generated_at, .. } = self;
        Export { chains, own: *own, known, generated_at }
    }

    pub fn plan(&self, unreadable: Unreadable) -> Plan {
        Plan::new(&self.export(), unreadable)
    }
}

/// A broken chain is evidence too, so it goes along; but nobody should hand it over unknowingly.
fn warn_if_broken(chain: &ChainSource) {
    let checked = check(chain, &Options::default(), &KeySet::default());
    if let Some(error) = checked.ok().filter(|checked| !checked.valid()).and_then(|checked| checked.error()) {
        let label = inert_line(&chain.label);
        output::talk(format_args!(
            "{} {label}: {}",
            paint(WARN, "broken, and exported as it is:"),
            inert_line(&error)
        ));
    }
}
