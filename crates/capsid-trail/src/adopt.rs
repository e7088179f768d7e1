//! Continues a chain that was sealed elsewhere: finds which of its records belong to which action.
//!
//! Such a chain was imported as a bundle, or its checkpoint file is lost. The records' content identifies the actions.

use crate::record::record_of;
use capsid_model::exact::{ExactJson, canonical};
use capsid_model::redact::{RedactProfile, redact_exact};
use capsid_model::{Result, fields};
use capsid_seal::ChainLink;
use capsid_seal::chain::{AdoptedRecord, ChainReader, ChainWriter};
use capsid_transcript::{Action, TranscriptSource};
use sha3::{Digest, Sha3_256};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

/// The member of the environment that marks a record whose call was sealed before its result came.
pub(crate) const LATE: &str = "late_result";

/// Finds the actions of the records that have no key yet, and notes them. Reads the transcript only if there are any.
pub(crate) fn adopt(
    writer: &mut ChainWriter,
    source: &TranscriptSource,
    database: &Path,
    tenant: Option<&str>,
) -> Result<()> {
    let mut strangers = UnkeyedRecords::default();
    writer.strangers(tenant, |sequence, content| strangers.add(sequence, content))?;
    if strangers.first.is_empty() && strangers.late.is_empty() {
        return Ok(());
    }
    let mut known: HashSet<String> = ChainReader::open(database)?.keys(tenant)?.into_iter().collect();
    known.extend(writer.checkpoint_keys());
    let mut adopted = Vec::new();
    capsid_transcript::read(source, &mut |action| {
        adopted.extend(strangers.find(action, source, &known));
        Ok(())
    })?;
    writer.record_adopted(tenant, &adopted)
}

/// The part of a record that is needed to find the action it belongs to.
struct UnkeyedRecord {
    sequence: i64,
    has_result: bool,
}

/// The records without a key, by what they are like.
#[derive(Default)]
struct UnkeyedRecords {
    first: HashMap<[u8; 32], VecDeque<UnkeyedRecord>>,
    late: HashMap<[u8; 32], VecDeque<i64>>,
}

impl UnkeyedRecords {
    fn add(&mut self, sequence: i64, content: &ExactJson) {
        let like = likeness(content);
        if content.at(&["context", "environment", LATE]).is_some() {
            self.late.entry(like).or_default().push_back(sequence);
        } else {
            let has_result = call_of(content).is_none_or(has_result);
            self.first.entry(like).or_default().push_back(UnkeyedRecord { sequence, has_result });
        }
    }

    /// Takes the records of an action out, in their order: of actions that are alike, the n-th has the n-th record.
    fn find(
        &mut self,
        action: Action,
        source: &TranscriptSource,
        known: &HashSet<String>,
    ) -> Option<AdoptedRecord> {
        let (key, is_open) = (action.key.clone(), action.open);
        let content =
            record_of(action, source.tool, &source.session, String::new()).content(&ChainLink::default());
        let like = likeness(&content);
        let first = self.first.get_mut(&like).and_then(VecDeque::pop_front);
        let is_known = known.contains(&key);
        let may_be_open = first.as_ref().map_or(is_known, |first| !first.has_result);
        let late = if may_be_open { self.late.get_mut(&like).and_then(VecDeque::pop_front) } else { None };
        let is_more_to_come = is_open || call_of(&content).is_some_and(has_result);
        let sequence = first.filter(|_| !is_known).map(|first| first.sequence);
        (sequence.is_some() || late.is_some()).then(|| AdoptedRecord {
            key,
            sequence,
            open: may_be_open && late.is_none() && is_more_to_come,
            late,
        })
    }
}

fn call_of(content: &ExactJson) -> Option<&ExactJson> {
    content.at(&["execution", "tool_calls"])?.as_array()?.first()
}

fn has_result(call: &ExactJson) -> bool {
    call.get("result").is_some_and(|result| !result.is_null())
}

/// Hash of what every sealer writes the same for one action, however it treats results and counts. Secrets are left
/// out, since one sealer knows more of them than another.
fn likeness(content: &ExactJson) -> [u8; 32] {
    let of = |path: &[&str]| content.at(path).cloned().unwrap_or_default();
    let call_fields = match call_of(content) {
        Some(call) => fields! {
            "tool": call.get("tool").cloned().unwrap_or_default(),
            "arguments": call.get("arguments").cloned().unwrap_or_default(),
        },
        None => fields! {
            "analysis": of(&["reasoning", "analysis"]),
            "reasoning": of(&["reasoning", "reasoning"]),
            "summary": of(&["outcome", "summary"]),
            "result": of(&["outcome", "result"]),
        },
    };
    // Another sealer calls the work of a subagent a tool.
    let kind = match content.text("type") {
        Some("agent") => "tool".into(),
        _ => of(&["type"]),
    };
    let mut like = ExactJson::Object(fields! {
        "type": kind,
        "message": of(&["context", "environment", "message_uuid"]),
        "told": call_fields,
    });
    redact_exact(&mut like, RedactProfile::Secrets, "", &mut |_, _| ());
    Sha3_256::digest(canonical(&like).as_bytes()).into()
}
