//! `capsid trail import`: chains that were sealed elsewhere.

use super::chains::{keys_for, own_keys, print_refused};
use super::requirement::{RequirementArgs, SignerRequirement};
use super::signer::ask_witness;
use crate::commands::variable;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_model::exact::{ExactJson, parse};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::chain::{ChainReader, ChainWriter, ImportedRecords};
use capsid_seal::evidence::{CollectOptions, CollectedChain, META, collect_sources};
use capsid_seal::heads::HEADS;
use capsid_seal::home::qp_capsule;
use capsid_seal::imported::{self, ImportNote};
use capsid_seal::keys::{adopted, file, own};
use capsid_seal::sources::{ChainSource, ChainSources, open_any};
use capsid_seal::verdict::{DataPlace, Finding, FindingCode, SignerPolicy, TrailVerdict, VerdictLevel};
use capsid_seal::{PublicKey, TrailHome};
use capsid_signer::home_evidence::own_key_limits;
use capsid_trail::session::check_session;
use clap::Args;
use std::path::{Path, PathBuf};

/// Take in chains that were sealed elsewhere, to the byte: bundles, databases of agent-capsule and qp-capsule, JSON
/// files, whole homes.
///
/// A chain is taken in only if it verifies as `capsid trail verify` would say, whole or not at all. Chains that your own keys
/// sealed go to `chains/` and go on there; chains of others go to `imported/` and are never continued. No key becomes
/// trusted. Doing it twice changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail import bundle/                            what a colleague exported
  capsid trail import bundle/ --require pinned           only if keys that you pinned signed all of it
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
    #[command(flatten)]
    requirement: RequirementArgs,
    /// Also take chains of which something is missing. They stay incomplete.
    #[arg(long)]
    accept_incomplete: bool,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
}

/// What came of one chain.
struct ImportOutcome {
    label: String,
    tool: String,
    session: String,
    level: VerdictLevel,
    /// The file that it went to.
    path: Option<PathBuf>,
    outcome: Result<ImportedRecords>,
}

pub(super) fn run(arguments: &TrailImportArgs, home: &TrailHome) -> Result<u8> {
    let requirement = SignerRequirement::read(&arguments.requirement, home, false)?;
    let witness = ask_witness(home)?;
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for path in &arguments.paths {
        let sources = open_any(path)?;
        let count = sources.chains.iter().filter(|chain| !chain.is_meta).count();
        if arguments.session.is_some() && (count > 1 || arguments.paths.len() > 1) {
            return Err(Problem::new(
                Code::UsageError,
                "--session is for a single chain, and more were named.",
            ));
        }
        if !arguments.dry_run {
            adopt_qp_capsule(home, path)?;
        }
        let keys = requirement.keys(|| keys_for(home, path, &sources));
        print_refused(&keys.refused);
        let policy = requirement.policy(DataPlace::Elsewhere, &keys);
        let own_limits = own_key_limits(witness.as_ref(), home, &keys)?;
        let options = CollectOptions { own_limits, ..CollectOptions::default() };
        let mut found = collect_sources(&sources, &keys, &options)?;
        witness.iter().for_each(|witness| witness.note_elsewhere(&mut found.evidence));
        let verdict = found.evaluate(&policy);
        let import = ImportRun { arguments, home, sources: &sources, path, policy, verdict: &verdict };
        for chain in found.chains.iter().filter(|chain| !chain.source.is_meta) {
            let done = import.chain(chain)?;
            if !output::is_json() {
                import.print(&done);
            }
            all.push(done);
        }
        missing.extend(import.missing(&found.chains));
    }
    if !output::is_json() {
        missing.iter().for_each(|finding: &Finding| {
            output::line(format_args!("{} {}", paint(BAD, "missing"), inert_line(&finding.message)));
        });
    }
    if output::is_json() {
        let missing: Vec<Value> =
            missing.iter().map(|one| json!({"code": one.code.as_str(), "message": one.message})).collect();
        output::document(&json!({
            "dry_run": arguments.dry_run, "chains": all.iter().map(entry).collect::<Vec<_>>(), "missing": missing,
        }));
    } else if all.is_empty() {
        output::talk("There was no chain to take in.");
    }
    let is_bad = all.iter().any(|done| done.outcome.is_err());
    Ok(u8::from(is_bad || (!missing.is_empty() && !arguments.accept_incomplete)))
}

/// The folder of `qp-capsule` on this machine is this user's: whoever can read its private key may act as it.
fn adopt_qp_capsule(home: &TrailHome, path: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(folder) = qp_capsule(&variable).filter(|folder| real(path).starts_with(real(folder))) else {
        return Ok(());
    };
    let private_key = folder.join("key");
    let Ok(Some(key)) = file::load(&private_key) else { return Ok(()) };
    if own_keys(home).is_own(&key.public()) {
        return Ok(());
    }
    let key = adopted::adopt(home.root(), &private_key, &own::random_seed()?)?;
    output::talk(format_args!(
        "{} {} of qp-capsule is one of your own keys from now on",
        paint(NAME, "key:"),
        key.fingerprint()
    ));
    Ok(())
}

/// One path that is taken in.
struct ImportRun<'a> {
    arguments: &'a TrailImportArgs,
    home: &'a TrailHome,
    sources: &'a ChainSources,
    path: &'a Path,
    policy: SignerPolicy,
    verdict: &'a TrailVerdict,
}

impl ImportRun<'_> {
    fn chain(&self, chain: &CollectedChain) -> Result<ImportOutcome> {
        let (tool, session) = names(self.arguments, &chain.source)?;
        let worst = self.worst(chain);
        let level = worst.map_or(VerdictLevel::Valid, |finding| finding.level);
        let mut path = None;
        let outcome = self.import(chain, worst, (&tool, &session), &mut path);
        let path = path.filter(|_| outcome.is_ok());
        Ok(ImportOutcome { label: chain.source.label.clone(), tool, session, level, path, outcome })
    }

    /// The worst finding about a chain, or about everything that came with it.
    fn worst(&self, chain: &CollectedChain) -> Option<&Finding> {
        let concerns = |finding: &Finding| match finding.chain.as_deref() {
            None | Some(META | HEADS) => finding.level > VerdictLevel::Unverified,
            Some(name) => name == chain.name,
        };
        let mut worst: Option<&Finding> = None;
        for finding in self.verdict.findings.iter().filter(|finding| concerns(finding)) {
            if worst.is_none_or(|known| finding.level > known.level) {
                worst = Some(finding);
            }
        }
        worst
    }

    /// What the source says was there and is not.
    fn missing(&self, chains: &[CollectedChain]) -> Vec<Finding> {
        let is_absent = |finding: &&Finding| {
            matches!(finding.code, FindingCode::ConversationMissing | FindingCode::ChainMissing)
                && !chains.iter().any(|chain| finding.chain.as_deref() == Some(&chain.name))
        };
        self.verdict.findings.iter().filter(is_absent).cloned().collect()
    }

    fn import(
        &self,
        chain: &CollectedChain,
        worst: Option<&Finding>,
        (tool, session): (&str, &str),
        target: &mut Option<PathBuf>,
    ) -> Result<ImportedRecords> {
        check_session(tool).map_err(|_| {
            Problem::new(Code::InputInvalid, format!("`{tool}` cannot be the name of a tool's folder."))
                .fix("Name another with --tool.")
        })?;
        check_session(session)?;
        let level = worst.map_or(VerdictLevel::Valid, |finding| finding.level);
        let is_incomplete = level == VerdictLevel::Incomplete;
        if let Some(finding) = worst
            && level > VerdictLevel::Unverified
            && !(is_incomplete && self.arguments.accept_incomplete)
        {
            return Err(refusal(finding));
        }
        let Some(records) = &chain.records else {
            let problem = chain.problem.clone();
            return Err(problem.unwrap_or_else(|| Problem::new(Code::ChainUnreadable, "It cannot be read.")));
        };
        let signer = capsid_seal::imported::foreign_signer(records);
        // What is to go on here must be whole, and named as its records say.
        let goes_on = signer.is_none()
            && !is_incomplete
            && records.total > 0
            && sealed_name(&chain.source)
                .is_none_or(|sealed| sealed == (tool.to_owned(), session.to_owned()));
        let (path, tenant) = match goes_on {
            true => self.home.chain(tool, session),
            false => {
                let own = || records.runs.first().map(|run| run.signer.clone());
                let folder = signer.clone().or_else(own).unwrap_or_else(|| "unknown".to_owned());
                (imported::path_of(self.home, &folder, tool, session), None)
            }
        };
        *target = Some(path.clone());
        let source = &chain.source;
        if self.arguments.dry_run {
            return would_import(&path, tenant.as_deref(), source);
        }
        let done = ChainWriter::open(&path)?.import(tenant.as_deref(), source.records()?)?;
        if !goes_on {
            let note = ImportNote {
                source: self.path.to_string_lossy().into_owned(),
                level: level.as_str().to_owned(),
                require: self.policy.require.as_str().to_owned(),
                count: records.length,
                head: records.head.clone(),
                is_incomplete,
            };
            note.write(&path)?;
            if let Some(signer) = &signer {
                imported::keep_keys(self.home, signer, &self.keys_of(chain))?;
            }
        }
        Ok(done)
    }

    /// The keys that came with a chain and signed it.
    fn keys_of(&self, chain: &CollectedChain) -> Vec<PublicKey> {
        let runs = || chain.records.iter().flat_map(|records| &records.runs);
        let signed = |key: &&PublicKey| runs().any(|run| run.signer == key.fingerprint());
        let came = keys_for(self.home, self.path, self.sources);
        let keys: Vec<PublicKey> = came.iter().map(|trusted| trusted.key).collect();
        keys.iter().filter(signed).copied().collect()
    }

    fn print(&self, done: &ImportOutcome) {
        let name = format!("{}/{}", inert_line(&done.tool), inert_line(&done.session));
        let is_foreign = done.path.as_ref().is_some_and(|path| path.starts_with(imported::folder(self.home)));
        let place = if is_foreign { " -> imported/" } else { "" };
        match &done.outcome {
            Ok(imported) if self.arguments.dry_run && imported.added > 0 => {
                output::line(format_args!("would import {name}: {} records{place}", imported.added));
            }
            Ok(ImportedRecords { added: 0, known }) => {
                output::line(format_args!(
                    "{} {name}: {known} records",
                    paint(DIM, "skip (already imported)")
                ));
            }
            Ok(imported) => {
                let word = paint(GOOD, "imported");
                output::line(format_args!("{word} {name}: {} records{place}", imported.added));
            }
            Err(problem) => {
                let label = inert_line(&done.label);
                let word = paint(BAD, "refused");
                output::line(format_args!("{word} {label}: {}", inert_line(&problem.message)));
                problem.fix.iter().for_each(|fix| {
                    output::line(format_args!("  {} {}", paint(DIM, "fix:"), inert_line(fix)));
                });
            }
        }
        if done.outcome.is_ok() && done.level != VerdictLevel::Valid {
            let level = done.level.as_str();
            output::talk(format_args!("  {} {level}; `capsid trail verify` says why", paint(WARN, "note:")));
        }
    }
}

fn refusal(finding: &Finding) -> Problem {
    let code = match finding.level {
        VerdictLevel::Unreadable => Code::ChainUnreadable,
        _ => Code::ChainBroken,
    };
    let fix = match (&finding.fix, finding.level) {
        (_, VerdictLevel::Incomplete) => {
            "Ask for a complete copy; or --accept-incomplete takes what is there, and it stays incomplete."
        }
        (Some(fix), _) => fix,
        (None, _) => "Ask for an unbroken copy; nothing of this one was taken in.",
    };
    Problem::new(code, format!("It does not verify: {}", finding.message)).fix(fix)
}

/// The tool and the session that the first record names.
fn sealed_name(chain: &ChainSource) -> Option<(String, String)> {
    let first = chain.records().ok()?.next()?.ok()?;
    let content = parse(&first.canonical).ok()?;
    let session = content.at(&["context", "session_id"]).and_then(ExactJson::as_str)?;
    Some((content.text("domain")?.to_owned(), session.to_owned()))
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

fn entry(done: &ImportOutcome) -> Value {
    let mut entry = json!({
        "chain": done.label, "tool": done.tool, "session": done.session, "level": done.level.as_str(),
        "path": done.path,
    });
    match &done.outcome {
        Ok(imported) => {
            entry["added"] = json!(imported.added);
            entry["known"] = json!(imported.known);
        }
        Err(problem) => entry["error"] = json!({"code": problem.code.as_str(), "message": problem.message}),
    }
    entry
}
