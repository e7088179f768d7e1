//! The sources: the databases, and the text that replaces them.

use super::*;

fn authorship(state: &State, more: &str) -> TranscriptSource {
    let path = state.folder.path().join("ai-code-tracking.db");
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch(&format!(
            "CREATE TABLE ai_code_hashes (hash TEXT PRIMARY KEY, source TEXT, fileName TEXT, requestId TEXT,
                conversationId TEXT, timestamp INTEGER, model TEXT);
             INSERT INTO ai_code_hashes VALUES ('1', 'composer', 'b.ts', 'r1', '{TALK}', 1, 'm'),
                ('2', 'composer', 'a.ts', 'r1', '{TALK}', 2, 'm'), ('3', 'human', 'a.ts', NULL, '{TALK}', 3, NULL),
                ('4', 'composer', 'c.ts', 'r2', 'other', 4, 'n');{more}"
        ))
        .unwrap();
    TranscriptSource { authorship: Some(path), ..state.source() }
}

const COMMITS: &str = "CREATE TABLE scored_commits (commitHash TEXT, branchName TEXT, scoredAt INTEGER,
    linesAdded INTEGER, composerLinesAdded INTEGER, humanLinesAdded INTEGER, commitMessage TEXT, commitDate TEXT,
    v2AiPercentage TEXT);";

#[test]
fn authorship_comes_first_and_leaves_out_commits_from_before() {
    let state =
        State::talk_with(json!({"createdAt": 1_780_308_000_000_i64}), &[json!({"type": 2, "text": "said"})]);
    let rows = format!(
        "{COMMITS}INSERT INTO scored_commits VALUES ('0123456789abcdef', 'main', 1, 10, 8, 2, '{}', '2026-06-01', '80.00'),
         ('old', 'main', 2, 1, 1, 0, 'before', '2026-05-20T10:00:00Z', NULL),
         ('odd', 'main', 3, 1, 1, 0, 'undated', 'Mon Jun 1', NULL);",
        "m".repeat(150)
    );
    let mut source = authorship(&state, &rows);
    source.hook_fields = fields(&[("model", "m")]);
    let (actions, _) = read_all(&source);
    assert_eq!(actions.len(), 2);
    let first = &actions[0];
    assert_eq!((first.key.as_str(), first.kind), ("authorship:talk", ActionKind::System));
    assert_eq!(first.summary, "AI authorship: 2 AI-authored edits across 2 files");
    assert_eq!(
        ExactJson::from(first.environment.clone()),
        exact(json!({"model": "m", "ai_tracking_db": "ai-code-tracking.db", "authorship_models": ["m"]}))
    );
    let result = &first.result;
    assert_eq!(result.get("files_touched"), Some(&exact(json!(["a.ts", "b.ts"]))));
    assert_eq!(result.get("request_ids"), Some(&exact(json!(["r1"]))));
    assert_eq!(result.get("total_tracked_edits"), Some(&3_i64.into()));
    assert_eq!(result.get("commit_count"), Some(&2_i64.into()));
    let commits = result.get("commits").and_then(ExactJson::as_array).unwrap();
    assert_eq!(commits[0].text("commit"), Some("odd"));
    assert_eq!(
        commits[1],
        exact(
            json!({"commit": "0123456789ab", "branch": "main", "message": "m".repeat(120), "date": "2026-06-01",
            "lines_added": 10, "composer_lines_added": 8, "human_lines_added": 2, "v2_ai_percentage": "80.00"})
        )
    );
}

fn fields(pairs: &[(&str, &str)]) -> ExactFields {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), ExactJson::from(*value))).collect()
}

#[test]
fn authorship_that_cannot_be_read_costs_nothing_else() {
    let state = State::talk(&[json!({"type": 2, "text": "said"})]);
    let (actions, report) = read_all(&authorship(&state, ""));
    assert_eq!((actions.len(), report.broken), (2, 0));
    assert_eq!(actions[0].result.get("commit_count"), Some(&0_i64.into()));
    let broken = state.folder.path().join("broken.db");
    fs::write(&broken, "no database at all, but long enough to look").unwrap();
    let (actions, report) = read_all(&TranscriptSource { authorship: Some(broken), ..state.source() });
    assert_eq!((actions.len(), report.broken), (1, 1));
}

fn transcript(state: &State, lines: &[&str]) -> PathBuf {
    let path = state.folder.path().join("talk.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    path
}

#[test]
fn a_text_transcript_stands_in_where_the_database_knows_nothing() {
    let state = State::new();
    let path = transcript(
        &state,
        &[
            r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>Ripen</user_query>"}]}}"#,
            "",
            r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Looking."},{"type":"tool_use","name":"Read","input":{"path":"a.ts"}}]}}"#,
            "{broken",
            r#"{"type":"new_thing","x":1}"#,
            r#"{"role":"assistant","message":{"content":"Done."}}"#,
            r#"{"type":"turn_ended","status":"error","error":"no network"}"#,
            "",
        ],
    );
    let source = TranscriptSource { text_transcript: Some(path.clone()), ..state.source() };
    let (actions, report) = read_all(&source);
    let actual: Vec<_> = actions.iter().map(|a| (a.key.as_str(), a.kind, a.summary.as_str())).collect();
    assert_eq!(
        actual,
        [
            ("line:2", ActionKind::Chat, "Looking."),
            ("line:2:1", ActionKind::Tool, "Read: a.ts"),
            ("line:3:broken", ActionKind::System, "entry that cannot be read"),
            ("line:4", ActionKind::System, "unknown record type new_thing"),
            ("line:5", ActionKind::Chat, "Done."),
            ("line:6", ActionKind::System, "turn ended: no network"),
        ]
    );
    assert_eq!(actions[0].prompt, "Ripen");
    assert_eq!(ExactJson::from(actions[0].environment.clone()), exact(json!({"transcript_line": 2})));
    assert!(report.finished && actions[5].has_failed());
    assert_eq!((report.broken, report.unknown), (1, [("new_thing".to_owned(), 1)].into()));
    // The same without any database.
    assert_eq!(read_all(&TranscriptSource { path, ..source }).0, actions);
}

#[test]
fn words_that_were_sealed_from_the_text_are_known_again() {
    let state = State::talk(&[
        json!({"type": 2, "text": "Same."}),
        json!({"type": 2, "text": "Other."}),
        json!({"type": 2, "text": "Same."}),
        json!({"type": 2, "text": "Same."}),
    ]);
    let say = |text: &str| json!({"role": "assistant", "message": {"content": text}}).to_string();
    let path = transcript(&state, &[&say("Same."), &say("Else."), &say("Same."), ""]);
    let source = TranscriptSource { text_transcript: Some(path), ..state.source() };
    let keys = line_keys(&source).unwrap();
    let expected = [("b0", "line:0"), ("b2", "line:2")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(keys, expected.into());
    assert!(line_keys(&state.source()).unwrap().is_empty());
    // The database has more, so it is read.
    assert_eq!(read_all(&source).0.len(), 4);
}

#[test]
fn what_is_no_database_is_refused() {
    let folder = TempDir::new().unwrap();
    let state = State::new();
    let refused = |path: PathBuf| {
        let problem = read(&TranscriptSource { path, ..state.source() }, &mut |_| Ok(())).unwrap_err();
        assert!(problem.fix.is_some());
        problem.code
    };
    assert_eq!(refused(folder.path().join("absent")), Code::FileNotFound);
    let words = folder.path().join("words");
    fs::write(&words, "words").unwrap();
    assert_eq!(refused(words), Code::TranscriptUnreadable);
    let torn = folder.path().join("torn");
    let mut bytes = fs::read(State::talk(&[user("x")]).path()).unwrap();
    bytes[100..].fill(0xAA);
    fs::write(&torn, bytes).unwrap();
    assert_eq!(refused(torn), Code::TranscriptUnreadable);
    // No tables: nothing is known, and that is no error.
    let empty = folder.path().join("empty");
    Connection::open(&empty).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    assert!(read_all(&TranscriptSource { path: empty.clone(), ..state.source() }).0.is_empty());
    assert!(conversations(&empty).unwrap().is_empty());
}

/// All files of a folder with their bytes.
fn bytes_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut contents: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    contents.sort();
    contents
}

#[test]
fn a_database_in_use_is_read_with_its_log_and_left_as_it_is() {
    let state = State::new();
    state.connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    state.put(
        &format!("composerData:{TALK}"),
        json!({"fullConversationHeadersOnly": [{"bubbleId": "b"}]}).to_string(),
    );
    state.bubble(TALK, "b", json!({"type": 2, "text": "only in the log"}));
    assert!(state.folder.path().join("state.vscdb-wal").metadata().unwrap().len() > 0);
    // The editor writes while we read.
    state.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = bytes_in(state.folder.path());
    assert_eq!(state.read().0[0].analysis, "only in the log");
    assert!(bytes_in(state.folder.path()) == before);
    state.connection.execute_batch("COMMIT").unwrap();
    assert!(is_known(&state.path(), TALK).unwrap() && !is_known(&state.path(), "tal").unwrap());
    assert_eq!(conversations(&state.path()).unwrap(), [TALK]);
}

#[test]
fn a_large_database_is_read_where_it_is() {
    for mode in ["DELETE", "WAL"] {
        let state = State::talk(&[json!({"type": 2, "text": "found"})]);
        state.connection.execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
        state.put("more", "more");
        let is_found = |path: &Path| {
            let database = CursorDatabase::open_copied_below(path, 0).unwrap();
            matches!(database.bubble(TALK, "b0").unwrap(), database::CursorValue::Bytes(bytes) if !bytes.is_empty())
        };
        assert!(is_found(&state.path()), "{mode}: while it is open");
        // While it is being written, too.
        state.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(is_found(&state.path()), "{mode}: while it is written");
        state.connection.execute_batch("COMMIT").unwrap();
        let State { folder, connection } = state;
        connection.close().unwrap();
        let before = bytes_in(folder.path());
        assert!(is_found(&folder.path().join("state.vscdb")), "{mode}: after it was closed");
        assert!(bytes_in(folder.path()) == before, "{mode}");
    }
    // Signs that mean something in an address.
    let folder = TempDir::new().unwrap();
    let odd = folder.path().join("a%20b?c#d");
    fs::copy(State::talk(&[user("x")]).path(), &odd).unwrap();
    assert!(CursorDatabase::open_copied_below(&odd, 0).unwrap().has("composerData:talk").unwrap());
}
