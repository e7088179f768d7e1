//! `capsid trail import`: chains that were sealed elsewhere.

use super::chains::{CheckedChain, check, keys_for};
use crate::output::{self, BAD, DIM, GOOD, NAME, paint};
use capsid_model::exact::parse;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::chain::{ChainReader, ChainWriter, ImportedRecords};
use capsid_seal::keys::{KeySet, known};
use capsid_seal::sources::{ChainSource, ChainSources, open_any};
use capsid_seal::verify::VerifyOptions;
use capsid_seal::{PublicKey, TrailHome};
use capsid_trail::session::check_session;
use clap::Args;
use std::path::{Path, PathBuf};

/// Take in chains that were sealed elsewhere, to the byte: bundles, databases of agent-capsule and qp-capsule, JSON
/// files, whole homes.
///
/// A chain is taken in only if every hash and link of it holds, whole or not at all. Doing it twice changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail import bundle/                            what a colleague exported
  capsid trail import ~/.quantumpipes/claude-chains --tool claude-code
  capsid trail import chain.db --dry-run                 only say what would be done")]
pub(super) struct TrailImportArgs {
    /// What to take in.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The tool to file them under, where the source does not say.
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// The session to file it under; for a single chain.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
}

/// What came of one chain.
struct ImportOutcome {
    label: String,
    tool: String,
    session: String,
    outcome: Result<ImportedRecords>,
    signers: Vec<String>,
}

pub(super) fn run(arguments: &TrailImportArgs, home: &TrailHome) -> Result<u8> {
    let mut all = Vec::new();
    for path in &arguments.paths {
        let sources = open_any(path)?;
        let keys = keys_for(home, path, &sources);
        let chains: Vec<&ChainSource> = sources.chains.iter().filter(|chain| !chain.is_meta).collect();
        if arguments.session.is_some() && (chains.len() > 1 || arguments.paths.len() > 1) {
            return Err(Problem::new(
                Code::UsageError,
                "--session is for a single chain, and more were named.",
            ));
        }
        for chain in chains {
            let done = one(arguments, home, chain, &keys)?;
            if !output::is_json() {
                print(&done, arguments.dry_run);
            }
            all.push(done);
        }
        if !arguments.dry_run {
            register_keys(home, &sources, &all)?;
        }
    }
    if output::is_json() {
        output::document(
            &json!({"dry_run": arguments.dry_run, "chains": all.iter().map(entry).collect::<Vec<_>>()}),
        );
    } else if all.is_empty() {
        output::talk("There was no chain to take in.");
    }
    Ok(u8::from(all.iter().any(|done| done.outcome.is_err())))
}

fn one(
    arguments: &TrailImportArgs,
    home: &TrailHome,
    chain: &ChainSource,
    keys: &KeySet,
) -> Result<ImportOutcome> {
    let (tool, session) = names(arguments, chain)?;
    let mut signers = Vec::new();
    let outcome = import_chain(arguments, home, chain, keys, (&tool, &session), &mut signers);
    Ok(ImportOutcome { label: chain.label.clone(), tool, session, outcome, signers })
}

fn import_chain(
    arguments: &TrailImportArgs,
    home: &TrailHome,
    chain: &ChainSource,
    keys: &KeySet,
    (tool, session): (&str, &str),
    signers: &mut Vec<String>,
) -> Result<ImportedRecords> {
    check_session(tool).map_err(|_| {
        Problem::new(Code::InputInvalid, format!("`{tool}` cannot be the name of a tool's folder."))
            .fix("Name another with --tool.")
    })?;
    check_session(session)?;
    holds(check(chain, &VerifyOptions::default(), keys)?)?;
    let signed = check(chain, &VerifyOptions { signatures: true, ..VerifyOptions::default() }, keys)?;
    signers.extend(signed.signers().map(|(fingerprint, ..)| fingerprint.to_owned()));
    // A signer nobody knows is no reason to refuse; a signature that does not hold is.
    if signed.class() != Some("unknown_signer") {
        holds(signed)?;
    } else {
        output::talk(format_args!(
            "{} {}: its signer is not known here",
            paint(DIM, "note:"),
            inert_line(&chain.label)
        ));
    }
    let (path, tenant) = home.chain(tool, session);
    if arguments.dry_run {
        return would_import(&path, tenant.as_deref(), chain);
    }
    ChainWriter::open(&path)?.import(tenant.as_deref(), chain.records()?)
}

fn holds(checked: CheckedChain) -> Result<CheckedChain> {
    match checked.error() {
        None => Ok(checked),
        Some(error) => Err(Problem::new(Code::ChainBroken, format!("It does not verify: {error}."))
            .fix("Ask for an unbroken copy; nothing of this one was taken in.")),
    }
}

/// What an import would come to, without writing anything.
fn would_import(path: &Path, tenant: Option<&str>, chain: &ChainSource) -> Result<ImportedRecords> {
    let here = if path.exists() { ChainReader::open(path)?.count(tenant)? } else { 0 };
    let there = chain.records()?.count() as u64;
    Ok(ImportedRecords { known: here.min(there), added: there.saturating_sub(here) })
}

/// What a chain is stored under: the requested name, that of the source, or that of the records.
fn names(arguments: &TrailImportArgs, chain: &ChainSource) -> Result<(String, String)> {
    let first = chain.records().ok().and_then(|mut records| records.next()?.ok());
    let content = first.and_then(|stored| parse(&stored.canonical).ok()).unwrap_or_default();
    let domain = || content.text("domain").map(str::to_owned);
    let stem = || chain.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let tool = arguments.tool.clone().or_else(|| chain.tool.clone()).or_else(domain);
    let session = arguments.session.clone().or_else(|| chain.session.clone()).or_else(stem);
    let missing = || {
        Problem::new(
            Code::InputInvalid,
            format!("`{}` does not say which tool and session it is of.", chain.label),
        )
        .fix("Name them with --tool and --session.")
    };
    Ok((tool.ok_or_else(missing)?, session.ok_or_else(missing)?))
}

/// Keys that came with the chains and signed what was taken in become known, which is less than vouched for.
fn register_keys(home: &TrailHome, sources: &ChainSources, done: &[ImportOutcome]) -> Result<()> {
    let here = capsid_seal::keys::load_home(home.root());
    let signed = |key: &&PublicKey| {
        let imported = done.iter().filter(|done| done.outcome.is_ok());
        imported
            .flat_map(|done| &done.signers)
            .any(|name| *name == key.fingerprint() || *name == key.short_fingerprint())
    };
    let is_new = |key: &&PublicKey| !here.iter().any(|trusted| trusted.key == **key);
    let fresh: Vec<&PublicKey> = sources.keys.iter().filter(signed).filter(is_new).collect();
    for key in fresh {
        known::register(home.root(), key)?;
        output::talk(format_args!(
            "{} {} came with the chains and is known from now on; `capsid key pin` vouches for it",
            paint(NAME, "key:"),
            key.fingerprint()
        ));
    }
    Ok(())
}

fn print(done: &ImportOutcome, dry_run: bool) {
    let name = format!("{}/{}", inert_line(&done.tool), inert_line(&done.session));
    match &done.outcome {
        Ok(imported) if dry_run && imported.added > 0 => {
            output::line(format_args!("would import {name}: {} capsules", imported.added));
        }
        Ok(ImportedRecords { added: 0, known }) => {
            output::line(format_args!("{} {name}: {known} capsules", paint(DIM, "skip (already imported)")));
        }
        Ok(imported) => {
            output::line(format_args!("{} {name}: {} capsules", paint(GOOD, "imported"), imported.added));
        }
        Err(problem) => {
            let label = inert_line(&done.label);
            output::line(format_args!("{} {label}: {}", paint(BAD, "refused"), inert_line(&problem.message)));
            problem
                .fix
                .iter()
                .for_each(|fix| output::line(format_args!("  {} {}", paint(DIM, "fix:"), inert_line(fix))));
        }
    }
}

fn entry(done: &ImportOutcome) -> Value {
    let mut entry = json!({"chain": done.label, "tool": done.tool, "session": done.session});
    match &done.outcome {
        Ok(imported) => {
            entry["added"] = json!(imported.added);
            entry["known"] = json!(imported.known);
        }
        Err(problem) => entry["error"] = json!({"code": problem.code.as_str(), "message": problem.message}),
    }
    entry
}
