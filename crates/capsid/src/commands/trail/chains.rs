//! Finding chains by what a user calls them, and checking one.

use crate::output::{self, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use capsid_seal::TrailHome;
use capsid_seal::bundle::ChainFacts;
use capsid_seal::home::qp_capsule;
use capsid_seal::imported;
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::sources::{ChainSource, ChainSources, SourceKind, open_any};
use capsid_seal::verify::{ChainVerdict, VerifyOptions, verify};
use std::path::{Path, PathBuf};

/// What came of checking one chain.
pub(super) struct CheckedChain {
    outcome: ChainCheckOutcome,
}

enum ChainCheckOutcome {
    Verified(ChainVerdict),
    /// The records hold, but data next to them contradicts them.
    Contradicted(String),
    /// It should be there and is not.
    Missing(String),
}

impl CheckedChain {
    pub fn valid(&self) -> bool {
        matches!(&self.outcome, ChainCheckOutcome::Verified(verdict) if verdict.valid)
    }

    pub fn error(&self) -> Option<String> {
        match &self.outcome {
            ChainCheckOutcome::Verified(verdict) => {
                verdict.failure.as_ref().map(|failure| failure.message.clone())
            }
            ChainCheckOutcome::Contradicted(error) | ChainCheckOutcome::Missing(error) => Some(error.clone()),
        }
    }
}

/// Checks one chain, and the data next to its records.
pub(super) fn check(chain: &ChainSource, options: &VerifyOptions, keys: &KeySet) -> Result<CheckedChain> {
    let made = |outcome| CheckedChain { outcome };
    if chain.is_missing() {
        return Ok(made(ChainCheckOutcome::Missing(
            "the index lists this chain, and it is not there".to_owned(),
        )));
    }
    let since = options.since.as_ref().map_or(0, |checkpoint| checkpoint.sequence);
    let mut facts = ChainFacts::default();
    let records = chain.records_from(since)?.inspect(|stored| {
        if let (Ok(stored), Some(_)) = (stored, &chain.claim) {
            facts.record(&stored.seal);
        }
    });
    let verdict = verify(records, options, keys)?;
    let contradiction = match &chain.claim {
        Some(claim) if verdict.valid => claim.contradicted_by(&facts),
        _ => None,
    };
    Ok(made(match contradiction {
        Some(reason) => ChainCheckOutcome::Contradicted(reason),
        None => ChainCheckOutcome::Verified(verdict),
    }))
}

/// The keys to verify with: those of the user, and those that came with the data, which are told apart.
pub(super) fn keys_for(home: &TrailHome, path: &Path, sources: &ChainSources) -> KeySet {
    let mut keys = own_keys(home);
    sources.keys.iter().for_each(|key| keys.add(*key, KeyOrigin::Bundled));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = real(home.root());
    for folder in folders_with_keys(path, sources).iter().map(|folder| real(folder)) {
        if folder != own {
            capsid_seal::keys::add_folder(&mut keys, &folder, KeyOrigin::Bundled);
        }
    }
    keys
}

/// The keys of the user's home, and those of `qp-capsule` where it is in use.
pub(super) fn own_keys(home: &TrailHome) -> KeySet {
    let mut keys = capsid_seal::keys::load_home(home.root());
    if let Some(folder) = qp_capsule(&crate::commands::variable) {
        capsid_seal::keys::add_folder(&mut keys, &folder, KeyOrigin::Known);
    }
    super::signer::add_keys_of_service(&mut keys, home);
    keys
}

/// Where keys may be that belong to the data: the home it is in, or the folder of the database.
fn folders_with_keys(path: &Path, sources: &ChainSources) -> Vec<PathBuf> {
    let file = match (sources.kind, sources.chains.first()) {
        (SourceKind::Home, _) => return vec![path.to_owned()],
        (SourceKind::Database | SourceKind::Documents, Some(chain)) => {
            chain.path().canonicalize().unwrap_or_default()
        }
        _ => return Vec::new(),
    };
    let above = |levels: usize| file.ancestors().nth(levels);
    let in_chains = |levels: &usize| above(*levels).is_some_and(|folder| folder.ends_with("chains"));
    let home = (1..=2).find(in_chains).and_then(|levels| above(levels + 1));
    above(1).into_iter().chain(home).map(Path::to_owned).collect()
}

/// Says which keys are not used, and why.
pub(super) fn print_refused<'a>(refused: impl IntoIterator<Item = &'a String>) {
    for why in refused {
        output::talk(format_args!("{} {}", paint(WARN, "refused key:"), inert_line(why)));
    }
}

/// Reads a number and a hash, such as `12:41f0…`.
pub(super) fn number_and_hash(text: &str, form: &str) -> std::result::Result<(u64, String), String> {
    let is_hash =
        |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let parts = text.split_once(':').and_then(|(number, hash)| Some((number.parse().ok()?, hash.to_owned())));
    parts
        .filter(|(_, hash)| is_hash(hash))
        .ok_or_else(|| format!("write it as {form}, such as 12:41f0ef48… with all 64 digits"))
}

/// A file and the tenant named behind it, unless the whole is a path itself.
fn split_tenant(name: &str) -> Option<(&str, &str)> {
    let mut splits = name.match_indices('#').map(|(at, _)| (&name[..at], &name[at + 1..]));
    splits.find(|(file, _)| Path::new(file).is_file()).filter(|_| !Path::new(name).exists())
}

/// What a path holds; `PATH#TENANT` is one chain of a database that many share.
pub(super) fn open(path: &Path) -> Result<ChainSources> {
    let Some((file, tenant)) = path.to_str().and_then(split_tenant) else { return open_any(path) };
    let mut sources = open_any(Path::new(file))?;
    sources.chains.retain(|chain| chain.tenant.as_deref() == Some(tenant));
    if sources.chains.is_empty() {
        return Err(Problem::new(Code::FileNotFound, format!("`{file}` holds no chain of `{tenant}`."))
            .fix("`capsid trail verify` names the chains of a database in brackets."));
    }
    Ok(sources)
}

/// Every chain of a home, the meta-chain among them; those that were imported come last.
pub(super) fn all(home: &TrailHome) -> Result<Vec<ChainSource>> {
    let mut chains = Vec::new();
    for path in home.chain_paths() {
        chains.extend(open_any(&path)?.chains);
    }
    chains.extend(imported::chains(home));
    Ok(chains)
}

/// The chain that a user names: a path, `PATH#TENANT`, `tool/session`, or the beginning of a session's name in the home.
pub(super) fn named(home: &TrailHome, name: &str) -> Result<ChainSource> {
    let path = Path::new(name);
    if path.exists() || split_tenant(name).is_some() {
        let mut chains = open(path)?.chains;
        chains.retain(|chain| !chain.is_meta || !path.is_dir());
        return match chains.len() {
            1 => Ok(chains.remove(0)),
            0 => Err(Problem::new(Code::ChainUnreadable, format!("`{name}` holds no chain."))),
            n => Err(Problem::new(Code::InputInvalid, format!("`{name}` holds {n} chains."))
                .fix("Name one of them: its file, PATH#TENANT in a database of many, or tool/session.")),
        };
    }
    let mut chains = all(home)?;
    if name == "meta" {
        chains.retain(|chain| chain.is_meta);
    } else {
        let (tool, session) =
            name.rsplit_once('/').map_or((None, name), |(tool, session)| (Some(tool), session));
        chains.retain(|chain| {
            tool.is_none_or(|tool| chain.tool.as_deref() == Some(tool))
                && chain.session.as_deref().is_some_and(|each| each.starts_with(session))
        });
    }
    let exact = chains.iter().position(|chain| chain.session.as_deref() == Some(name));
    match (exact, chains.len()) {
        (Some(at), _) => Ok(chains.swap_remove(at)),
        (None, 1) => Ok(chains.remove(0)),
        (None, 0) => Err(Problem::new(Code::FileNotFound, format!("There is no chain `{name}`."))
            .fix("`capsid trail list` shows every chain of the home; a path works too.")),
        (None, n) => {
            Err(Problem::new(Code::InputInvalid, format!("`{name}` is the beginning of {n} chains' names."))
                .fix("Give more of the name, or tool/session."))
        }
    }
}
