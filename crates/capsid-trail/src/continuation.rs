//! What a hook does when a chain must not go on: nothing is lost, the session is sealed into the next chain.

use crate::session_sealer::{ChainPath, SealOutcome, SessionSealer};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::{Code, Problem, Result, fields};
use capsid_seal::chain::ChainReader;
use capsid_transcript::TranscriptSource;

/// A session has at most so many chains.
const MAX_CHAINS: u32 = 100;

/// What a hook sealed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSeal {
    /// What came of it.
    pub outcome: SealOutcome,
    /// The session that the chain goes by: that of the transcript, or one with a number behind it.
    pub session: String,
    /// Why the chain before it did not go on, if this call found out.
    pub diverted: Option<Problem>,
}

impl SessionSealer<'_> {
    /// Seals what is new in a transcript, into `SESSION+1` where the session's own chain is not ours or is broken. The
    /// whole session is sealed there: what the other chain holds is not believed.
    pub fn seal_or_divert(&self, source: &TranscriptSource, finish: bool) -> Result<HookSeal> {
        let mut number = self.last_chain(source)?;
        let mut diverted: Option<Problem> = None;
        loop {
            let session = name(&source.session, number);
            let continues = match &diverted {
                Some(problem) => Some(self.continued(source, number.saturating_sub(1), problem)?),
                None => None,
            };
            match self.seal_as(source, &session, continues.as_ref(), finish) {
                Ok(outcome) => return Ok(HookSeal { outcome, session, diverted }),
                Err(problem) if is_no_ground(problem.code) && number < MAX_CHAINS => {
                    number += 1;
                    diverted.get_or_insert(problem);
                }
                Err(problem) => return Err(problem),
            }
        }
    }

    /// The number of the last chain of a session; 0 is the one with the session's own name.
    fn last_chain(&self, source: &TranscriptSource) -> Result<u32> {
        let mut last = 0;
        while last < MAX_CHAINS && self.has_records(source, &name(&source.session, last + 1))? {
            last += 1;
        }
        Ok(last)
    }

    fn has_records(&self, source: &TranscriptSource, session: &str) -> Result<bool> {
        let path = ChainPath::resolve(self.home, source.tool.name(), session)?;
        if !path.database.exists() {
            return Ok(false);
        }
        let tip = ChainReader::open(&path.database).and_then(|reader| reader.tip(path.tenant.as_deref()));
        match tip {
            // Whatever it is, it stands in the way.
            Err(problem) if is_no_ground(problem.code) => Ok(true),
            tip => Ok(tip?.is_some()),
        }
    }

    /// `{session, count, head, reason}` of the chain that does not go on.
    fn continued(&self, source: &TranscriptSource, number: u32, reason: &Problem) -> Result<ExactFields> {
        let session = name(&source.session, number);
        let path = ChainPath::resolve(self.home, source.tool.name(), &session)?;
        // It may be one that cannot be read: then nothing is known of its end.
        let tip = ChainReader::open(&path.database).and_then(|reader| reader.tip(path.tenant.as_deref()));
        let (count, head) = tip.ok().flatten().map_or((0, None), |(count, head)| (count, Some(head)));
        Ok(fields! {
            "session": session,
            "count": count,
            "head": head.map_or(ExactJson::Null, ExactJson::from),
            "reason": reason.code.as_str(),
        })
    }
}

fn name(session: &str, number: u32) -> String {
    match number {
        0 => session.to_owned(),
        number => format!("{session}+{number}"),
    }
}

fn is_no_ground(code: Code) -> bool {
    matches!(code, Code::ChainNotOwn | Code::ChainBroken | Code::ChainUnreadable)
}
