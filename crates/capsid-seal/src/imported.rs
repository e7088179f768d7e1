//! Chains in a home that are not its own: `imported/<fingerprint>/<tool>/<session>.db`, each with a note of how it came
//! in. They are never continued, and their keys count for nothing but themselves.

use crate::TrailHome;
use crate::keys::{KeyFile, KeyMap, KeyOrigin, KeySet};
use crate::sources::{
    ChainSource, ChainSources, RecordsLocation, SourceKind, chain_files, folders_in, open_any,
};
use crate::verify::ChainVerdict;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_verdict::PublicKey;
use capsid_verdict::evidence::{Expectation, ExpectationSource};
use std::path::{Path, PathBuf};

/// The file of public keys in a folder of imported chains.
const KEYS: &str = "keys.json";

/// The folder of a signer whose key nobody knows.
const UNKNOWN: &str = "unknown";

/// How a chain came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNote {
    /// Where it was.
    pub source: String,
    /// The level of its verdict then.
    pub level: String,
    /// What its signers had to be.
    pub require: String,
    /// How many records it had.
    pub count: u64,
    /// The hash of the last one.
    pub head: Option<String>,
    /// Whether it was taken in although something of it was missing: then it stays incomplete.
    pub is_incomplete: bool,
}

impl ImportNote {
    /// Writes it beside the chain.
    pub fn write(&self, database: &Path) -> Result<()> {
        let Self { source, level, require, count, head, is_incomplete } = self;
        let note = json!({
            "source": source, "level": level, "require": require, "count": count, "head": head,
            "incomplete": is_incomplete,
        });
        files::replace_private(&note_path(database), format!("{note:#}\n").as_bytes())
    }

    /// The note beside a chain; none where there is none.
    pub fn read(database: &Path) -> Result<Option<Self>> {
        let path = note_path(database);
        let Some(text) = files::read_optional(&path)? else { return Ok(None) };
        let note: Option<Value> = serde_json::from_str(&text).ok();
        let note = note.as_ref().and_then(Self::from_json).ok_or_else(|| {
            Problem::new(Code::JsonInvalid, format!("`{}` is no note of an import.", path.display()))
                .fix("Import the chain again.")
        })?;
        Ok(Some(note))
    }

    fn from_json(note: &Value) -> Option<Self> {
        let text = |name: &str| note.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            source: text("source")?,
            level: text("level")?,
            require: text("require")?,
            count: note.get("count")?.as_u64()?,
            head: text("head"),
            is_incomplete: note.get("incomplete")?.as_bool()?,
        })
    }

    /// What it says about the chain.
    pub fn expectation(&self, chain: &str) -> Expectation {
        let source = match self.is_incomplete {
            true => ExpectationSource::Import,
            false => ExpectationSource::ImportNote,
        };
        Expectation { source, chain: chain.to_owned(), count: self.count, head: self.head.clone() }
    }
}

fn note_path(database: &Path) -> PathBuf {
    database.with_extension("import.json")
}

/// The folder with a folder of chains for each signer.
pub fn folder(home: &TrailHome) -> PathBuf {
    home.root().join("imported")
}

/// Where a chain of a signer belongs.
pub fn path_of(home: &TrailHome, signer: &str, tool: &str, session: &str) -> PathBuf {
    folder(home).join(signer).join(tool).join(format!("{session}.db"))
}

/// The first signer who is not the home's own, as the name of a folder; none where all are. The name that a record gives
/// to a signer without a key may be anything.
pub fn foreign_signer(records: &ChainVerdict) -> Option<String> {
    let is_own = |origin| matches!(origin, Some(KeyOrigin::Own | KeyOrigin::Retired));
    let foreign = records.runs.iter().find(|run| !is_own(run.origin))?;
    let is_fingerprint = foreign.signer.len() == 16 && foreign.signer.bytes().all(|c| c.is_ascii_hexdigit());
    Some(if is_fingerprint { foreign.signer.to_ascii_lowercase() } else { UNKNOWN.to_owned() })
}

/// Keeps the public keys that came with chains of a signer, so that their signatures can be checked again. They prove no
/// more than they did there.
pub fn keep_keys(home: &TrailHome, signer: &str, keys: &[PublicKey]) -> Result<()> {
    let file = KeyFile::at(folder(home).join(signer).join(KEYS));
    keys.iter().try_for_each(|key| file.add(home.root(), key))
}

/// The imported chains of a home.
pub fn chains(home: &TrailHome) -> Vec<ChainSource> {
    let mut chains = Vec::new();
    for folder in folders_in(&folder(home)) {
        let signer = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        for file in chain_files(&folder) {
            let ChainSources { chains: found, .. } = open_any(&file).unwrap_or_else(|problem| {
                let location = RecordsLocation::Unreadable(file.clone(), problem);
                ChainSources::from_chains(vec![ChainSource::at(location, SourceKind::Database)])
            });
            chains.extend(found.into_iter().map(|chain| named(chain, signer.as_deref())));
        }
    }
    chains
}

/// Two people may have had a session of one name.
fn named(chain: ChainSource, signer: Option<&str>) -> ChainSource {
    let above = |file: &Path| Some(file.parent()?.file_name()?.to_string_lossy().into_owned());
    let session = chain.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let tool = above(chain.path()).zip(signer).map(|(tool, signer)| format!("{signer}/{tool}"));
    ChainSource { tool, session, ..chain }
}

/// Adds the keys that came with imported chains. They count as what they were: keys from elsewhere.
pub fn add_keys(home: &TrailHome, keys: &mut KeySet) {
    for folder in folders_in(&folder(home)) {
        match KeyFile::at(folder.join(KEYS)).load() {
            Ok(KeyMap { keys: found, refused }) => {
                found.into_iter().for_each(|key| keys.add(key, KeyOrigin::Bundled));
                keys.refused.extend(refused);
            }
            Err(problem) => keys.refused.push(problem.message),
        }
    }
}
