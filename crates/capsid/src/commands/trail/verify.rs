//! `capsid trail verify`: one verdict on chains.

use super::chains::number_and_hash;
use super::requirement::{RequirementArgs, SignerRequirement};
use super::signer::{ask_witness, print_witness, require_signed_home};
use super::verdict_text::{conclude, print_chains, print_findings, to_json};
use super::verdicts::{NamedVerdict, VerdictRequest, VerdictTarget};
use crate::output;
use capsid_model::{Code, Problem, Result};
use capsid_seal::evidence::{CollectOptions, CollectedChain};
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::meta::PinnedHead;
use capsid_seal::sources::SourceKind;
use capsid_seal::verdict::TrailVerdict;
use capsid_seal::verify::VerifiedCheckpoint;
use capsid_seal::{PublicKey, TrailHome};
use capsid_signer::head_witness::HeadWitness;
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Check chains from their stored bytes: content, links, signatures, who signed, and whether everything is there.
///
/// A path is a chain database of agent-capsule or qp-capsule, a JSON file of sealed records, an export bundle, or a
/// whole home; a name is a session of your home, as `inspect` takes it. Without one it is your own home, with every
/// trace of what was there. PATH#TENANT is one chain of a database that many sessions share. No byte is written, and no
/// key is ever made.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail verify                                   every chain of this user
  capsid trail verify 5f0c1b9e                          one session of the home
  capsid trail verify bundle/ --require pinned          a bundle, by a key that you pinned
  capsid trail verify chain.db --pubkey 0edc0349...     only this key counts
  capsid trail verify chain.db --after-record 1204:9f86d081... only what came after a record verified before
  capsid trail verify --meta-head 127:91a8057c...       compare with the head of the meta-chain you noted elsewhere

Marks: [OK] valid, [UNVERIFIED] nothing is wrong but something is not proven, [INCOMPLETE] something is missing,
[BROKEN] something was changed or forged, [UNREADABLE].
Exit status: 0 valid or unverified, 1 broken, incomplete or short of what you required, 2 cannot be read.")]
pub(super) struct TrailVerifyArgs {
    /// What to verify.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    requirement: RequirementArgs,
    /// Compare counts, heads and traces, and verify only what came after the last recorded count.
    #[arg(long, conflicts_with = "since")]
    quick: bool,
    /// Exit with 1 unless everything is checked and good.
    #[arg(long)]
    strict: bool,
    /// Leave signatures out.
    #[arg(long, conflicts_with_all = ["signatures", "batch", "require", "pubkey", "from"])]
    no_signatures: bool,
    /// Count an unknown signer as a fault. Signatures are checked with and without it.
    #[arg(long)]
    signatures: bool,
    /// Check signatures in batches: faster, and a signer could make signatures that only pass this way.
    #[arg(long)]
    batch: bool,
    /// Begin after a record that was verified before: its sequence and hash, as a verification prints them.
    #[arg(long = "after-record", alias = "since", value_name = "SEQ:HASH", value_parser = checkpoint)]
    since: Option<VerifiedCheckpoint>,
    /// Compare with the meta-chain's length and head as they were noted elsewhere; `verify-meta` prints them.
    #[arg(long, value_name = "LENGTH:HASH", value_parser = meta_head, conflicts_with = "since")]
    meta_head: Vec<PinnedHead>,
}

/// The meta-chain's length and head, as `verify-meta` prints them.
pub(super) fn meta_head(text: &str) -> std::result::Result<PinnedHead, String> {
    let (length, hash) = number_and_hash(text, "LENGTH:HASH")?;
    Ok(PinnedHead { length, hash })
}

fn checkpoint(text: &str) -> std::result::Result<VerifiedCheckpoint, String> {
    let (sequence, hash) = number_and_hash(text, "SEQ:HASH")?;
    Ok(VerifiedCheckpoint { sequence, hash })
}

/// What came of all that was named: the verdict, and what could not be opened at all.
#[derive(Default)]
pub(super) struct VerifyResults {
    pub verdict: Option<TrailVerdict>,
    pub chains: Vec<CollectedChain>,
    pub unopened: Vec<(String, Problem)>,
    /// What the signing service says of the home.
    pub witness: Option<HeadWitness>,
}

impl VerifyResults {
    fn add(&mut self, named: NamedVerdict) {
        self.verdict = Some(match self.verdict.take() {
            Some(before) => before.combine(named.verdict),
            None => named.verdict,
        });
        self.chains.extend(named.chains);
        self.witness = named.witness.or(self.witness.take());
    }

    fn status(&self, is_strict: bool) -> u8 {
        let judged = self.verdict.as_ref().map_or(0, |verdict| verdict.exit_code(is_strict));
        match (judged, self.unopened.is_empty()) {
            (0, false) => 2,
            _ => judged,
        }
    }
}

pub(super) fn run(arguments: &TrailVerifyArgs, home: &TrailHome, is_home_named: bool) -> Result<u8> {
    let request = VerdictRequest {
        home,
        requirement: SignerRequirement::read(&arguments.requirement, home, arguments.signatures)?,
        options: CollectOptions {
            skip_signatures: arguments.no_signatures,
            batch: arguments.batch,
            quick: arguments.quick,
            since: arguments.since.clone(),
            meta_heads: arguments.meta_head.clone(),
            ..CollectOptions::default()
        },
    };
    let mut results = VerifyResults::default();
    if arguments.paths.is_empty() {
        if !is_home_named {
            require_signed_home(home)?;
        }
        require_chains(home)?;
        if arguments.since.is_some() {
            return Err(several_chains());
        }
        results.add(request.judge(home.root(), &VerdictTarget::Home(BTreeSet::new()))?);
    }
    for path in &arguments.paths {
        let opened = request.open(path).and_then(|target| {
            one_chain_only(arguments, &target)?;
            request.judge(path, &target)
        });
        match opened {
            Ok(named) => results.add(named),
            // One bad file does not keep the others from being checked.
            Err(problem) if arguments.paths.len() == 1 || problem.code == Code::UsageError => {
                return Err(problem);
            }
            Err(problem) => {
                output::complain(&problem);
                results.unopened.push((path.display().to_string(), problem));
            }
        }
    }
    if output::is_json() {
        output::document(&to_json(&results));
    } else {
        print_chains(&results);
        print_findings(&results);
        results.witness.iter().for_each(print_witness);
        conclude(&results, &request);
    }
    Ok(results.status(arguments.strict))
}

/// Whether there is anything in the home, or anything left of it.
fn require_chains(home: &TrailHome) -> Result<()> {
    let is_trace = |path: &Path| path.exists();
    let checkpoint = capsid_seal::chain::checkpoint_of(&home.meta());
    if !home.chain_paths().is_empty() || is_trace(&checkpoint) || is_trace(&home.root().join("imported")) {
        return Ok(());
    }
    if ask_witness(home)?.is_some_and(|witness| witness.chains() > 0) {
        return Ok(());
    }
    let message = format!("There are no chains in `{}` yet.", home.root().display());
    Err(Problem::new(Code::FileNotFound, message).fix("Name what to verify, or seal something first."))
}

/// The keys that were named on the command line; no others count then.
pub(super) fn given_keys(hex: &[String]) -> Result<Option<KeySet>> {
    let mut keys = KeySet::default();
    for hex in hex {
        keys.add(PublicKey::from_hex(hex.trim())?, KeyOrigin::Given);
    }
    Ok((!hex.is_empty()).then_some(keys))
}

fn one_chain_only(arguments: &TrailVerifyArgs, target: &VerdictTarget) -> Result<()> {
    let is_single = match target {
        VerdictTarget::Home(names) => names.len() == 1,
        VerdictTarget::Imported => false,
        VerdictTarget::Elsewhere(sources) => {
            matches!(sources.kind, SourceKind::Database | SourceKind::Documents | SourceKind::Json)
                && sources.chains.len() <= 1
        }
    };
    match arguments.since.is_none() || (is_single && arguments.paths.len() == 1) {
        true => Ok(()),
        false => Err(several_chains()),
    }
}

fn several_chains() -> Problem {
    Problem::new(Code::UsageError, "--after-record speaks of one chain, and more were named.")
        .fix("Name the one chain database that it is about, or PATH#TENANT in one of many.")
}
