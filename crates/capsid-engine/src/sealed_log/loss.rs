//! Checks that the chain still has all records that the meta-chain knows, which detects a cut of both log and chain.

use super::{DOMAIN, LogChain};
use capsid_model::{Code, Problem, Result};
use capsid_seal::chain::ChainReader;
use capsid_seal::meta::recorded;

/// What a chain lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLoss {
    pub kind: LossKind,
    /// How many records the meta-chain knows.
    pub recorded: u64,
    pub present: u64,
}

/// How a chain lost something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    Missing,
    Cut,
    /// Another record is where the last one was.
    Altered,
}

impl LossKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "chain_missing",
            Self::Cut => "chain_cut",
            Self::Altered => "chain_altered",
        }
    }
}

impl LogChain {
    /// What the chain lost since it was recorded last.
    pub(super) fn loss(&self) -> Result<Option<ChainLoss>> {
        let Some((recorded, head)) = recorded(self.home.root(), DOMAIN, &self.session)? else {
            return Ok(None);
        };
        let (path, tenant) = self.database();
        let tenant = tenant.as_deref();
        let reader = path.exists().then(|| ChainReader::open(&path)).transpose()?;
        let present = reader.as_ref().map_or(Ok(0), |reader| reader.count(tenant))?;
        let last = reader.map_or(Ok(Vec::new()), |reader| reader.at(tenant, recorded.saturating_sub(1)))?;
        let kind = match last.as_slice() {
            [] if present == 0 => LossKind::Missing,
            [] => LossKind::Cut,
            [last] if last.seal.hash == head => return Ok(None),
            _ => LossKind::Altered,
        };
        Ok(Some(ChainLoss { kind, recorded, present }))
    }
}

/// Nothing is sealed into a chain that lost something: going on would hide it.
pub(super) fn refuse(loss: &ChainLoss, chain: &LogChain) -> Problem {
    let (path, _) = chain.database();
    Problem::new(
        Code::ChainBroken,
        format!(
            "`{}` has not all that was sealed: {} records were there, and {} are. Nothing more is sealed.",
            path.display(),
            loss.recorded,
            loss.present
        ),
    )
    .fix("Bring the file back from a copy. If the loss is yours, `capsid events seal --accept` goes on from here.")
}
