//! Chains that were imported into a home: `imported/<fingerprint>/<tool>/<session>.db`.

use super::home::FileCollector;
use super::{CollectOptions, CollectedEvidence};
use crate::TrailHome;
use crate::keys::KeySet;
use crate::sources::{ChainSource, ChainSources, SourceKind, chain_files, open_any};
use capsid_model::Result;
use capsid_verdict::evidence::ChainPlace;

/// Collects the imported chains of a home. They are never continued, and no meta-chain of this home names them.
pub fn collect_imported(
    home: &TrailHome,
    keys: &KeySet,
    options: &CollectOptions,
) -> Result<CollectedEvidence> {
    let mut chains = Vec::new();
    for folder in crate::sources::folders_in(&home.root().join("imported")) {
        for file in chain_files(&folder) {
            let ChainSources { chains: found, .. } = open_any(&file).unwrap_or_else(|problem| {
                let location = crate::sources::RecordsLocation::Unreadable(file.clone(), problem);
                ChainSources::of(vec![ChainSource::at(location, SourceKind::Database)])
            });
            let owner = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            chains.extend(found.into_iter().map(|chain| named(chain, owner.as_deref())));
        }
    }
    let mut collector = FileCollector::new(ChainPlace::Imported, None, keys, options);
    collector.run(&chains);
    Ok(collector.finish())
}

/// Two people may have had a session of one name.
fn named(chain: ChainSource, owner: Option<&str>) -> ChainSource {
    let above = |file: &std::path::Path| Some(file.parent()?.file_name()?.to_string_lossy().into_owned());
    let session = chain.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let tool = above(chain.path()).zip(owner).map(|(tool, owner)| format!("{owner}/{tool}"));
    ChainSource { tool, session, ..chain }
}
