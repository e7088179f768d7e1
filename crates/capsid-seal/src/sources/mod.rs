//! Everything that holds chains: a database of either reference tool, a JSON file, a bundle, or a complete home.

mod bundle;
mod home;
pub(crate) mod json;
mod scan;

pub use bundle::is_plain;
pub(crate) use bundle::{INDEX, META};
pub use capsid_verdict::claim::{ChainClaim, ChainFacts};
pub(crate) use home::{chain_files, files_with_ending, folders_in, names};
pub(crate) use json::ChainHeader;

use crate::chain::{ChainReader, ChainRecords, TableFlavour, no_chain};
use crate::{PublicKey, StoredRecord};
use capsid_model::{Code, Problem, Result};
use json::{JsonRecords, JsonShape};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What kind of thing a path was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A database with the hashed text in it (`agent-capsule`, and ours).
    Database,
    /// A database of documents (`qp-capsule`).
    Documents,
    /// A JSON file with one record or a list of them.
    Json,
    /// A folder with `index.json`, or one of its chain files.
    Bundle,
    /// A trail's home, or a folder of chain databases.
    Home,
}

/// What a path holds.
#[derive(Debug, Clone)]
pub struct ChainSources {
    /// What kind of thing it was.
    pub kind: SourceKind,
    /// Its chains. The meta-chain, where there is one, comes last.
    pub chains: Vec<ChainSource>,
    /// Keys that came with the chains. They prove no more than that the bundle fits together.
    pub keys: Vec<PublicKey>,
    /// Keys that came with the chains and are not taken, with the reason.
    pub refused_keys: Vec<String>,
    /// What a bundle's index claims and does not hold.
    pub contradictions: Vec<String>,
    /// Chain files of a bundle that its index does not list.
    pub unlisted: Vec<String>,
    /// The folder, if it was one.
    pub folder: Option<PathBuf>,
}

/// One chain.
#[derive(Debug, Clone)]
pub struct ChainSource {
    /// What to call it: its path, with the tenant where a file holds several.
    pub label: String,
    /// What kind of thing it comes from.
    pub kind: SourceKind,
    /// The tool whose sessions it records, where that is known.
    pub tool: Option<String>,
    /// The session, where that is known.
    pub session: Option<String>,
    /// The id that a bundle gives it.
    pub id: Option<String>,
    /// The tenant in a shared database.
    pub tenant: Option<String>,
    /// Whether it is the meta-chain.
    pub is_meta: bool,
    /// Claims about the records from outside of them.
    pub claim: Option<ChainClaim>,
    pub(crate) location: RecordsLocation,
}

/// Where a chain's records are.
#[derive(Debug, Clone)]
pub(crate) enum RecordsLocation {
    Database(PathBuf),
    Json(PathBuf),
    /// It is named somewhere, and does not exist.
    Missing(PathBuf),
    /// It is there and cannot be read.
    Unreadable(PathBuf, Problem),
}

impl ChainSource {
    /// The file.
    pub fn path(&self) -> &Path {
        match &self.location {
            RecordsLocation::Database(path)
            | RecordsLocation::Json(path)
            | RecordsLocation::Missing(path)
            | RecordsLocation::Unreadable(path, _) => path,
        }
    }

    /// Whether a bundle lists it and does not have it.
    pub fn is_missing(&self) -> bool {
        matches!(self.location, RecordsLocation::Missing(_))
    }

    /// The records in order, read on demand.
    pub fn records(&self) -> Result<SourceRecords> {
        self.records_from(0)
    }

    /// The records from a place on, and the members of a chain file beside them, complete when all records were read.
    pub(crate) fn records_with_header(&self, sequence: u64) -> Result<(SourceRecords, Option<ChainHeader>)> {
        let RecordsLocation::Json(path) = &self.location else {
            return Ok((self.records_from(sequence)?, None));
        };
        let skipped = usize::try_from(sequence).unwrap_or(usize::MAX);
        let records = JsonRecords::open(path)?;
        let header = records.header();
        Ok((SourceRecords::Json(Box::new(records.skip(skipped))), Some(header)))
    }

    /// The records from a place on. In a database those before it are not read.
    pub fn records_from(&self, sequence: u64) -> Result<SourceRecords> {
        match &self.location {
            RecordsLocation::Database(path) => {
                let records = ChainReader::open(path)?.into_records(self.tenant.as_deref()).from(sequence);
                Ok(SourceRecords::Database(Box::new(records)))
            }
            RecordsLocation::Json(path) => {
                let skipped = usize::try_from(sequence).unwrap_or(usize::MAX);
                Ok(SourceRecords::Json(Box::new(JsonRecords::open(path)?.skip(skipped))))
            }
            RecordsLocation::Missing(path) => Err(missing(path)),
            RecordsLocation::Unreadable(_, problem) => Err(problem.clone()),
        }
    }
}

/// The records of a [`ChainSource`].
#[derive(Debug)]
pub enum SourceRecords {
    /// From a database.
    Database(Box<ChainRecords<ChainReader>>),
    /// From a JSON file.
    Json(Box<std::iter::Skip<JsonRecords>>),
}

impl SourceRecords {
    /// Whether a private copy is read, because a writer stopped half way.
    pub fn is_recovered(&self) -> bool {
        match self {
            Self::Database(records) => records.reader().is_recovered(),
            Self::Json(_) => false,
        }
    }
}

impl Iterator for SourceRecords {
    type Item = Result<StoredRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Database(records) => records.next(),
            Self::Json(records) => records.next(),
        }
    }
}

/// Finds the chains in whatever a path names. Nothing is created.
pub fn open_any(path: &Path) -> Result<ChainSources> {
    let meta = std::fs::metadata(path).map_err(|error| Problem::io("read", path, &error))?;
    if meta.is_dir() {
        return if path.join("index.json").is_file() { bundle::sources(path) } else { home::sources(path) };
    }
    if !meta.is_file() {
        return Err(no_chain(path, "it is neither a file nor a folder"));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut head));
    read.map_err(|error| Problem::io("read", path, &error))?;
    if head.is_empty() {
        return Err(no_chain(path, "it is empty"));
    }
    if head == b"SQLite format 3\0" {
        let (tool, session) = home::names(path);
        return Ok(ChainSources::from_chains(database(path, tool, session)?));
    }
    match json::shape(path)? {
        JsonShape::One(fields) if fields.contains_key("chains") => {
            bundle::sources(path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new(".")))
        }
        JsonShape::One(fields) if !fields.contains_key("hash") => {
            Err(no_chain(path, "it has no sealed record"))
        }
        JsonShape::Chain(fields) => {
            let (keys, refused_keys) = bundle::keys_beside(path);
            Ok(ChainSources {
                keys,
                refused_keys,
                ..ChainSources::from_chains(vec![bundle::chain_file(path, &fields)])
            })
        }
        _ => Ok(ChainSources::from_chains(vec![ChainSource::at(
            RecordsLocation::Json(path.to_owned()),
            SourceKind::Json,
        )])),
    }
}

impl ChainSources {
    /// Chains that came without keys.
    pub(crate) fn from_chains(chains: Vec<ChainSource>) -> Self {
        let kind = chains.first().map_or(SourceKind::Database, |chain| chain.kind);
        Self {
            kind,
            chains,
            keys: Vec::new(),
            refused_keys: Vec::new(),
            contradictions: Vec::new(),
            unlisted: Vec::new(),
            folder: None,
        }
    }
}

impl ChainSource {
    pub(crate) fn at(location: RecordsLocation, kind: SourceKind) -> Self {
        let mut source = Self {
            label: String::new(),
            kind,
            tool: None,
            session: None,
            id: None,
            tenant: None,
            is_meta: false,
            claim: None,
            location,
        };
        source.label = source.path().display().to_string();
        source
    }
}

/// The chains of one database: one for each tenant, or an empty one.
pub(crate) fn database(
    path: &Path,
    tool: Option<String>,
    session: Option<String>,
) -> Result<Vec<ChainSource>> {
    let reader = ChainReader::open(path)?;
    let kind = match reader.flavour() {
        Some(TableFlavour::Document) => SourceKind::Documents,
        _ => SourceKind::Database,
    };
    let base =
        ChainSource { tool, session, ..ChainSource::at(RecordsLocation::Database(path.to_owned()), kind) };
    let mut tenants = reader.tenants()?;
    if tenants.is_empty() {
        tenants.push(None);
    }
    tenants.into_iter().map(|tenant| filter_tenant(&reader, &base, tenant)).collect()
}

/// In a shared database the tenant is the session, and only the records say of which tool.
fn filter_tenant(reader: &ChainReader, base: &ChainSource, tenant: Option<String>) -> Result<ChainSource> {
    let mut source = base.clone();
    let Some(name) = &tenant else { return Ok(source) };
    let first = reader.records(Some(name)).next().transpose()?;
    let content = first.and_then(|stored| capsid_model::exact::parse(&stored.canonical).ok());
    source.label = format!("{} [{name}]", base.label);
    source.tool = content.and_then(|content| content.text("domain").map(str::to_owned));
    source.session = Some(name.clone());
    source.tenant = tenant;
    Ok(source)
}

pub(crate) fn missing(path: &Path) -> Problem {
    Problem::new(Code::FileNotFound, format!("`{}` is listed and is not there.", path.display()))
        .fix("Ask for a complete copy, or export it again.")
}
