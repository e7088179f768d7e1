//! A new key for a home: every chain is recorded first, so that a thief of the old key cannot make one grow.

use crate::session_sealer::SessionSealer;
use capsid_model::{Code, Problem, Result};
use capsid_seal::PublicKey;
use capsid_seal::chain::checkpoint_of;
use capsid_seal::keys::{file, rotation};
use capsid_seal::meta::{Conversation, OwnChain, SharedChain, record_conversation, record_rotation};
use capsid_seal::sources::{ChainSource, open_any};

/// A chain that could not be recorded, and why.
pub type UnrecordedChain = (String, Problem);

/// What came of a rotation.
#[derive(Debug, Clone)]
pub struct RotationOutcome {
    /// The key that is retired.
    pub old: PublicKey,
    /// The key that seals from now on.
    pub new: PublicKey,
    /// Chains that were not recorded: the old key counts there only for what was recorded before.
    pub unrecorded: Vec<UnrecordedChain>,
}

impl SessionSealer<'_> {
    /// Puts the key of `seed` in the place of the home's key.
    pub fn rotate_key(&self, seed: &[u8; 32]) -> Result<RotationOutcome> {
        let root = self.home.root();
        let old = file::require(&self.home.key())?.public();
        let new = capsid_seal::SigningKey::from_seed(seed).public();
        self.record_every_chain()?;
        // Again, for what was sealed meanwhile; what did not grow takes no time.
        let unrecorded = self.record_every_chain()?;
        let now = self.signed_at();
        let switch = || rotation::rotate(root, seed, &now).map(drop);
        record_rotation(root, (&old, &new), self.sealer, (&(self.new_id)(), &now), switch)?;
        Ok(RotationOutcome { old, new, unrecorded })
    }

    /// Records the present state of every chain of the home in its meta-chain.
    pub fn record_every_chain(&self) -> Result<Vec<UnrecordedChain>> {
        let mut unrecorded = Vec::new();
        for path in self.home.chain_paths() {
            for source in open_any(&path)?.chains.iter().filter(|source| !source.is_meta) {
                if let Err(problem) = self.record_source(source) {
                    unrecorded.push((source.label.clone(), problem));
                }
            }
        }
        Ok(unrecorded)
    }

    fn record_source(&self, source: &ChainSource) -> Result<()> {
        let (Some(tool), Some(session)) = (&source.tool, &source.session) else { return Ok(()) };
        let (database, tenant) = (source.path(), source.tenant.as_deref());
        let checkpoint = checkpoint_of(database);
        let own = OwnChain {
            tool,
            session,
            database,
            tenant,
            checkpoint: tenant.is_none().then_some(checkpoint.as_path()),
        };
        let own = own.verify(self.home.root(), &self.sealer.own_keys())?;
        if let Some(problem) = own.refusal {
            return Err(problem);
        }
        if let Some(failure) = own.records.failure {
            return Err(Problem::new(Code::ChainBroken, format!("It does not verify: {}.", failure.message))
                .fix("See `capsid trail verify`, and restore the chain from a copy or move it aside."));
        }
        let Some(head_hash) = own.records.head.as_deref() else { return Ok(()) };
        let conversation = Conversation {
            tool,
            session,
            head_hash,
            count: own.records.length,
            shared: tenant.map(|tenant| SharedChain { db: database, tenant }),
        };
        let (id, now) = ((self.new_id)(), self.signed_at());
        record_conversation(self.home.root(), &conversation, self.sealer, &id, &now).map(drop)
    }
}
