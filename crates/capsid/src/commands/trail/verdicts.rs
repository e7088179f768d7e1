//! The one verdict, for whatever a user names: the own home, a part of it, or data from elsewhere.

use super::chains::{keys_for, named, open, own_keys, print_refused};
use super::requirement::SignerRequirement;
use super::signer::ask_witness;
use capsid_model::Result;
use capsid_seal::TrailHome;
use capsid_seal::evidence::{
    CollectOptions, CollectedChain, CollectedEvidence, collect_imported, collect_sources,
};
use capsid_seal::imported;
use capsid_seal::keys::KeySet;
use capsid_seal::sources::ChainSources;
use capsid_seal::verdict::{DataPlace, TrailVerdict};
use capsid_signer::head_witness::HeadWitness;
use capsid_signer::home_evidence::{collect_signed_home, own_key_limits};
use std::collections::BTreeSet;
use std::path::Path;

/// What is to be verified, and how.
pub(super) struct VerdictRequest<'a> {
    pub home: &'a TrailHome,
    pub requirement: SignerRequirement,
    pub options: CollectOptions,
}

/// The verdict on what one name stands for, and the chains that it is about.
pub(super) struct NamedVerdict {
    pub verdict: TrailVerdict,
    pub chains: Vec<CollectedChain>,
    /// What the signing service says of the home.
    pub witness: Option<HeadWitness>,
}

/// A path, or a name of a chain in the home, opened.
pub(super) enum VerdictTarget {
    /// Chains of the own home, as `tool/session`; all when there are none.
    Home(BTreeSet<String>),
    /// Chains that were imported into the own home.
    Imported,
    /// Data from elsewhere.
    Elsewhere(ChainSources),
}

impl VerdictRequest<'_> {
    /// Finds out what a name stands for. A path inside of the home is a part of it.
    pub fn open(&self, name: &Path) -> Result<VerdictTarget> {
        let text = name.to_str().unwrap_or_default();
        let is_name = !name.exists() && !text.contains('#') && is_plain_name(text);
        if is_name && let Ok(chain) = named(self.home, text) {
            if chain.path().starts_with(imported::folder(self.home)) {
                return Ok(VerdictTarget::Imported);
            }
            return Ok(VerdictTarget::Home(BTreeSet::from([CollectedChain::name_of(&chain)])));
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (path, root) = (real(name), real(self.home.root()));
        if path == root {
            return Ok(VerdictTarget::Home(BTreeSet::new()));
        }
        if path.starts_with(root.join("imported")) {
            return Ok(VerdictTarget::Imported);
        }
        let sources = open(name)?;
        let is_inside = sources.chains.iter().all(|chain| {
            let file = real(chain.path());
            file.starts_with(root.join("chains"))
                || file == real(&self.home.meta())
                || self.home.shared().is_some_and(|shared| file == real(shared))
        });
        if !is_inside || sources.chains.is_empty() {
            return Ok(VerdictTarget::Elsewhere(sources));
        }
        let names = sources.chains.iter().map(|chain| match real(chain.path()) == real(&self.home.meta()) {
            true => capsid_seal::evidence::META.to_owned(),
            false => CollectedChain::name_of(chain),
        });
        Ok(VerdictTarget::Home(names.collect()))
    }

    /// The verdict. The path is the one that the target was opened from.
    pub fn judge(&self, path: &Path, target: &VerdictTarget) -> Result<NamedVerdict> {
        match target {
            VerdictTarget::Home(only) => self.judge_home(only),
            VerdictTarget::Imported => {
                let keys = self.home_keys();
                let witness = ask_witness(self.home)?;
                let found = self.collect_apart(witness.as_ref(), &keys, |options| {
                    collect_imported(self.home, &keys, options)
                })?;
                Ok(self.evaluate(found, DataPlace::Imported, &keys))
            }
            VerdictTarget::Elsewhere(sources) => {
                let keys = self.requirement.keys(|| keys_for(self.home, path, sources));
                print_refused(keys.refused.iter().filter(|_| !self.options.skip_signatures));
                let witness = ask_witness(self.home)?;
                let found = self.collect_apart(witness.as_ref(), &keys, |options| {
                    collect_sources(sources, &keys, options)
                })?;
                Ok(self.evaluate(found, DataPlace::Elsewhere, &keys))
            }
        }
    }

    /// Collects what is not among the chains of the home. The home's own keys count there as far as in the home.
    fn collect_apart(
        &self,
        witness: Option<&HeadWitness>,
        keys: &KeySet,
        collect: impl FnOnce(&CollectOptions) -> Result<CollectedEvidence>,
    ) -> Result<CollectedEvidence> {
        let own_limits = own_key_limits(witness, self.home, keys)?;
        let mut found = collect(&CollectOptions { own_limits, ..self.options.clone() })?;
        witness.iter().for_each(|witness| witness.note_elsewhere(&mut found.evidence));
        Ok(found)
    }

    /// The own home. What was imported has a requirement of its own.
    fn judge_home(&self, only: &BTreeSet<String>) -> Result<NamedVerdict> {
        let keys = self.home_keys();
        // Asked first: a record that is sealed meanwhile is one more, never one that is missing.
        let witness = ask_witness(self.home)?;
        let options = CollectOptions { only: only.clone(), ..self.options.clone() };
        let is_given = self.requirement.is_given();
        let found = collect_signed_home(witness.as_ref(), self.home, &keys, &options, is_given)?;
        let mut own = NamedVerdict { witness, ..self.evaluate(found, DataPlace::Home, &keys) };
        if !only.is_empty() {
            // The meta-chain is a witness here; nobody asked for it.
            own.chains.retain(|chain| only.contains(&chain.name));
            return Ok(own);
        }
        let imported = self.collect_apart(own.witness.as_ref(), &keys, |options| {
            collect_imported(self.home, &keys, options)
        })?;
        if imported.chains.is_empty() && imported.evidence.expectations.is_empty() {
            return Ok(own);
        }
        let imported = self.evaluate(imported, DataPlace::Imported, &keys);
        Ok(NamedVerdict {
            verdict: own.verdict.combine(imported.verdict),
            chains: [own.chains, imported.chains].concat(),
            witness: own.witness,
        })
    }

    fn home_keys(&self) -> KeySet {
        let keys = self.requirement.keys(|| own_keys(self.home));
        print_refused(keys.refused.iter().filter(|_| !self.options.skip_signatures));
        keys
    }

    fn evaluate(&self, found: CollectedEvidence, place: DataPlace, keys: &KeySet) -> NamedVerdict {
        let verdict = found.evaluate(&self.requirement.policy(place, keys));
        NamedVerdict { verdict, chains: found.chains, witness: None }
    }
}

/// Whether a word is rather the name of a chain than of a file.
fn is_plain_name(text: &str) -> bool {
    let has_ending =
        Path::new(text).extension().is_some_and(|ending| ["db", "json"].iter().any(|one| ending == *one));
    !text.is_empty() && !has_ending && !text.starts_with(['.', '/', '~']) && !text.ends_with('/')
}
