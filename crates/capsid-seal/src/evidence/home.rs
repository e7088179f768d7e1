//! A home with all its traces, and files outside of any home with theirs.

use super::chain::{ChainOutcome, ChainTask};
use super::meta::{limit_runs, read_meta};
use super::names::{SealedName, of_source};
use super::{CollectOptions, CollectedChain, CollectedEvidence, META, watched};
use crate::TrailHome;
use crate::chain::{ChainReader, checkpoint_keys, checkpoint_of, expected_by_checkpoint};
use crate::keys::KeySet;
use crate::meta::MetaTraces;
use crate::sources::{ChainSource, ChainSources, RecordsLocation, SourceKind, open_any};
use crate::verify::SignerRun;
use capsid_model::{Code, Problem, Result};
use capsid_verdict::FindingCode;
use capsid_verdict::evidence::{ChainPlace, Expectation, ExpectationSource};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Collects the chains of a home, its meta-chain, and every trace of what was there. What was imported is apart.
pub fn collect_home(home: &TrailHome, keys: &KeySet, options: &CollectOptions) -> Result<CollectedEvidence> {
    let root = home.root();
    std::fs::read_dir(root).map_err(|error| Problem::io("read", root, &error))?;
    let mut chains = Vec::new();
    if home.chains().is_dir() || home.meta().is_file() {
        chains = open_any(root)?.chains;
    }
    let meta = chains.iter().position(|chain| chain.is_meta).map(|at| chains.remove(at));
    for database in shared_databases(home, meta.as_ref()) {
        match open_any(&database) {
            Ok(sources) => chains.extend(sources.chains),
            Err(problem) => {
                let location = RecordsLocation::Unreadable(database, problem);
                chains.push(ChainSource::at(location, SourceKind::Database));
            }
        }
    }
    chains.extend(meta);
    let mut collector = FileCollector::new(ChainPlace::Home, Some(root), keys, options);
    collector.run(&chains);
    Ok(collector.finish())
}

/// The databases of many sessions: the one that the home shares, and those that the meta-chain names.
fn shared_databases(home: &TrailHome, meta: Option<&ChainSource>) -> BTreeSet<PathBuf> {
    let mut databases: BTreeSet<PathBuf> = home.shared().map(Path::to_owned).into_iter().collect();
    for stored in meta.and_then(|meta| meta.records().ok()).into_iter().flatten().flatten() {
        databases.extend(crate::meta::shared_database(&stored.canonical, home));
    }
    databases.retain(|database| database.is_file());
    databases
}

/// Collects databases and JSON files that belong to no home, or a home that is not the user's.
pub(super) fn collect_files(
    sources: &ChainSources,
    keys: &KeySet,
    options: &CollectOptions,
) -> Result<CollectedEvidence> {
    let root = sources
        .folder
        .as_deref()
        .filter(|folder| folder.join("chains").is_dir() || folder.join("meta.db").is_file());
    if let Some(root) = root {
        return collect_home(&TrailHome::at(root), keys, options);
    }
    let mut collector = FileCollector::new(ChainPlace::File, None, keys, options);
    collector.run(&sources.chains);
    Ok(collector.finish())
}

pub(super) struct FileCollector<'a> {
    place: ChainPlace,
    root: Option<&'a Path>,
    keys: &'a KeySet,
    options: &'a CollectOptions,
    found: CollectedEvidence,
    traces: MetaTraces,
    pub(super) expected: Vec<Expectation>,
}

impl<'a> FileCollector<'a> {
    pub(super) fn new(
        place: ChainPlace,
        root: Option<&'a Path>,
        keys: &'a KeySet,
        options: &'a CollectOptions,
    ) -> Self {
        let mut found = CollectedEvidence::default();
        found.evidence.has_claims = place != ChainPlace::File;
        found.note_options(options);
        let expected = options.expectations.clone();
        Self { place, root, keys, options, found, traces: MetaTraces::default(), expected }
    }

    /// Collects the traces first: they say at which lengths a hash is known.
    pub(super) fn run(&mut self, chains: &[ChainSource]) {
        if let Some(meta) = chains.iter().find(|chain| chain.is_meta)
            && let Ok(traces) = read_meta(meta, self.keys)
        {
            self.expected.extend(traces.expectations.iter().cloned());
            self.traces = traces;
        }
        for chain in chains {
            self.expect_of_chain(chain);
        }
        if let Some(root) = self.root {
            self.expect_of_home(root, chains);
        } else {
            // A file by itself says nothing about a meta-chain that was never with it.
            self.expected.retain(|one| one.chain != META);
        }
        let has_meta = self.root.is_some();
        let heads = self.options.meta_heads.iter().filter(|_| has_meta).map(|pinned| Expectation {
            source: ExpectationSource::PinnedHead,
            chain: META.to_owned(),
            count: pinned.length,
            head: Some(pinned.hash.clone()),
        });
        self.expected.extend(heads);
        for chain in chains {
            self.chain(chain);
        }
    }

    pub(super) fn finish(mut self) -> CollectedEvidence {
        let only = &self.options.only;
        self.expected.retain(|one| only.is_empty() || one.chain == META || only.contains(&one.chain));
        self.found.evidence.expectations = self.expected;
        self.found
    }

    fn is_wanted(&self, chain: &ChainSource, name: &str) -> bool {
        self.options.only.is_empty() || chain.is_meta || self.options.only.contains(name)
    }

    /// What a chain's own file and its checkpoint file say about it.
    fn expect_of_chain(&mut self, chain: &ChainSource) {
        let RecordsLocation::Database(path) = &chain.location else { return };
        let name = of_source(chain);
        if !self.is_wanted(chain, &name) {
            return;
        }
        let tenant = chain.tenant.as_deref();
        // A file that cannot be read is told when its records are read.
        let Ok(reader) = ChainReader::open(path) else { return };
        self.expected.extend(reader.expectations(tenant, &name, None).unwrap_or_default());
        if tenant.is_some() || (self.root.is_none() && self.place == ChainPlace::File) {
            return;
        }
        let mut unknown = checkpoint_keys(&checkpoint_of(path));
        let known: BTreeSet<String> = reader.keys(None).unwrap_or_default().into_iter().collect();
        unknown.retain(|key| !known.contains(key));
        if chain.is_meta {
            self.expected.extend(self.traces.expected_by_checkpoint(&unknown));
        } else if !unknown.is_empty() {
            // Keys that the database knows stand for records up to the last of them.
            let sealed = reader.sealed_count(None).unwrap_or_default();
            self.expected.push(Expectation {
                source: ExpectationSource::CheckpointFile,
                chain: name,
                count: sealed.saturating_add(unknown.len() as u64),
                head: None,
            });
        }
    }

    /// What is left of chains whose files are gone.
    fn expect_of_home(&mut self, root: &Path, chains: &[ChainSource]) {
        if !chains.iter().any(|chain| chain.is_meta) {
            let file = checkpoint_of(&root.join(crate::meta::FILE));
            self.expected.extend(expected_by_checkpoint(&file, META));
        }
        for file in crate::sources::files_with_ending(&root.join("chains"), ".checkpoint.json") {
            let Some(stem) = file.to_str().and_then(|name| name.strip_suffix(".checkpoint.json")) else {
                continue;
            };
            let database = PathBuf::from(format!("{stem}.db"));
            if database.exists() {
                continue;
            }
            if let (Some(tool), Some(session)) = crate::sources::names(&database) {
                self.expected.extend(expected_by_checkpoint(&file, &format!("{tool}/{session}")));
            }
        }
    }

    fn chain(&mut self, source: &ChainSource) {
        let name = of_source(source);
        if !self.is_wanted(source, &name) {
            return;
        }
        let watch = watched(&self.expected, &name);
        let task = ChainTask {
            source,
            name: &name,
            place: self.place,
            watch,
            keys: self.keys,
            options: self.options,
        };
        let (mut records, mut problem) = (None, None);
        match task.run() {
            Ok(ChainOutcome::Read(mut read)) => {
                limit_runs(&self.traces, &name, &mut read.evidence.runs);
                self.limit_own_keys(source, &name, &mut read.evidence.runs);
                if self.place == ChainPlace::Home && !source.is_meta {
                    self.check_place(source, &name);
                }
                let evidence = &mut self.found.evidence;
                evidence.notes.append(&mut read.notes);
                evidence.not_checked.extend(read.not_checked.take());
                evidence.chains.push(read.evidence);
                records = Some(read.records);
            }
            Ok(ChainOutcome::Changed(one)) => self.found.evidence.unreadable.push(one),
            Err(problem) if problem.code == Code::FileNotFound && source.is_missing() => {}
            Err(unreadable) => {
                self.found.push_unreadable(&name, &unreadable);
                problem = Some(unreadable);
            }
        }
        self.found.chains.push(CollectedChain { name, source: source.clone(), records, problem });
    }

    /// Elsewhere, too, a key of the user's home counts only as far as the home says. What the records state is the name.
    fn limit_own_keys(&self, source: &ChainSource, name: &str, runs: &mut [SignerRun]) {
        if self.options.own_limits.is_empty() {
            return;
        }
        let sealed = if source.is_meta { None } else { SealedName::read(source) };
        let sealed = sealed.map(|sealed| sealed.full());
        self.options.own_limits.limit_runs(sealed.as_deref().unwrap_or(name), runs);
    }

    /// Two files that were swapped, or a copy under another name, hold records of another chain than their names say.
    fn check_place(&mut self, source: &ChainSource, name: &str) {
        let Some(sealed) = SealedName::read(source) else { return };
        let tool = source.tool.as_deref();
        if !sealed.has_path(tool, source.session.as_deref()) {
            let message = format!("The file is named {name}; its records say {}.", sealed.full());
            self.found.push_claim(FindingCode::Contradiction, Some(name), message);
        }
    }
}
