//! Writing a bundle, a record at a time: a chain may be larger than the memory.

use super::names::Names;
use super::{Facts, INDEX, META};
use crate::hash::sha3_hex;
use crate::sources::{ChainSource, SourceRecords};
use crate::{PublicKey, Stored};
use capsid_model::exact::{Fields, Json, indented, parse, spaced};
use capsid_model::fields;
use capsid_model::{Problem, Result};
use std::path::Path;

/// How long a title may be, in characters.
const TITLE: usize = 90;

/// What to write.
#[derive(Debug)]
pub struct Export<'a> {
    /// The chains, the meta-chain among them.
    pub chains: &'a [ChainSource],
    /// This machine's own key.
    pub own: Option<PublicKey>,
    /// Keys of others.
    pub known: &'a [PublicKey],
    /// The present moment, in local time with its offset.
    pub generated_at: &'a str,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// How many chains, without the meta-chain.
    pub chains: usize,
    /// How many records they have.
    pub records: u64,
    /// Chains that could not be read and are not in the bundle.
    pub left_out: Vec<(String, Problem)>,
}

/// Writes a bundle into a folder. Files are replaced one by one, the index last; other files in the folder stay.
pub fn write(out: &Path, export: &Export<'_>) -> Result<Written> {
    let mut names = Names::default();
    let (mut summaries, mut meta, mut left_out) = (Vec::new(), None, Vec::new());
    for chain in export.chains {
        let summary = match Summary::of(chain) {
            Ok(summary) if summary.facts.length == 0 => continue,
            Ok(summary) => summary,
            Err(problem) => {
                left_out.push((chain.label.clone(), problem));
                continue;
            }
        };
        if chain.is_meta {
            write_chain(&out.join(META), summary.meta_fields(true), chain, summary.facts.length)?;
            meta = Some(summary);
            continue;
        }
        let (tool, session) = (tool(chain), session(chain));
        let id = names.name(&tool, &session);
        let fields = summary.fields(&id, &tool, &session);
        write_chain(&out.join(format!("{id}.json")), fields.clone(), chain, summary.facts.length)?;
        summaries.push((summary, fields));
    }
    summaries.sort_by(|(a, _), (b, _)| b.age().cmp(&a.age()));
    let records = summaries.iter().map(|(summary, _)| summary.facts.length).sum();
    let chains = summaries.len();
    let listed: Vec<Json> = summaries.into_iter().map(|(_, fields)| Json::Object(fields)).collect();
    let index = index(export, listed, records, meta.as_ref());
    capsid_disk::files::replace(&out.join(INDEX), indented(&index).as_bytes())?;
    Ok(Written { chains, records, left_out })
}

fn index(export: &Export<'_>, chains: Vec<Json>, records: u64, meta: Option<&Summary>) -> Json {
    let own = export.own;
    let keys: Fields =
        export.known.iter().chain(&own).map(|key| (key.fingerprint(), Json::from(key.hex()))).collect();
    Json::Object(fields! {
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
    chain.tool.clone().or_else(folder).unwrap_or_else(|| "chain".to_owned())
}

fn session(chain: &ChainSource) -> String {
    let stem = || chain.path().file_stem().map(|name| name.to_string_lossy().into_owned());
    chain.session.clone().or_else(stem).unwrap_or_default()
}

/// What a bundle says about a chain.
#[derive(Debug, Default)]
struct Summary {
    title: Option<String>,
    facts: Facts,
    hashes_differ: bool,
}

impl Summary {
    fn of(chain: &ChainSource) -> Result<Self> {
        chain.records()?.try_fold(Self::default(), |summary, stored| Ok(summary.with(&stored?)))
    }

    fn with(mut self, stored: &Stored) -> Self {
        self.title = self.title.or_else(|| title(&stored.canonical));
        self.hashes_differ |= sha3_hex(stored.canonical.as_bytes()) != stored.seal.hash;
        self.facts.see(&stored.seal);
        self
    }

    /// The newest chain comes first, and of two that ended together the longer one.
    fn age(&self) -> (&str, u64) {
        (self.facts.ended_at.as_deref().unwrap_or_default(), self.facts.length)
    }

    fn fields(&self, id: &str, tool: &str, session: &str) -> Fields {
        fields! {
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
        }
    }

    fn meta_fields(&self, with_genesis: bool) -> Fields {
        let mut fields =
            fields! { "length": self.facts.length, "head_hash": self.facts.head_hash.as_deref() };
        if with_genesis {
            fields.insert("genesis_hash".to_owned(), Json::from(self.facts.genesis_hash.as_deref()));
        }
        fields.insert("all_hashes_ok".to_owned(), Json::from(!self.hashes_differ));
        fields
    }
}

/// The first line of what the user asked for, if this record knows.
fn title(canonical: &str) -> Option<String> {
    let content = parse(canonical).ok()?;
    let request = content.get("trigger")?.text("request")?.trim();
    let line = request.lines().next()?.trim_end();
    Some(line.chars().take(TITLE).collect())
}

/// Writes one chain file: what is known of the chain, then its records. A chain that grew meanwhile is cut where it was.
fn write_chain(path: &Path, fields: Fields, chain: &ChainSource, length: u64) -> Result<()> {
    let records: SourceRecords = chain.records()?;
    let head = spaced(&Json::Object(fields));
    capsid_disk::files::replace_with(path, |out| {
        let mut put =
            |text: &str| out.write_all(text.as_bytes()).map_err(|error| Problem::io("write", path, &error));
        put(head.strip_suffix('}').unwrap_or(&head))?;
        put(", \"capsules\": [")?;
        for (index, stored) in records.take(usize::try_from(length).unwrap_or(usize::MAX)).enumerate() {
            put(if index == 0 { "" } else { ", " })?;
            put(&spaced(&record(stored?)))?;
        }
        put("]}")
    })
}

fn record(stored: Stored) -> Json {
    let seal = stored.seal;
    Json::Object(fields! {
        "hash": seal.hash,
        "signature": seal.signature,
        "signature_pq": seal.signature_pq,
        "signed_at": seal.signed_at,
        "signed_by": seal.signed_by,
        "canonical": stored.canonical,
    })
}
