//! The record of a sealed line.

use super::DOMAIN;
use super::entry::SealedEntry;
use capsid_model::fields;
use capsid_seal::ActionRecord;

/// A random UUID of 128 random bits.
pub(super) fn id(random: u128) -> String {
    capsid_seal::record::uuid(random)
}

/// The record of an entry.
pub(super) fn record(entry: &SealedEntry, session: &str, root: &str, id: String) -> ActionRecord {
    ActionRecord {
        id,
        kind: "system".to_owned(),
        domain: DOMAIN.to_owned(),
        parent_id: None,
        trigger: fields! {"type": "system", "source": session, "request": ""},
        context: fields! {
            "agent_id": DOMAIN,
            "session_id": session,
            "environment": fields! {"repository": root},
        },
        reasoning: fields! {"analysis": "", "reasoning": "", "model": ""},
        authority: fields! {"type": "autonomous", "policy_reference": ""},
        execution: fields! {
            "tool_calls": Vec::<&str>::new(), "duration_ms": 0_i64, "resources_used": fields! {},
        },
        outcome: fields! {
            "status": "success",
            "summary": summary(entry),
            "side_effects": Vec::<&str>::new(),
            "result": entry.to_fields(),
        },
    }
}

fn summary(entry: &SealedEntry) -> String {
    match entry {
        SealedEntry::Line(line) if line.id.is_empty() => format!("event log line {}", line.number),
        SealedEntry::Line(line) => format!("event log line {}: {}", line.number, line.id),
        SealedEntry::Baseline(baseline) => match &baseline.accepted {
            None => format!("event log as it stands: {} lines", baseline.lines),
            Some(accepted) => format!(
                "event log accepted as it stands: {} lines, {} at line {}",
                baseline.lines, accepted.change, accepted.line
            ),
        },
    }
}
