//! The sample sessions of Cursor and Cline give the reference's records, but for the differences that are listed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use capsid_model::exact::{Fields, Json, canonical, parse, parse_lossy};
use capsid_model::fields;
use capsid_transcript::{Action, Report, Source, Tool, cline, cursor};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const DIFFERENCES: &str = include_str!("../differences-state.json");

/// The samples, where they are at hand.
fn samples(tool: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/transcripts")).join(tool);
    if !path.is_dir() {
        eprintln!("skipped: there are no sample transcripts beside the project");
        return None;
    }
    Some(path)
}

fn load(path: &Path) -> Json {
    parse_lossy(&std::fs::read(path).unwrap()).unwrap()
}

/// An action as the content of a record, without what its place in the chain gives it.
fn content(tool: &str, session: &str, action: &Action) -> Json {
    let calls: Vec<Json> = action
        .call
        .iter()
        .map(|call| {
            fields! {
                "tool": call.tool.as_str(),
                "arguments": call.arguments.clone(),
                "result": call.result.clone(),
                "success": !action.failed,
                "duration_ms": call.duration_ms,
                "error": action.failed.then_some("tool reported an error"),
            }
            .into()
        })
        .collect();
    let mut outcome = fields! {
        "status": if action.failed { "failure" } else { "success" },
        "summary": action.summary.as_str(),
        "side_effects": action.side_effects.clone(),
    };
    if !action.result.is_null() {
        outcome.insert("result".to_owned(), action.result.clone());
    }
    if let Some(call) = action.call.as_ref().filter(|call| action.failed && !call.result.is_null()) {
        outcome.insert("error".to_owned(), call.result.clone());
    }
    let agent = if action.agent_id.is_empty() { tool } else { &action.agent_id };
    fields! {
        "type": action.kind.name(),
        "domain": tool,
        "parent_id": Json::Null,
        "spec_version": "1.0",
        "trigger": fields! {
            "type": "user_request",
            "source": session,
            "request": action.prompt.as_str(),
        },
        "context": fields! {
            "agent_id": agent,
            "session_id": session,
            "environment": action.environment.clone(),
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
        "execution": fields! {
            "tool_calls": calls,
            "duration_ms": action.call.as_ref().and_then(|call| call.duration_ms).unwrap_or(0),
            "resources_used": action.usage.clone(),
        },
        "outcome": outcome,
    }
    .into()
}

/// Where two values differ, as paths.
fn differ(path: &str, ours: &Json, theirs: &Json, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let path = format!("{path}/{name}");
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => differ(&path, a, b, found),
                    _ => found.push(path),
                }
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differ(&format!("{path}/{at}"), a, b, found);
            }
        }
        _ if canonical(ours) == canonical(theirs) => {}
        _ => found.push(path.to_owned()),
    }
}

type Reader = fn(&Source, &mut dyn FnMut(Action) -> capsid_model::Result<()>) -> capsid_model::Result<Report>;

fn actions(read: Reader, source: &Source) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut each = |action| {
        actions.push(action);
        Ok(())
    };
    read(source, &mut each).unwrap();
    actions
}

/// All differences between the records of our actions and a reference chain, as pairs of key and path.
fn differences(tool: Tool, actions: &[Action], chain: &Json) -> Vec<(String, String)> {
    let session = chain.text("session_id").unwrap();
    let capsules = chain.get("capsules").unwrap().as_array().unwrap();
    let mut theirs: BTreeMap<&str, Json> = capsules
        .iter()
        .map(|capsule| {
            let mut content = capsule.get("content").unwrap().as_object().unwrap().clone();
            for place in ["id", "sequence", "previous_hash"] {
                content.shift_remove(place);
            }
            (capsule.text("key").unwrap(), content.into())
        })
        .collect();
    let mut found = Vec::new();
    for action in actions {
        match theirs.remove(action.key.as_str()) {
            None => found.push((action.key.clone(), "*".to_owned())),
            Some(reference) => {
                let mut paths = Vec::new();
                differ("", &content(tool.name(), session, action), &reference, &mut paths);
                found.extend(paths.into_iter().map(|path| (action.key.clone(), path)));
            }
        }
    }
    found.extend(theirs.into_keys().map(|key| (key.to_owned(), "*".to_owned())));
    let ours = actions.iter().map(|action| action.key.as_str());
    let common: Vec<&str> = ours.filter(|key| capsules.iter().any(|c| c.text("key") == Some(key))).collect();
    let order: Vec<&str> =
        capsules.iter().filter_map(|c| c.text("key")).filter(|key| common.contains(key)).collect();
    assert_eq!(common, order, "the records are in another order");
    found
}

fn listed(tool: Tool) -> Vec<(String, String)> {
    let list = parse(DIFFERENCES).unwrap();
    let entries = list.as_array().unwrap().iter().filter(|entry| entry.text("tool") == Some(tool.name()));
    let mut listed: Vec<_> = entries
        .map(|entry| {
            assert!(entry.text("reason").unwrap().len() > 20);
            (entry.text("record").unwrap().to_owned(), entry.text("path").unwrap().to_owned())
        })
        .collect();
    listed.sort();
    listed
}

fn source(tool: Tool, session: &str, path: PathBuf) -> Source {
    Source {
        tool,
        session: session.to_owned(),
        path,
        text_transcript: None,
        authorship: None,
        told: Fields::new(),
    }
}

const CONVERSATION: &str = "c0ffee00-aaaa-4bbb-8ccc-dddddddddddd";

#[test]
fn the_sample_conversation_of_cursor_differs_only_as_listed() {
    let Some(folder) = samples("cursor") else { return };
    let source = Source {
        authorship: Some(folder.join("ai-code-tracking.db")),
        text_transcript: Some(folder.join("transcript.jsonl")),
        told: cursor::told(&load(&folder.join("hook-stop.json"))),
        ..source(Tool::Cursor, CONVERSATION, folder.join("state.vscdb"))
    };
    let chain = load(&folder.join("expected-peer-chain.json"));
    let mut found = differences(Tool::Cursor, &actions(cursor::read, &source), &chain);
    found.sort();
    assert_eq!(found, listed(Tool::Cursor));
    let keys = cursor::line_keys(&source).unwrap();
    assert_eq!(keys.get("b2").map(String::as_str), Some("line:1"));
    assert_eq!(keys.len(), 1);
}

#[test]
fn the_sample_text_of_cursor_does_not_differ() {
    let Some(folder) = samples("cursor") else { return };
    let text = folder.join("transcript.jsonl");
    let source = Source { text_transcript: Some(text.clone()), ..source(Tool::Cursor, CONVERSATION, text) };
    let chain = load(&folder.join("expected-peer-chain.transcript-only.json"));
    let found = differences(Tool::Cursor, &actions(cursor::read, &source), &chain);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_sample_task_of_cline_differs_only_as_listed() {
    let Some(folder) = samples("cline") else { return };
    let task = source(Tool::Cline, "1780308000123", folder.join("tasks/1780308000123"));
    let chain = load(&folder.join("expected-peer-chain.json"));
    let mut found = differences(Tool::Cline, &actions(cline::read, &task), &chain);
    found.sort();
    assert_eq!(found, listed(Tool::Cline));
}
