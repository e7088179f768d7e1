//! Brings a home of an older version into the present form: chains of others apart, rotations recorded, marks written.

use crate::session_sealer::SessionSealer;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use capsid_seal::chain::{ChainReader, ChainWriter, checkpoint_of};
use capsid_seal::imported::{self, ImportNote, foreign_signer, path_of};
use capsid_seal::keys::keyring::{self, KeyStatus};
use capsid_seal::keys::{KeyOrigin, KeySet, load_home};
use capsid_seal::meta::{MissingMark, missing_marks, record_rotation, rotations, traces_of};
use capsid_seal::sources::{ChainSource, SourceKind, open_any};
use capsid_seal::verify::{ChainVerdict, VerifyOptions, verify};
use capsid_seal::{PublicKey, StoredRecord, TrailHome};
use std::path::{Path, PathBuf};

/// What would change.
#[derive(Debug, Clone, Default)]
pub struct MigrationPlan {
    /// Chains of others among the own ones.
    pub foreign: Vec<ForeignChain>,
    /// Chains that stay where they are although not all of their records are own, and why.
    pub stuck: Vec<(String, String)>,
    /// Keys of others that the home knows. An earlier import may have added them.
    pub known: Vec<PublicKey>,
    /// Retired keys without a record of their rotation.
    pub unrecorded_rotations: Vec<PublicKey>,
    /// Finalised chains without the mark that names their record in the meta-chain.
    pub marks: Vec<MissingMark>,
}

/// A chain of somebody else.
#[derive(Debug, Clone)]
pub struct ForeignChain {
    /// `tool/session`.
    pub name: String,
    /// Where it is.
    pub from: PathBuf,
    /// Where it belongs.
    pub to: PathBuf,
    /// The signer.
    pub signer: String,
    source: ChainSource,
    records: ChainVerdict,
}

impl MigrationPlan {
    /// Looks at a home. Nothing is changed. The keys are those of the home, and of the service that signs it.
    pub fn read(home: &TrailHome, keys: &KeySet) -> Result<Self> {
        let mut plan = Self { marks: missing_marks(home)?, ..Self::default() };
        for path in home.chain_paths() {
            for source in open_any(&path)?.chains {
                plan.add_chain(home, source, keys)?;
            }
        }
        let foreign = |origin| origin == KeyOrigin::Known;
        plan.known = keys.iter().filter(|one| foreign(one.origin)).map(|one| one.key).collect();
        plan.unrecorded_rotations = unrecorded_rotations(home.root())?;
        Ok(plan)
    }

    /// Whether nothing has to change. Known keys are only listed.
    pub fn is_empty(&self) -> bool {
        self.foreign.is_empty() && self.unrecorded_rotations.is_empty() && self.marks.is_empty()
    }

    fn add_chain(&mut self, home: &TrailHome, source: ChainSource, keys: &KeySet) -> Result<()> {
        let (Some(tool), Some(session)) = (source.tool.clone(), source.session.clone()) else {
            return Ok(());
        };
        if source.is_meta || source.kind != SourceKind::Database {
            return Ok(());
        }
        let options =
            VerifyOptions { signatures: true, passes_unknown_signers: true, ..VerifyOptions::default() };
        let Ok(records) = source.records() else { return Ok(()) };
        let records = verify(records, &options, keys)?;
        let Some(signer) = foreign_signer(&records) else { return Ok(()) };
        let name = format!("{tool}/{session}");
        let stuck = |reason: &str| (name.clone(), reason.to_owned());
        let is_recorded =
            !traces_of(home.root(), &name, keys)?.expectations.iter().all(|one| one.chain != name);
        let reason = match () {
            () if !records.valid => "it is broken",
            () if source.tenant.is_some() => "it is in a database of many sessions",
            () if is_recorded => {
                "the meta-chain of this home recorded it; `capsid key adopt` makes the key of another home of yours own"
            }
            () => {
                let to = path_of(home, &signer, &tool, &session);
                let from = source.path().to_owned();
                self.foreign.push(ForeignChain { name, from, to, signer, source, records });
                return Ok(());
            }
        };
        self.stuck.push(stuck(reason));
        Ok(())
    }
}

/// Retired keys that no record of the meta-chain names as replaced.
fn unrecorded_rotations(home: &Path) -> Result<Vec<PublicKey>> {
    let recorded: Vec<PublicKey> = rotations(home)?.into_iter().map(|rotation| rotation.old).collect();
    let epochs = keyring::load(home)?.map(|ring| ring.epochs).unwrap_or_default();
    let retired = epochs.iter().filter(|epoch| epoch.status == KeyStatus::Retired);
    let keys = retired.filter_map(|epoch| epoch.key().ok());
    Ok(keys.filter(|key| !recorded.contains(key)).collect())
}

impl ForeignChain {
    /// Copies the chain to where it belongs, compares the copy, and removes the original.
    pub fn relocate(&self, home: &TrailHome) -> Result<()> {
        ChainWriter::open(&self.to)?.import(None, self.source.records()?)?;
        let note = ImportNote {
            source: self.from.to_string_lossy().into_owned(),
            level: "unverified".to_owned(),
            require: "any".to_owned(),
            count: self.records.length,
            head: self.records.head.clone(),
            is_incomplete: false,
        };
        note.write(&self.to)?;
        let keys = load_home(home.root());
        let signed = |key: &&PublicKey| self.records.runs.iter().any(|run| run.signer == key.fingerprint());
        let keys: Vec<PublicKey> = keys.iter().map(|trusted| trusted.key).collect();
        imported::keep_keys(home, &self.signer, &keys.iter().filter(signed).copied().collect::<Vec<_>>())?;
        self.compare()?;
        for file in [
            self.from.clone(),
            beside(&self.from, "-wal"),
            beside(&self.from, "-shm"),
            checkpoint_of(&self.from),
        ] {
            if file.exists() {
                files::remove(&file)?;
            }
        }
        Ok(())
    }

    fn compare(&self) -> Result<()> {
        let (from, to) = (ChainReader::open(&self.from)?, ChainReader::open(&self.to)?);
        let (mut from, mut to) = (from.records(None), to.records(None));
        loop {
            let pair: (Option<StoredRecord>, Option<StoredRecord>) =
                (from.next().transpose()?, to.next().transpose()?);
            match pair {
                (None, None) => return Ok(()),
                (Some(a), Some(b)) if a == b => {}
                _ => {
                    let message = format!(
                        "The copy `{}` is not the same as `{}`.",
                        self.to.display(),
                        self.from.display()
                    );
                    return Err(Problem::new(Code::ChainBroken, message)
                        .fix("The original was left where it is; run the command again."));
                }
            }
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

impl SessionSealer<'_> {
    /// Records every chain, and that the present key took the place of each of these.
    pub fn record_past_rotations(&self, retired: &[PublicKey]) -> Result<()> {
        if retired.is_empty() {
            return Ok(());
        }
        self.record_every_chain()?;
        let new = self.sealer.public();
        for old in retired {
            let (id, now) = ((self.new_id)(), self.signed_at());
            record_rotation(self.home.root(), (old, &new), self.sealer, (&id, &now), || Ok(()))?;
        }
        Ok(())
    }
}
