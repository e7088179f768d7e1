//! Sealed records like those of a coding agent, about 1.5 KB of text each, and chains of them.

use crate::Result;
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;
use capsid_seal::chain::{ChainReader, ChainWriter, PendingRecord, RecordReason};
use capsid_seal::record::uuid;
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey, StoredRecord};
use std::path::{Path, PathBuf};

const NOW: &str = "2026-02-07T15:20:54.236000+00:00";

/// Who seals.
pub fn sealer() -> Sealer {
    Sealer::new(SigningKey::from_seed(&[7; 32]))
}

/// Where what takes long to make is kept, on the disk of the project.
pub fn data() -> Result<PathBuf> {
    let folder = crate::root().join("bench/data");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A chain of so many records, made when it is not there yet.
pub fn chain(count: u64) -> Result<PathBuf> {
    let path = data()?.join(format!("sealed-{count}.db"));
    if path.exists() && ChainReader::open(&path)?.count(None)? == count {
        return Ok(path);
    }
    eprintln!("bench: sealing {count} records, once ...");
    append(&mut ChainWriter::open(&path)?.signing_with(sealer()), &sealer(), (0..count).map(pending))?;
    Ok(path)
}

/// Items for the records of these numbers.
pub fn pending(at: u64) -> PendingRecord<ActionRecord> {
    PendingRecord { key: format!("call_{at:08}"), open: false, weight: 1500, item: record(at) }
}

/// Seals and stores all of them; says how many.
pub fn append(
    writer: &mut ChainWriter,
    sealer: &Sealer,
    items: impl IntoIterator<Item = PendingRecord<ActionRecord>>,
) -> Result<u64> {
    let seal = |record: &ActionRecord, _: RecordReason, link: &ChainLink| sealer.prepare(record, link, NOW);
    Ok(writer.append(None, items, seal)?.appended)
}

/// All records of a chain, in memory.
pub fn load(path: &Path) -> Result<Vec<StoredRecord>> {
    Ok(ChainReader::open(path)?.records(None).collect::<capsid_model::Result<_>>()?)
}

/// A tool call with all six sections. The peer's script makes the same.
fn record(at: u64) -> ActionRecord {
    ActionRecord {
        id: uuid(u128::from(at).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)),
        kind: "tool".to_owned(),
        domain: "agents".to_owned(),
        parent_id: None,
        trigger: fields! {
            "type": "user_request",
            "source": "user:bench",
            "timestamp": NOW,
            "request": format!("Make test case {at} pass. The reader must not lose the last line of a file without a line feed."),
            "correlation_id": ExactJson::Null,
            "user_id": ExactJson::Null,
        },
        context: fields! {
            "agent_id": "agent:bench",
            "session_id": "5f0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b",
            "environment": fields! { "cwd": "/home/user/parser", "branch": "fix-last-line", "model": "some-model-4" },
        },
        reasoning: fields! {
            "analysis": "The loop ends at the last line feed, so what stands behind it is dropped.",
            "options": ExactJson::Array(Vec::new()),
            "options_considered": ExactJson::Array(Vec::new()),
            "selected_option": "opt_1",
            "reasoning": "It is the smallest change, and a test shows it.",
            "confidence": 0.85,
            "model": ExactJson::Null,
            "prompt_hash": ExactJson::Null,
        },
        authority: fields! {
            "type": "policy",
            "approver": ExactJson::Null,
            "policy_reference": "allow:cargo",
            "chain": ExactJson::Array(Vec::new()),
            "escalation_reason": ExactJson::Null,
        },
        execution: fields! {
            "tool_calls": ExactJson::Array(vec![ExactJson::Object(tool_call(at))]),
            "duration_ms": 1840_u64,
            "resources_used": ExactFields::new(),
        },
        outcome: fields! {
            "status": "success",
            "result": "ok",
            "summary": format!("Case {at} passes"),
            "error": ExactJson::Null,
            "side_effects": ExactJson::Array(vec![ExactJson::from("target/debug was written")]),
            "metrics": ExactFields::new(),
        },
    }
}

fn tool_call(at: u64) -> ExactFields {
    let command = format!("cargo test --package parser --test round_trip case_{at}");
    let printed =
        format!("running 1 test\ntest case_{at} ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n");
    fields! {
        "tool": "shell",
        "arguments": fields! { "command": command },
        "result": printed,
        "success": true,
        "duration_ms": 1840_u64,
        "error": ExactJson::Null,
    }
}
