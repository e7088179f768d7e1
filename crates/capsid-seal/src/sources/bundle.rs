//! Reading a bundle of either generation. Its index is a stranger's: every word of it is checked.

use super::{ChainClaim, ChainSource, ChainSources, RecordsLocation, SourceKind};
use crate::PublicKey;
use capsid_model::exact::{ExactFields, ExactJson, parse};
use capsid_model::{Code, Problem, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The index, which lists the chains and the keys.
pub(crate) const INDEX: &str = "index.json";
/// The meta-chain.
pub(crate) const META: &str = "meta.json";

/// The chains and keys of a bundle.
pub(crate) fn sources(folder: &Path) -> Result<ChainSources> {
    let path = folder.join(INDEX);
    let text = capsid_disk::files::read_optional(&path)?.unwrap_or_default();
    let index = parse(text.strip_prefix('\u{feff}').unwrap_or(&text))
        .map_err(|problem| broken(&path, &problem.message))?;
    let Some(listed) = index.get("chains").and_then(ExactJson::as_array) else {
        return Err(broken(&path, "it lists no chains"));
    };
    let mut chains: Vec<ChainSource> = listed.iter().map(|entry| listed_chain(folder, entry)).collect();
    chains.extend(meta(folder, index.get("meta").unwrap_or(&ExactJson::Null)));
    let (keys, refused_keys) = keys(&index);
    Ok(ChainSources {
        kind: SourceKind::Bundle,
        keys,
        refused_keys,
        contradictions: contradictions(&index, listed),
        unlisted: unlisted(folder, &chains),
        folder: Some(folder.to_owned()),
        chains,
    })
}

/// One chain file, opened by itself.
pub(crate) fn chain_file(path: &Path, fields: &ExactFields) -> ChainSource {
    let entry = ExactJson::Object(fields.clone());
    let is_meta = entry.text("id").is_none();
    let location = RecordsLocation::Json(path.to_owned());
    ChainSource { is_meta, claim: Some(ChainClaim::parse(&entry)), ..named(&entry, location) }
}

fn listed_chain(folder: &Path, entry: &ExactJson) -> ChainSource {
    let id = entry.text("id").unwrap_or_default();
    let path = folder.join(format!("{id}.json"));
    let location = if !is_plain(id) {
        let index_path = folder.join(INDEX);
        let problem = broken(&index_path, "a chain's id is no file name");
        RecordsLocation::Unreadable(index_path, problem)
    } else if path.is_file() {
        RecordsLocation::Json(path)
    } else {
        RecordsLocation::Missing(path)
    };
    ChainSource { claim: Some(ChainClaim::parse(entry)), ..named(entry, location) }
}

fn named(entry: &ExactJson, location: RecordsLocation) -> ChainSource {
    let tool = entry.text("tool").map(str::to_owned);
    let id = entry.text("id").unwrap_or_default();
    let session = tool.as_ref().and_then(|tool| id.strip_prefix(tool.as_str())?.strip_prefix('-'));
    let session = session.unwrap_or(id);
    let session = (!session.is_empty()).then(|| session.to_owned());
    let id = entry.text("id").map(str::to_owned);
    ChainSource { tool, session, id, ..ChainSource::at(location, SourceKind::Bundle) }
}

/// Files that look like chains and that nobody lists.
fn unlisted(folder: &Path, chains: &[ChainSource]) -> Vec<String> {
    const LOOKED_AT: u64 = 64 << 10;
    let is_listed = |name: &str| {
        [INDEX, META, crate::heads::HEADS].contains(&name)
            || chains
                .iter()
                .any(|chain| name.strip_suffix(".json").is_some_and(|stem| chain.id.as_deref() == Some(stem)))
    };
    let has_records = |path: &Path| {
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut head));
        read.is_ok() && String::from_utf8_lossy(&head).contains("\"capsules\"")
    };
    let files = super::files_with_ending(folder, ".json");
    let files = files.into_iter().filter(|path| path.parent() == Some(folder));
    let names = files.filter_map(|path| Some((path.file_name()?.to_string_lossy().into_owned(), path)));
    names.filter(|(name, path)| !is_listed(name) && has_records(path)).map(|(name, _)| name).collect()
}

/// The meta-chain, if the index names one or the file exists.
fn meta(folder: &Path, entry: &ExactJson) -> Option<ChainSource> {
    let path = folder.join(META);
    let location = match (path.is_file(), entry.is_null()) {
        (true, _) => RecordsLocation::Json(path),
        (false, false) => RecordsLocation::Missing(path),
        (false, true) => return None,
    };
    let claim = (!entry.is_null()).then(|| ChainClaim::parse(entry));
    Some(ChainSource { is_meta: true, claim, ..ChainSource::at(location, SourceKind::Bundle) })
}

/// The keys whose names are the beginnings of themselves, and why the others are refused.
fn keys(index: &ExactJson) -> (Vec<PublicKey>, Vec<String>) {
    let (mut keys, mut refused): (Vec<PublicKey>, _) = (Vec::new(), Vec::new());
    let own = index.text("public_key").filter(|key| !key.is_empty()).map(|key| {
        let name = index.text("fingerprint").unwrap_or_else(|| key.get(..16).unwrap_or_default());
        (name, Some(key))
    });
    let listed = index.get("keys").and_then(ExactJson::as_object);
    let listed = listed.into_iter().flatten().map(|(name, key)| (name.as_str(), key.as_str()));
    for (name, key) in own.into_iter().chain(listed) {
        match key.map(PublicKey::from_hex) {
            Some(Ok(key)) if key.fingerprint() == name => {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            Some(Ok(key)) => {
                refused.push(format!("The name `{name}` is not the beginning of its key {}.", key.hex()));
            }
            Some(Err(problem)) => refused.push(problem.message),
            None => refused.push(format!("The key of the name `{name}` is no text.")),
        }
    }
    (keys, refused)
}

/// The keys of the bundle that contains a chain file, if there is one.
pub(crate) fn keys_beside(chain: &Path) -> (Vec<PublicKey>, Vec<String>) {
    let text = capsid_disk::files::read_optional(&chain.with_file_name(INDEX)).ok().flatten();
    let index = text.and_then(|text| parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).ok());
    index.map(|index| keys(&index)).unwrap_or_default()
}

fn contradictions(index: &ExactJson, listed: &[ExactJson]) -> Vec<String> {
    let records: i64 =
        listed.iter().filter_map(|entry| entry.get("length")?.as_i64()).fold(0, i64::saturating_add);
    let counts = [("chain_count", listed.len() as i64, "chains"), ("capsule_count", records, "records")];
    let differs = |(name, actual, what): (&str, i64, &str)| {
        let declared = index.get(name)?.as_i64().filter(|declared| *declared != actual)?;
        Some(format!("`{name}` of {INDEX} says {declared} and {actual} {what} are listed."))
    };
    counts.into_iter().filter_map(differs).collect()
}

fn broken(path: &Path, reason: &str) -> Problem {
    Problem::new(
        Code::ChainUnreadable,
        format!("`{}` is not the index of a bundle: {reason}", path.display()),
    )
    .fix("Ask for a complete copy, or export it again.")
}

/// Whether a name from a stranger's index can only mean a file in the same folder.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', ':', '\0']) && name != "." && name != ".."
}
