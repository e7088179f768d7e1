//! Writing a bundle, a record at a time: a chain may be larger than the memory.

use super::heads::{ExportedHead, HeadSigner};
use super::names::ChainNames;
use crate::hash::sha3_hex;
use crate::heads::{HEADS, SignedStatement, to_file};
use crate::sources::{ChainFacts, ChainSource, INDEX, META, missing};
use crate::{PublicKey, StoredRecord};
use capsid_model::exact::{ExactFields, ExactJson, indented, parse, spaced};
use capsid_model::fields;
use capsid_model::{Problem, Result};
use std::io::{Read, Write};
use std::path::Path;

/// How long a title may be, in characters.
const TITLE: usize = 90;

/// What to write.
#[derive(Debug)]
pub struct BundleExport<'a> {
    /// The chains, the meta-chain among them.
    pub chains: &'a [ChainSource],
    /// This machine's own key.
    pub own: Option<PublicKey>,
    /// Keys of others.
    pub known: &'a [PublicKey],
    /// The present moment, in local time with its offset.
    pub generated_at: &'a str,
    /// Signs a statement about the head of each chain; without it there is none.
    pub heads: Option<&'a dyn HeadSigner>,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenBundle {
    /// How many chains, without the meta-chain.
    pub chains: usize,
    /// How many records they have.
    pub records: u64,
    /// Chains that could not be read and are not in the bundle.
    pub left_out: Vec<(String, Problem)>,
    /// Why heads are not stated, though they should be.
    pub unstated: Option<Problem>,
}

/// Writes a bundle into a folder. Files are replaced one by one, the index last; other files in the folder stay.
pub fn write(out: &Path, export: &BundleExport<'_>) -> Result<WrittenBundle> {
    let plan = BundlePlan::new(export, UnreadablePolicy::LeftOut);
    plan.write_all(out)?;
    Ok(plan.written)
}

/// What becomes of a chain that cannot be read, or not to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadablePolicy {
    /// It is not in the bundle.
    LeftOut,
    /// It has the records that could be read, and `unreadable` is the reason why there are no more.
    Shown,
}

/// The files of a bundle before they are written. What is written later is cut where the chains were at this moment,
/// so that the files fit together while the chains grow.
#[derive(Debug)]
pub struct BundlePlan {
    files: Vec<(String, BundleFile)>,
    /// What the bundle holds.
    pub written: WrittenBundle,
}

#[derive(Debug)]
enum BundleFile {
    Chain { fields: ExactFields, chain: Box<ChainSource>, length: u64 },
    Index(ExactJson),
    Heads(String),
}

impl BundlePlan {
    /// Reads every chain once.
    pub fn new(export: &BundleExport<'_>, unreadable: UnreadablePolicy) -> Self {
        let mut names = ChainNames::default();
        let (mut files, mut summaries, mut meta, mut left_out) = (Vec::new(), Vec::new(), None, Vec::new());
        let mut statements = Vec::new();
        let mut unstated = None;
        for chain in export.chains {
            let (tool, session) = match chain.is_meta {
                true => ("meta".to_owned(), "meta".to_owned()),
                false => (tool(chain), session(chain)),
            };
            let signer = export.heads.filter(|_| unstated.is_none());
            let (summary, stated) = ChainSummary::with_statement(chain, signer, (&tool, &session));
            if let Some(problem) = &summary.unreadable {
                left_out.push((chain.label.clone(), problem.clone()));
            }
            let is_left_out = match unreadable {
                UnreadablePolicy::LeftOut => summary.unreadable.is_some(),
                UnreadablePolicy::Shown => false,
            };
            if is_left_out || (summary.facts.length == 0 && summary.unreadable.is_none()) {
                continue;
            }
            match stated {
                Ok(statement) => statements.extend(statement),
                Err(problem) => unstated = Some(problem),
            }
            let length = summary.facts.length;
            let (name, fields) = if chain.is_meta {
                (META.to_owned(), summary.meta_fields(true))
            } else {
                let id = names.name(&tool, &session);
                (format!("{id}.json"), summary.fields(&id, &tool, &session))
            };
            match chain.is_meta {
                true => meta = Some(summary),
                false => summaries.push((summary, fields.clone())),
            }
            files.push((name, BundleFile::Chain { fields, chain: Box::new(chain.clone()), length }));
        }
        summaries.sort_by(|(a, _), (b, _)| b.age().cmp(&a.age()));
        let records = summaries.iter().map(|(summary, _)| summary.facts.length).sum();
        let chains = summaries.len();
        let listed: Vec<ExactJson> =
            summaries.into_iter().map(|(_, fields)| ExactJson::Object(fields)).collect();
        if !statements.is_empty() {
            files.push((HEADS.to_owned(), BundleFile::Heads(to_file(&statements))));
        }
        files.push((INDEX.to_owned(), BundleFile::Index(index(export, listed, records, meta.as_ref()))));
        Self { files, written: WrittenBundle { chains, records, left_out, unstated } }
    }

    /// The names of the files. The index comes last, for who finds it expects the others.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// The chains, each with the name of its file without the ending.
    pub fn chains(&self) -> impl Iterator<Item = (&str, &ChainSource)> {
        self.files.iter().filter_map(|(name, file)| match file {
            BundleFile::Chain { chain, .. } => Some((name.strip_suffix(".json").unwrap_or(name), &**chain)),
            BundleFile::Index(_) | BundleFile::Heads(_) => None,
        })
    }

    /// Writes all of them into a folder. Of an earlier export, what says something of all chains is removed where this one
    /// says nothing: it would speak of other chains.
    pub fn write_all(&self, folder: &Path) -> Result<()> {
        for name in self.names() {
            let path = folder.join(name);
            if name == INDEX {
                self.remove_stale(folder)?;
            }
            capsid_disk::files::replace_with(&path, |out| self.write(name, &path, out))?;
        }
        Ok(())
    }

    fn remove_stale(&self, folder: &Path) -> Result<()> {
        for (name, member) in [(HEADS, "\"statements\""), (META, "\"capsules\"")] {
            let path = folder.join(name);
            if !self.names().any(|each| each == name) && is_of_export(&path, member)? {
                capsid_disk::files::remove(&path)?;
            }
        }
        Ok(())
    }

    /// Writes one of the files. `path` is where it goes, for who reads of a problem.
    pub fn write(&self, name: &str, path: &Path, out: &mut dyn Write) -> Result<()> {
        match self.files.iter().find(|(each, _)| each == name) {
            Some((_, BundleFile::Chain { fields, chain, length })) => {
                write_chain(path, fields, chain, *length, out)
            }
            Some((_, BundleFile::Index(index))) => {
                out.write_all(indented(index).as_bytes()).map_err(|error| Problem::io("write", path, &error))
            }
            Some((_, BundleFile::Heads(text))) => {
                out.write_all(text.as_bytes()).map_err(|error| Problem::io("write", path, &error))
            }
            None => Err(missing(path)),
        }
    }
}

/// Whether a file is one that an export wrote: it has the member near its beginning.
fn is_of_export(path: &Path, member: &str) -> Result<bool> {
    const HEAD: u64 = 64 << 10;
    let Some(file) = capsid_disk::files::open(path)? else { return Ok(false) };
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).map_err(|error| Problem::io("read", path, &error))?;
    Ok(String::from_utf8_lossy(&head).contains(member))
}

fn index(
    export: &BundleExport<'_>,
    chains: Vec<ExactJson>,
    records: u64,
    meta: Option<&ChainSummary>,
) -> ExactJson {
    let own = export.own;
    let keys: ExactFields =
        export.known.iter().chain(&own).map(|key| (key.fingerprint(), ExactJson::from(key.hex()))).collect();
    ExactJson::Object(fields! {
        "generated_at": export.generated_at,
        "public_key": own.map_or(String::new(), |key| key.hex()),
        "fingerprint": own.map_or(String::new(), |key| key.fingerprint()),
        "keys": keys,
        "chain_count": chains.len(),
        "capsule_count": records,
        "meta": meta.map(|meta| meta.meta_fields(false)),
        "chains": chains,
    })
}

fn tool(chain: &ChainSource) -> String {
    let folder = || chain.path().parent()?.file_name().map(|name| name.to_string_lossy().into_owned());
    // An imported chain has its signer in front.
    let plain = |tool: &String| tool.rsplit('/').next().unwrap_or(tool).to_owned();
    chain.tool.as_ref().map(plain).or_else(folder).unwrap_or_else(|| "chain".to_owned())
}

fn session(chain: &ChainSource) -> String {
    let stem = || chain.path().file_stem().map(|name| name.to_string_lossy().into_owned());
    chain.session.clone().or_else(stem).unwrap_or_default()
}

/// A bundle's claims about a chain.
#[derive(Debug, Default)]
struct ChainSummary {
    title: Option<String>,
    facts: ChainFacts,
    hashes_differ: bool,
    /// Why it could not be read to its end.
    unreadable: Option<Problem>,
}

impl ChainSummary {
    /// Reads a chain, and has its head stated. Who states it may know of records that were added meanwhile; then it is
    /// read again.
    fn with_statement(
        chain: &ChainSource,
        signer: Option<&dyn HeadSigner>,
        (tool, session): (&str, &str),
    ) -> (Self, Result<Option<SignedStatement>>) {
        let is_imported = chain.tool.as_ref().is_some_and(|tool| tool.contains('/'));
        let state = |summary: &Self| {
            // A chain whose texts are not those that were hashed is not vouched for.
            let head = summary.facts.head_hash.as_deref().filter(|_| !summary.hashes_differ);
            let (Some(signer), Some(head)) = (signer, head) else { return Ok(None) };
            signer.sign(&ExportedHead { tool, session, count: summary.facts.length, head, is_imported })
        };
        let mut summary = Self::summarize(chain);
        let mut stated = state(&summary);
        let count = stated.as_ref().ok().and_then(|one| one.as_ref()?.statement()).map(|one| one.count);
        if count.is_some_and(|count| count > summary.facts.length) {
            summary = Self::summarize(chain);
            stated = state(&summary);
        }
        (summary, stated)
    }

    fn summarize(chain: &ChainSource) -> Self {
        let mut summary = Self::default();
        let read = chain.records().and_then(|records| {
            for stored in records {
                summary = std::mem::take(&mut summary).with(&stored?);
            }
            Ok(())
        });
        summary.unreadable = read.err();
        summary
    }

    fn with(mut self, stored: &StoredRecord) -> Self {
        self.title = self.title.or_else(|| title(&stored.canonical));
        self.hashes_differ |= sha3_hex(stored.canonical.as_bytes()) != stored.seal.hash;
        self.facts.record(&stored.seal);
        self
    }

    /// The newest chain comes first, and of two that ended together the longer one.
    fn age(&self) -> (&str, u64) {
        (self.facts.ended_at.as_deref().unwrap_or_default(), self.facts.length)
    }

    fn fields(&self, id: &str, tool: &str, session: &str) -> ExactFields {
        let mut fields = fields! {
            "id": id,
            "tool": tool,
            "title": self.title.as_deref().unwrap_or(session),
            "length": self.facts.length,
            "head_hash": self.facts.head_hash.as_deref(),
            "genesis_hash": self.facts.genesis_hash.as_deref(),
            "all_hashes_ok": !self.hashes_differ,
            "signed_by": self.facts.signed_by.iter().cloned().collect::<Vec<_>>(),
            "started_at": self.facts.started_at.as_deref(),
            "ended_at": self.facts.ended_at.as_deref(),
        };
        self.add_unreadable(&mut fields);
        fields
    }

    fn add_unreadable(&self, fields: &mut ExactFields) {
        if let Some(problem) = &self.unreadable {
            fields.insert("unreadable".to_owned(), ExactJson::from(problem.message.as_str()));
        }
    }

    fn meta_fields(&self, with_genesis: bool) -> ExactFields {
        let mut fields =
            fields! { "length": self.facts.length, "head_hash": self.facts.head_hash.as_deref() };
        if with_genesis {
            fields.insert("genesis_hash".to_owned(), ExactJson::from(self.facts.genesis_hash.as_deref()));
        }
        fields.insert("all_hashes_ok".to_owned(), ExactJson::from(!self.hashes_differ));
        self.add_unreadable(&mut fields);
        fields
    }
}

/// The first line of the user's request, if this record has it.
fn title(canonical: &str) -> Option<String> {
    let content = parse(canonical).ok()?;
    let request = content.get("trigger")?.text("request")?.trim();
    let line = request.lines().next()?.trim_end();
    Some(line.chars().take(TITLE).collect())
}

/// Writes one chain file: what is known of the chain, then its records. A chain that grew meanwhile is cut where it was.
fn write_chain(
    path: &Path,
    fields: &ExactFields,
    chain: &ChainSource,
    length: u64,
    out: &mut dyn Write,
) -> Result<()> {
    let head = spaced(&ExactJson::Object(fields.clone()));
    let mut put =
        |text: &str| out.write_all(text.as_bytes()).map_err(|error| Problem::io("write", path, &error));
    put(head.strip_suffix('}').unwrap_or(&head))?;
    put(", \"capsules\": [")?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // One that could not be read at all is not opened again.
    let records = (length > 0).then(|| chain.records()).transpose()?;
    for (index, stored) in records.into_iter().flatten().take(length).enumerate() {
        put(if index == 0 { "" } else { ", " })?;
        put(&spaced(&record(stored?)))?;
    }
    put("]}")
}

fn record(stored: StoredRecord) -> ExactJson {
    let seal = stored.seal;
    ExactJson::Object(fields! {
        "hash": seal.hash,
        "signature": seal.signature,
        "signature_pq": seal.signature_pq,
        "signed_at": seal.signed_at,
        "signed_by": seal.signed_by,
        "canonical": stored.canonical,
    })
}
