//! Whether the event log is what was sealed.

use super::compare::{Comparison, compare};
use super::{LogChain, SealedLines, catch_up};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_seal::chain::ChainReader;
use capsid_seal::keys::KeySet;
use capsid_seal::verify::{Options, Verdict, verify};

/// What there is to say about the event log.
#[derive(Debug)]
pub struct Proof {
    /// The session under which the chain is kept.
    pub session: String,
    /// Whether the chain itself holds; none when nothing was ever sealed.
    pub chain: Option<Verdict>,
    /// How the log compares with it; none when the chain is broken or absent.
    pub log: Option<Comparison>,
}

impl Proof {
    /// Whether the chain holds and the log is what it says, to the last line.
    pub fn holds(&self) -> bool {
        self.chain.as_ref().is_some_and(|chain| chain.valid)
            && self.log.as_ref().is_some_and(|log| log.difference.is_none() && log.unsealed == 0)
    }
}

/// Verifies the repository's chain, and the log against it. Nothing is written.
pub fn prove(workspace: &Workspace) -> Result<Proof> {
    let chain = LogChain::of(workspace)?;
    let (path, tenant) = chain.database();
    let session = chain.session.clone();
    if !path.exists() {
        return Ok(Proof { session, chain: None, log: None });
    }
    let keys = KeySet::of_home(chain.home.root());
    let options = Options { signatures: true, ..Options::default() };
    let reader = ChainReader::open(&path)?;
    let verdict = verify(reader.records(tenant.as_deref()), &options, &keys)?;
    let log = match verdict.valid {
        true => Some(compare(workspace.store.events.path(), &chain.entries()?)?),
        false => None,
    };
    Ok(Proof { session, chain: Some(verdict), log })
}

/// Seals what is not sealed yet; with `accept`, also where the log was changed.
pub fn seal(workspace: &Workspace, accept: bool) -> Result<SealedLines> {
    let _lock = workspace.lock()?;
    catch_up(workspace, accept)
}
