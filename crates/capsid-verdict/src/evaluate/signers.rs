//! Whether those who signed may have.

use super::finding;
use crate::evidence::ChainEvidence;
use crate::finding::{Finding, FindingCode};
use crate::key_set::KeyOrigin;
use crate::level::VerdictLevel;
use crate::policy::{Require, SignerPolicy};
use crate::verify::SignerRun;

/// What to do about a chain of somebody else among one's own.
const MIGRATE: &str = "`capsid trail migrate` moves chains of others to imported/.";

/// The first record that the requirement refuses, and what stays open about the others.
pub(super) fn findings(chain: &ChainEvidence, policy: &SignerPolicy) -> (Option<Finding>, Vec<Finding>) {
    let mut refused: Option<Finding> = None;
    let mut open: Vec<Finding> = Vec::new();
    let mut epoch = None;
    for run in &chain.runs {
        let one = judge(run, epoch, policy);
        epoch = epoch.max(run.epoch);
        match one {
            Some(one) if one.level == VerdictLevel::Invalid => {
                refused.get_or_insert(one);
                break;
            }
            // One of a kind is enough.
            Some(one) if !open.iter().any(|known| known.code == one.code) => open.push(one),
            _ => {}
        }
    }
    (refused, open)
}

fn judge(run: &SignerRun, epoch: Option<u64>, policy: &SignerPolicy) -> Option<Finding> {
    let (first, signer) = (run.first, &run.signer);
    let at = |position: u64, code, level, message: String| {
        Some(Finding { position: Some(position), ..finding(code, level, message) })
    };
    let Some(origin) = run.origin else {
        let message = format!(
            "Record {first} names the signer {signer}. No key for it is known, so its signature was not checked."
        );
        let level = match policy.tolerates_unknown_signers() {
            true => VerdictLevel::Unverified,
            false => VerdictLevel::Invalid,
        };
        let fix = (policy.require == Require::Own).then(|| MIGRATE.to_owned());
        return at(first, FindingCode::UnknownSigner, level, message).map(|one| Finding { fix, ..one });
    };
    if !policy.require.allows(origin) {
        let (word, require) = (origin.as_str(), policy.require.as_str());
        let message =
            format!("Record {first} is signed by {signer} ({word}). This verification requires {require}.");
        let fix = match policy.require {
            Require::Own => MIGRATE,
            _ => {
                "If you trust the key, `capsid key pin` vouches for it; --require any asks for no key of yours."
            }
        };
        return at(first, FindingCode::SignerNotAllowed, VerdictLevel::Invalid, message)
            .map(|one| Finding { fix: Some(fix.to_owned()), ..one });
    }
    let too_late = match run.until {
        Some(until) if first.saturating_add(run.count) > until => Some((first.max(until), until)),
        // Without a record of the rotation only the order of the keys is known.
        None if origin == KeyOrigin::Retired && run.epoch < epoch => Some((first, first)),
        _ => None,
    };
    if let Some((position, until)) = too_late {
        let message =
            format!("Record {position} is signed by {signer}, which was retired at record {until}.");
        return at(position, FindingCode::RetiredKey, VerdictLevel::Invalid, message);
    }
    if origin == KeyOrigin::Bundled {
        let message = format!(
            "The signatures hold for {signer}, a key that came with the data. Anyone can make such a bundle."
        );
        return Some(finding(FindingCode::BundledSigner, VerdictLevel::Unverified, message)).map(|one| {
            Finding { fix: Some("Ask the signer for the key and run `capsid key pin`.".to_owned()), ..one }
        });
    }
    None
}
