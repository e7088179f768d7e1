//! The sample transcripts give the reference's records, except for the differences that we list.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use capsid_model::Result;
use capsid_model::exact::{Json, parse_lossy};
use capsid_model::fields;
use capsid_transcript::{Action, Report, Source, Tool, claude_code, codex};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

type Read = fn(&Source, &mut dyn FnMut(Action) -> Result<()>) -> Result<Report>;

fn document(path: &Path) -> Json {
    parse_lossy(&std::fs::read(path).unwrap()).unwrap()
}

fn samples() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/transcripts");
    let folder = std::env::var_os("CAPSID_SAMPLES").map_or_else(|| beside.into(), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("no sample transcripts here: nothing to compare with");
    None
}

/// What a record of the action holds, without its identity and its place in a chain.
fn content(tool: Tool, session: &str, action: &Action) -> Json {
    let agent = if action.agent_id.is_empty() { tool.name() } else { &action.agent_id };
    let error = |value: Json| if action.failed { value } else { Json::Null };
    let mut outcome = fields! {
        "status": if action.failed { "failure" } else { "success" },
        "summary": action.summary.as_str(),
        "side_effects": action.side_effects.clone(),
    };
    if !action.result.is_null() {
        outcome.insert("result".into(), action.result.clone());
    }
    let mut calls = Vec::new();
    if let Some(call) = &action.call {
        if action.failed && !call.result.is_null() {
            outcome.insert("error".into(), call.result.clone());
        }
        calls.push(Json::from(fields! {
            "tool": call.tool.as_str(),
            "arguments": call.arguments.clone(),
            "result": call.result.clone(),
            "success": !action.failed,
            "duration_ms": call.duration_ms,
            "error": error("tool reported an error".into()),
        }));
    }
    fields! {
        "type": action.kind.name(),
        "domain": tool.name(),
        "parent_id": Json::Null,
        "spec_version": "1.0",
        "trigger": fields! { "type": "user_request", "source": session, "request": action.prompt.as_str() },
        "context": fields! {
            "agent_id": agent, "session_id": session, "environment": action.environment.clone(),
        },
        "reasoning": fields! {
            "analysis": action.analysis.as_str(),
            "reasoning": action.reasoning.as_str(),
            "model": action.model.as_str(),
        },
        "authority": fields! {
            "type": action.authority.kind,
            "policy_reference": action.authority.policy_reference.as_str(),
        },
        "execution": fields! { "tool_calls": calls, "duration_ms": 0_i64, "resources_used": action.usage.clone() },
        "outcome": outcome,
    }
    .into()
}

/// The paths at which two values differ.
fn differences(ours: &Json, theirs: &Json, path: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let path = format!("{path}/{name}");
                match (a.get(name), b.get(name)) {
                    (Some(ours), Some(theirs)) => differences(ours, theirs, &path, found),
                    _ => found.push(path),
                }
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (number, (ours, theirs)) in a.iter().zip(b).enumerate() {
                differences(ours, theirs, &format!("{path}/{number}"), found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(path.to_owned()),
    }
}

/// Every difference of a sample, as (record, path).
fn found(tool: Tool, read: Read, transcript: &Path, expected: &Json) -> Vec<(String, String)> {
    let session = expected.text("session_id").unwrap().to_owned();
    let source = Source {
        tool,
        session: session.clone(),
        path: transcript.to_owned(),
        text_transcript: None,
        authorship: None,
        told: fields! {},
    };
    let mut actions = Vec::new();
    read(&source, &mut |action| {
        actions.push(action);
        Ok(())
    })
    .unwrap();
    let theirs = expected.get("capsules").unwrap().as_array().unwrap();
    let key_of = |record: &Json| record.text("key").unwrap().to_owned();
    let mut found = Vec::new();
    for record in theirs {
        let key = key_of(record);
        let Some(action) = actions.iter().find(|action| action.key == key) else {
            found.push((key, "*".to_owned()));
            continue;
        };
        let mut wanted = record.get("content").unwrap().as_object().unwrap().clone();
        wanted.retain(|name, _| !matches!(name.as_str(), "id" | "sequence" | "previous_hash"));
        let mut paths = Vec::new();
        differences(&content(tool, &session, action), &wanted.into(), "", &mut paths);
        found.extend(paths.into_iter().map(|path| (key.clone(), path)));
    }
    let known: Vec<String> = theirs.iter().map(key_of).collect();
    let shared: Vec<&String> = actions.iter().map(|a| &a.key).filter(|key| known.contains(key)).collect();
    let order: Vec<&String> = known.iter().filter(|key| shared.contains(key)).collect();
    assert_eq!(shared, order, "the records come in the reference's order");
    let added = actions.iter().filter(|action| !known.contains(&action.key));
    found.extend(added.map(|action| (action.key.clone(), "*".to_owned())));
    found
}

/// Only the listed differences occur, and all of them.
fn compare(tool: Tool, read: Read, transcript: &Path, expected: &Json) {
    let listed = document(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/differences.json")));
    let listed: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry.text("tool") == Some(tool.name()))
        .inspect(|entry| assert!(entry.text("reason").unwrap().len() > 20))
        .map(|entry| (entry.text("record").unwrap(), entry.text("path").unwrap()))
        .collect();
    let found = found(tool, read, transcript, expected);
    let covers = |(record, path): &(&str, &str), (at, what): &(String, String)| {
        record == at && (path == what || what.starts_with(&format!("{path}/")))
    };
    let unlisted: Vec<_> = found.iter().filter(|f| !listed.iter().any(|entry| covers(entry, f))).collect();
    assert!(unlisted.is_empty(), "not listed: {unlisted:#?}");
    let idle: Vec<_> = listed.iter().filter(|entry| !found.iter().any(|f| covers(entry, f))).collect();
    assert!(idle.is_empty(), "listed, and does not occur: {idle:#?}");
}

#[test]
fn claude_code_gives_the_reference_records() {
    let Some(samples) = samples() else { return };
    let folder = samples.join("claude-code");
    let expected = document(&folder.join("expected-peer-chain.json"));
    let transcript = folder.join(format!("{}.jsonl", expected.text("session_id").unwrap()));
    compare(Tool::ClaudeCode, claude_code::read, &transcript, &expected);
}

#[test]
fn codex_gives_the_reference_records() {
    let Some(samples) = samples() else { return };
    let folder = samples.join("codex");
    let expected = document(&folder.join("expected-peer-chain.json"));
    let day = folder.join("sessions/2026/06/01");
    let rollout = std::fs::read_dir(day).unwrap().next().unwrap().unwrap().path();
    let session = expected.text("session_id").unwrap();
    assert_eq!(codex::session_id(&rollout).as_deref(), Some(session));
    compare(Tool::Codex, codex::read, &rollout, &expected);
}
