//! `capsid trail verify`: whether chains are what was sealed.

use super::chains::{CheckedChain, check, keys_for, number_and_hash, open, print_refused};
use crate::output::{self, BAD, DIM, GOOD, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::sources::{ChainSources, SourceKind};
use capsid_seal::verify::{VerifiedCheckpoint, VerifyOptions};
use capsid_seal::{PublicKey, TrailHome};
use clap::Args;
use std::path::{Path, PathBuf};

/// Check chains from their stored bytes: content, links, and with --signatures who signed.
///
/// A path is a chain database of agent-capsule or qp-capsule, a JSON file of sealed records, an export bundle, or a
/// whole home; without one it is your own home. PATH#TENANT is one chain of a database that many sessions share. Nothing is written, and no key is ever made.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail verify                                   every chain of this user
  capsid trail verify --signatures bundle/              a bundle, and who signed it
  capsid trail verify chain.db --pubkey 0edc0349...     only this key counts
  capsid trail verify chain.db --since 1204:9f86d081... only what came after a record verified before

Exit status: 0 valid, 1 broken, 2 cannot be read.")]
pub(super) struct TrailVerifyArgs {
    /// What to verify.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Check signatures too.
    #[arg(long)]
    signatures: bool,
    /// Check signatures with this public key alone (64 hex digits); may be given again for a rotated key.
    #[arg(long, value_name = "HEX")]
    pubkey: Vec<String>,
    /// Check signatures in batches: faster, and a signer could make signatures that only pass this way.
    #[arg(long)]
    batch: bool,
    /// Begin after a record that was verified before: its sequence and hash, as a verification prints them.
    #[arg(long, value_name = "SEQ:HASH", value_parser = checkpoint)]
    since: Option<VerifiedCheckpoint>,
}

fn checkpoint(text: &str) -> std::result::Result<VerifiedCheckpoint, String> {
    let (sequence, hash) = number_and_hash(text, "SEQ:HASH")?;
    Ok(VerifiedCheckpoint { sequence, hash })
}

pub(super) fn run(arguments: &TrailVerifyArgs, home: &TrailHome) -> Result<u8> {
    let named_keys = given_keys(&arguments.pubkey)?;
    let options = VerifyOptions {
        signatures: arguments.signatures || named_keys.is_some() || arguments.batch,
        batch: arguments.batch,
        since: arguments.since.clone(),
        ..VerifyOptions::default()
    };
    let paths = match arguments.paths.is_empty() {
        true => own_chain_paths(home)?,
        false => arguments.paths.clone(),
    };
    let mut results = VerifyResults::default();
    for path in &paths {
        match open(path) {
            Ok(sources) => verify_path(arguments, home, path, &sources, &named_keys, &options, &mut results)?,
            // Here 1 means broken, and what is locked is not.
            Err(problem) if paths.len() == 1 && problem.code.exit_status() == 2 => return Err(problem),
            Err(problem) => results.unreadable(&path.display().to_string(), problem),
        }
    }
    if output::is_json() {
        output::document(&summary(&results));
    } else {
        conclude(&results.checked, &options);
    }
    Ok(results.status())
}

/// What was found: verdicts, and what could not be read. One bad file does not keep the others from being checked.
#[derive(Default)]
struct VerifyResults {
    checked: Vec<CheckedChain>,
    unreadable: Vec<(String, Problem)>,
}

impl VerifyResults {
    fn unreadable(&mut self, label: &str, problem: Problem) {
        output::complain(&problem);
        self.unreadable.push((label.to_owned(), problem));
    }

    /// 1 when something is broken, 2 when something could not be read, 0 otherwise.
    fn status(&self) -> u8 {
        match (self.checked.iter().all(CheckedChain::valid), self.unreadable.is_empty()) {
            (false, _) => 1,
            (true, false) => 2,
            (true, true) => 0,
        }
    }
}

fn verify_path(
    arguments: &TrailVerifyArgs,
    home: &TrailHome,
    path: &Path,
    sources: &ChainSources,
    named_keys: &Option<KeySet>,
    options: &VerifyOptions,
    all: &mut VerifyResults,
) -> Result<()> {
    let keys = match named_keys {
        Some(keys) => keys.clone(),
        None if options.signatures => keys_for(home, path, sources),
        None => KeySet::default(),
    };
    one_chain_only(arguments, sources)?;
    print_refused(keys.refused.iter().chain(&sources.refused_keys));
    let mut results = Vec::new();
    for chain in &sources.chains {
        match check(chain, options, &keys) {
            Ok(result) => results.push(result),
            Err(problem) => all.unreadable(&chain.label, problem),
        }
    }
    results.extend(CheckedChain::compare_with_meta(sources)?);
    results.extend(sources.contradictions.iter().map(|reason| CheckedChain::contradiction(path, reason)));
    if !output::is_json() {
        results.iter().for_each(|result| print(result, options));
    }
    all.checked.extend(results);
    Ok(())
}

/// All that holds chains of this user.
fn own_chain_paths(home: &TrailHome) -> Result<Vec<PathBuf>> {
    let paths = home.chain_paths();
    if paths.is_empty() {
        let message = format!("There are no chains in `{}` yet.", home.root().display());
        return Err(
            Problem::new(Code::FileNotFound, message).fix("Name what to verify, or seal something first.")
        );
    }
    Ok(paths)
}

/// The keys that were named on the command line; no others count then.
pub(super) fn given_keys(hex: &[String]) -> Result<Option<KeySet>> {
    let mut keys = KeySet::default();
    for hex in hex {
        keys.add(PublicKey::from_hex(hex.trim())?, KeyOrigin::Given);
    }
    Ok((!hex.is_empty()).then_some(keys))
}

fn one_chain_only(arguments: &TrailVerifyArgs, sources: &ChainSources) -> Result<()> {
    let single = matches!(sources.kind, SourceKind::Database | SourceKind::Documents | SourceKind::Json)
        && sources.chains.len() <= 1;
    if arguments.since.is_none() || (single && arguments.paths.len() == 1) {
        return Ok(());
    }
    Err(Problem::new(Code::UsageError, "--since speaks of one chain, and more were named.")
        .fix("Name the one chain database that it is about, or PATH#TENANT in one of many."))
}

fn print(checked: &CheckedChain, options: &VerifyOptions) {
    let label = inert_line(&checked.label);
    let (verified, total) = (checked.verified(), checked.total());
    if checked.valid() && total == 0 {
        output::line(format_args!("{} {label}: there is no record in it", paint(WARN, "[EMPTY]")));
    } else if checked.valid() {
        let head = checked.head().map_or("genesis", |head| &head[..16.min(head.len())]);
        output::line(format_args!(
            "{} {label}: {verified}/{total} verified (head {head})",
            paint(GOOD, "[OK]")
        ));
    } else {
        let at = checked.broken_at().unwrap_or(verified);
        let error = inert_line(&checked.error().unwrap_or_default());
        output::line(format_args!(
            "{} {label}: {verified}/{total} verified (broken at seq {at}: {error})",
            paint(BAD, "[BROKEN]")
        ));
    }
    for (fingerprint, count, standing) in checked.signers() {
        output::line(format_args!("  {count} signed by {} ({standing})", inert_line(fingerprint)));
    }
    for note in checked.notes().filter(|_| options.signatures) {
        output::talk(format_args!("  {} {note}", paint(DIM, "note:")));
    }
}

fn conclude(checked: &[CheckedChain], options: &VerifyOptions) {
    match checked {
        [] => output::line("no chains here: nothing was verified"),
        [only] if only.valid() => {
            if let Some((sequence, hash)) = only.checkpoint().filter(|_| only.is_alone()) {
                output::talk(format_args!("{} --since {sequence}:{hash}", paint(DIM, "next time:")));
            }
        }
        [_] => {}
        several => {
            let broken = several.iter().filter(|one| !one.valid()).count();
            let records: u64 = several.iter().map(CheckedChain::verified).sum();
            output::talk(format_args!(
                "{} chain(s), {records} record(s) verified, {broken} broken",
                several.len()
            ));
        }
    }
    if checked
        .iter()
        .flat_map(CheckedChain::signers)
        .any(|(_, _, standing)| standing == KeyOrigin::Bundled.as_str())
    {
        output::talk(format_args!(
            "{} a key came with the data, as a forger's would; `capsid key pin` or --pubkey with the signer's own",
            paint(WARN, "note:")
        ));
    }
    if !options.signatures && !checked.is_empty() {
        output::talk(format_args!("{} signatures were not checked; --signatures does", paint(DIM, "note:")));
    }
}

/// One object that reads the same for one chain and for many.
fn summary(results: &VerifyResults) -> Value {
    let checked = &results.checked;
    let first_broken = checked.iter().find(|one| !one.valid());
    let unreadable: Vec<Value> = results
        .unreadable
        .iter()
        .map(|(label, problem)| json!({"chain": label, "code": problem.code.as_str(), "message": problem.message}))
        .collect();
    let cannot_read = results.unreadable.first().map(|(_, problem)| problem.message.clone());
    json!({
        "valid": first_broken.is_none() && unreadable.is_empty(),
        "verified": checked.iter().map(CheckedChain::verified).sum::<u64>(),
        "total": checked.iter().map(CheckedChain::total).sum::<u64>(),
        "broken_at": first_broken.and_then(CheckedChain::broken_at),
        "error": first_broken.and_then(CheckedChain::error).or(cannot_read),
        "chains": checked.iter().map(CheckedChain::to_json).collect::<Vec<_>>(),
        "unreadable": unreadable,
    })
}
