//! The evidence about a home together with what its signing service says, for every command that judges one.

use crate::head_witness::HeadWitness;
use crate::trust_root::SignerTrust;
use crate::trusted_keys::add_service_keys;
use capsid_model::Result;
use capsid_seal::TrailHome;
use capsid_seal::evidence::{CollectOptions, CollectedEvidence, OwnKeyLimits, collect_home, collect_sources};
use capsid_seal::keys::KeyOrigin;
use capsid_seal::sources::ChainSources;
use capsid_verdict::{DataPlace, KeySet, SignerPolicy, TrailVerdict};
use std::path::Path;

/// The keys of a home, with those of the service that signs it. `trust` is the folder of the trust root. What cannot be
/// used is listed in [`KeySet::refused`].
pub fn load_signed_home(trust: &Path, home: &Path) -> KeySet {
    let mut keys = capsid_seal::keys::load_home(home);
    add_keys_of_home(&mut keys, trust, home);
    keys
}

/// Adds the keys of the service that signs a home to those of the home.
pub fn add_keys_of_home(keys: &mut KeySet, trust: &Path, home: &Path) {
    let added = SignerTrust::find_by_home(trust, home)
        .and_then(|trust| trust.map_or(Ok(()), |trust| add_service_keys(keys, &trust)));
    if let Err(problem) = added {
        keys.refused.push(problem.message);
    }
}

/// Asks the service that signs a home, whoever verifies it; nothing where root set none up.
pub fn ask_witness(trust: &Path, home: &Path) -> Result<Option<HeadWitness>> {
    SignerTrust::find_by_home(trust, home)?.map(HeadWitness::ask).transpose()
}

/// Collects a home, and what the witness says of it. `is_given` leaves the keys of the home alone: others were named.
pub fn collect_signed_home(
    witness: Option<&HeadWitness>,
    home: &TrailHome,
    keys: &KeySet,
    options: &CollectOptions,
    is_given: bool,
) -> Result<CollectedEvidence> {
    let expectations = witness.map(HeadWitness::expectations).unwrap_or_default();
    let options = CollectOptions { expectations, ..options.clone() };
    let mut found = match witness {
        // Of a home that is gone the service still knows what was in it.
        Some(_) if !home.root().is_dir() => {
            let mut found = CollectedEvidence::default();
            found.evidence.expectations.clone_from(&options.expectations);
            found
        }
        _ => collect_home(home, keys, &options)?,
    };
    if let Some(witness) = witness.filter(|_| !is_given) {
        witness.apply_to(&mut found.evidence);
    }
    Ok(found)
}

/// Up to where the keys of a home may have signed, for data that is not among its chains.
pub fn own_key_limits(
    witness: Option<&HeadWitness>,
    home: &TrailHome,
    keys: &KeySet,
) -> Result<OwnKeyLimits> {
    let mut limits = OwnKeyLimits::read(home, keys)?;
    limits.adopted = witness.and_then(HeadWitness::adopted);
    Ok(limits)
}

/// A verdict under the default requirement, and what it is made of.
#[derive(Debug)]
pub struct JudgedTrail {
    /// The chains, and the evidence about them.
    pub found: CollectedEvidence,
    /// The verdict.
    pub verdict: TrailVerdict,
}

/// The verdict on the user's own home.
pub fn judge_home(trust: &Path, home: &TrailHome, options: &CollectOptions) -> Result<JudgedTrail> {
    let keys = load_signed_home(trust, home.root());
    let witness = ask_witness(trust, home.root())?;
    let found = match home.root().is_dir() || witness.is_some() {
        true => collect_signed_home(witness.as_ref(), home, &keys, options, false)?,
        false => CollectedEvidence::default(),
    };
    let verdict = found.evaluate(&SignerPolicy::for_place(DataPlace::Home, keys.has_pinned()));
    Ok(JudgedTrail { found, verdict })
}

/// The verdict on data from elsewhere, for the user of a home.
pub fn judge_elsewhere(
    trust: &Path,
    home: &TrailHome,
    sources: &ChainSources,
    options: &CollectOptions,
) -> Result<JudgedTrail> {
    let mut keys = load_signed_home(trust, home.root());
    sources.keys.iter().for_each(|key| keys.add(*key, KeyOrigin::Bundled));
    let witness = ask_witness(trust, home.root())?;
    let own_limits = own_key_limits(witness.as_ref(), home, &keys)?;
    let mut found = collect_sources(sources, &keys, &CollectOptions { own_limits, ..options.clone() })?;
    witness.iter().for_each(|witness| witness.note_elsewhere(&mut found.evidence));
    let verdict = found.evaluate(&SignerPolicy::for_place(DataPlace::Elsewhere, keys.has_pinned()));
    Ok(JudgedTrail { found, verdict })
}
