//! A chain that was sealed elsewhere goes on where it stopped: nothing is sealed twice, and nothing is refused.

use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_model::{Time, Value, json};
use capsid_seal::chain::{ChainReader, ChainWriter, checkpoint_of};
use capsid_seal::{Sealer, SigningKey, StoredRecord, TrailHome};
use capsid_testkit::transcript;
use capsid_trail::session_sealer::{ChainPath, SealOutcome, SessionSealer};
use capsid_transcript::cursor::hook_fields;
use capsid_transcript::session_paths::source_of;
use capsid_transcript::{Tool, TranscriptSource};
use std::path::{Path, PathBuf};

const SESSION: &str = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";

fn seal(home: &Path, source: &TranscriptSource, redact: bool, finish: bool) -> SealOutcome {
    let home = TrailHome::at(home);
    let sealer = Sealer::new(SigningKey::from_seed(&[7; 32]));
    let new_id = capsid_trail::new_id;
    let session_sealer =
        SessionSealer { home: &home, sealer: &sealer, clock: &Time(0), new_id: &new_id, redact };
    session_sealer.seal(source, finish).unwrap()
}

fn place(home: &Path, source: &TranscriptSource) -> ChainPath {
    ChainPath::resolve(&TrailHome::at(home), source.tool.name(), &source.session).unwrap()
}

fn records(home: &Path, source: &TranscriptSource) -> Vec<StoredRecord> {
    let reader = ChainReader::open(&place(home, source).database).unwrap();
    reader.records(None).map(Result::unwrap).collect()
}

/// Takes the chain of one home into another, as a bundle brings it: without keys and without a checkpoint.
fn carry(from: &Path, to: &Path, source: &TranscriptSource) {
    let mut writer = ChainWriter::open(&place(to, source).database).unwrap();
    let bundled =
        records(from, source).into_iter().map(|stored| Ok(StoredRecord { columns: None, ..stored }));
    writer.import(None, bundled).unwrap();
}

/// Seals in one home, carries the chain to another, and seals the same transcript there.
#[track_caller]
fn is_sealed_once(source: &TranscriptSource) {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = seal(one.path(), source, true, true);
    assert!(first.appended > 0);
    carry(one.path(), other.path(), source);
    for redact in [true, false] {
        let again = seal(other.path(), source, redact, true);
        assert_eq!((again.appended, again.total), (0, first.total), "{:?}", source.tool);
    }
}

fn written(folder: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    path
}

/// A line of every kind that becomes a record.
fn claude_code_lines() -> Vec<Value> {
    let mut lines: Vec<Value> =
        transcript::claude_code(SESSION, 2).lines().map(|line| line.parse().unwrap()).collect();
    let user = |uuid: &str, mark: &str, content: Value| {
        let mut line = json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}});
        line[mark] = true.into();
        line
    };
    let orphan = json!([{"type": "tool_result", "tool_use_id": "toolu_gone", "content": "late"}]);
    let secret = format!("use ghp_{} to push", "a1B2".repeat(9));
    lines.extend([
        user("m1", "isMeta", json!("Caveat: the words below are not the user's.")),
        user("m2", "isCompactSummary", json!("Earlier: pears were counted.")),
        user("m3", "isSidechain", json!("[Request interrupted by user]")),
        user("m4", "isSidechain", orphan),
        json!({"type": "summary", "summary": "Pears", "leafUuid": "m1"}),
        json!({"type": "summary", "summary": "Plums", "leafUuid": "m1"}),
        json!({"type": "system", "uuid": "m5", "subtype": "notice", "content": "slow"}),
        json!({"type": "attachment", "uuid": "m6", "attachment": {"type": "todo_reminder", "content": []}}),
        json!({"type": "from-the-future", "uuid": "m7", "content": secret}),
        json!({"type": "assistant", "uuid": "m8", "message": {
            "id": "msg_alone", "role": "assistant", "content": [], "usage": {"output_tokens": 3},
        }}),
        json!({"type": "user", "uuid": "m9", "message": {"role": "user", "content": secret}}),
        json!({"type": "assistant", "uuid": "m10", "message": {"id": "msg_secret", "role": "assistant", "content": [
            {"type": "text", "text": secret},
            {"type": "tool_use", "id": "toolu_s", "name": "Bash", "input": {"command": secret, "password": "pear"}},
        ]}}),
    ]);
    lines
}

fn codex_lines() -> Vec<Value> {
    let call = |id: &str, arguments: &str| {
        json!({"type": "response_item", "payload": {
            "type": "function_call", "name": "shell", "call_id": id, "arguments": arguments,
        }})
    };
    let output = |id: &str, text: &str| {
        json!({"type": "response_item", "payload": {
            "type": "function_call_output", "call_id": id, "output": text,
        }})
    };
    vec![
        json!({"type": "session_meta", "payload": {
            "id": SESSION, "cwd": "/home/ada/shop", "cli_version": "0.80.0",
            "base_instructions": {"text": "You count pears."},
        }}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "Count the pears"}}),
        call("call_1", "{\"command\":[\"make\",\"test\"]}"),
        output("call_1", "one failed"),
        call("call_2", "{\"command\":[\"make\",\"test\"]}"),
        output("call_2", "all passed"),
        json!({"type": "event_msg", "payload": {"type": "agent_message", "message": "There are two pears."}}),
        json!({"type": "compacted", "payload": {"message": "Earlier: pears."}}),
        json!({"type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}}),
    ]
}

fn source(tool: Tool, path: &Path) -> TranscriptSource {
    source_of(tool, path, SESSION).unwrap()
}

#[test]
fn a_claude_code_session_of_another_home_is_not_sealed_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &format!("{SESSION}.jsonl"), &claude_code_lines());
    let source = source(Tool::ClaudeCode, &path);
    let mut keys = Vec::new();
    capsid_transcript::read(&source, &mut |action| {
        keys.push(action.key);
        Ok(())
    })
    .unwrap();
    let kinds = "0 resp meta compact interrupted result:0 summary system attach unknown usage";
    for kind in kinds.split(' ') {
        assert!(keys.iter().any(|key| key.ends_with(&format!(":{kind}"))), "{kind} is not in {keys:?}");
    }
    is_sealed_once(&source);
}

#[test]
fn a_codex_session_of_another_home_is_not_sealed_again_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let lines = codex_lines();
    let path = written(folder.path(), "rollout.jsonl", &lines);
    let source = source(Tool::Codex, &path);
    is_sealed_once(&source);
    // The first of two calls that are alike was sealed elsewhere; the second is new here.
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    written(folder.path(), "rollout.jsonl", &lines[..4]);
    let total = seal(one.path(), &source, true, true).total;
    carry(one.path(), other.path(), &source);
    written(folder.path(), "rollout.jsonl", &lines);
    let complete = seal(tempfile::tempdir().unwrap().path(), &source, true, true).total;
    let gone_on = seal(other.path(), &source, true, true);
    assert_eq!((gone_on.appended, gone_on.total), (complete - total, complete));
    assert_eq!(seal(other.path(), &source, true, true).appended, 0);
}

#[test]
fn a_cline_task_of_another_home_is_not_sealed_again() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("tasks").join(SESSION);
    std::fs::create_dir_all(&task).unwrap();
    let tool = json!({"tool": "readFile", "path": "pear.py"}).to_string();
    let messages = json!([
        {"ts": 1000, "type": "say", "say": "task", "text": "Count the pears"},
        {"ts": 1100, "type": "say", "say": "text", "text": "I look."},
        {"ts": 1200, "type": "say", "say": "tool", "text": tool},
        {"ts": 1300, "type": "say", "say": "tool", "text": tool},
        {"ts": 1400, "type": "say", "say": "completion_result", "text": "Two."},
    ]);
    std::fs::write(task.join("ui_messages.json"), messages.to_string()).unwrap();
    is_sealed_once(&source(Tool::Cline, &task));
}

#[test]
fn a_result_that_came_late_is_known_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("{SESSION}.jsonl");
    let complete: Vec<Value> =
        transcript::claude_code(SESSION, 1).lines().map(|line| line.parse().unwrap()).collect();
    let path = written(folder.path(), &name, &complete[..2]);
    let source = source(Tool::ClaudeCode, &path);
    let homes: Vec<tempfile::TempDir> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    assert_eq!(seal(homes[0].path(), &source, true, true).appended, 1);
    carry(homes[0].path(), homes[1].path(), &source);
    assert_eq!(seal(homes[1].path(), &source, true, true).appended, 0);
    written(folder.path(), &name, &complete);
    let late = seal(homes[1].path(), &source, true, true);
    assert_eq!(late.appended, 3, "the result that is new here, the edit and the answer");
    carry(homes[1].path(), homes[2].path(), &source);
    assert_eq!(seal(homes[2].path(), &source, true, true).appended, 0);
    // The first home knows the call itself, and gets the rest from the others.
    carry(homes[1].path(), homes[0].path(), &source);
    assert_eq!(seal(homes[0].path(), &source, true, true).appended, 0);
}

/// The samples are in a folder next to the project, not in it.
fn samples() -> Option<PathBuf> {
    let folders =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(3).map(|folder| folder.join("shared"));
    let found = folders.into_iter().find(|folder| folder.join("vectors/sealed/home-sample").is_dir());
    if found.is_none() {
        println!("skipped: the sample home is not beside the project");
    }
    found
}

fn document(path: &Path) -> ExactJson {
    parse_lossy(&std::fs::read(path).unwrap()).unwrap()
}

/// The sample transcript of a tool.
fn sample(shared: &Path, tool: Tool) -> TranscriptSource {
    let folder = shared.join("transcripts").join(tool.name());
    let expected = document(&folder.join("expected-peer-chain.json"));
    let session = expected.text("session_id").unwrap();
    let path = match tool {
        Tool::ClaudeCode => folder.join(format!("{session}.jsonl")),
        Tool::Codex => {
            let day = folder.join("sessions/2026/06/01");
            std::fs::read_dir(day).unwrap().next().unwrap().unwrap().path()
        }
        Tool::Cursor => folder.join("state.vscdb"),
        Tool::Cline => folder.join("tasks").join(session),
    };
    let mut source = source_of(tool, &path, session).unwrap();
    if tool == Tool::Cursor {
        source.text_transcript = Some(folder.join("transcript.jsonl"));
        source.hook_fields = hook_fields(&document(&folder.join("hook-stop.json")));
    }
    source
}

/// The keys of records that the reference does not make at all.
fn added_by_us(tool: Tool, theirs: &[String]) -> Vec<String> {
    let list = document(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../capsid-transcript/differences.json"));
    let ours = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry.text("tool") == Some(tool.name()) && entry.text("path") == Some("*"));
    let keys = ours.map(|entry| entry.text("record").unwrap().to_owned());
    keys.filter(|key| !theirs.contains(key)).collect()
}

#[test]
fn the_reference_chains_go_on_with_their_checkpoints_and_without() {
    let Some(shared) = samples() else { return };
    for tool in Tool::ALL {
        let source = sample(&shared, tool);
        is_sealed_once(&source);
        let stored = shared.join("vectors/sealed/home-sample/chains").join(tool.name());
        let stored = stored.join(format!("{}.db", source.session));
        let checkpoint = std::fs::read_to_string(checkpoint_of(&stored)).unwrap();
        let added = added_by_us(tool, &transcript::keys_of(&checkpoint));
        for with_checkpoint in [true, false] {
            let home = tempfile::tempdir().unwrap();
            let chain = place(home.path(), &source).database;
            std::fs::create_dir_all(chain.parent().unwrap()).unwrap();
            std::fs::copy(&stored, &chain).unwrap();
            if with_checkpoint {
                std::fs::write(checkpoint_of(&chain), &checkpoint).unwrap();
            }
            // The reference's key is the same user's.
            let key = home.path().join("reference.key");
            std::fs::write(&key, std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
            capsid_seal::keys::adopted::adopt(home.path(), &key, &[1; 32]).unwrap();
            let before = ChainReader::open(&chain).unwrap().count(None).unwrap();
            let sealed = seal(home.path(), &source, true, true);
            let new: Vec<String> = records(home.path(), &source)[before as usize..]
                .iter()
                .map(|r| r.canonical.clone())
                .collect();
            assert_eq!(sealed.appended, added.len() as u64, "{tool:?} {with_checkpoint} {added:?} {new:#?}");
            assert_eq!(seal(home.path(), &source, true, true).appended, 0);
        }
    }
}
