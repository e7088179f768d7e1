//! Chains that were imported into a home: `imported/<fingerprint>/<tool>/<session>.db`.

use super::home::FileCollector;
use super::{CollectOptions, CollectedChain, CollectedEvidence};
use crate::TrailHome;
use crate::imported::{ImportNote, add_keys, chains};
use crate::keys::KeySet;
use capsid_model::Result;
use capsid_verdict::evidence::ChainPlace;

/// Collects the imported chains of a home. They are never continued, and no meta-chain of this home names them. What
/// says how long they were is the note of their import.
pub fn collect_imported(
    home: &TrailHome,
    keys: &KeySet,
    options: &CollectOptions,
) -> Result<CollectedEvidence> {
    let chains = chains(home);
    let mut keys = keys.clone();
    add_keys(home, &mut keys);
    let mut collector = FileCollector::new(ChainPlace::Imported, None, &keys, options);
    for chain in &chains {
        if let Some(note) = ImportNote::read(chain.path())? {
            collector.expected.push(note.expectation(&CollectedChain::name_of(chain)));
        }
    }
    collector.run(&chains);
    Ok(collector.finish())
}
