//! Gathers the text that signals are read from. Every read is bounded, and no secret gets past this point.

use super::log_reading::{LOG_BYTES, LogReading, read_log, read_log_text};
use crate::signals::SignalCorpus;
use capsid_model::hash::sha256_hex;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::cut;
use capsid_model::{Problem, Result, Time};
use capsid_rules::diagnosis::{Diagnosis, Matcher};
use capsid_transcript::{list_folders, plain_tail, recent_text};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The start of MEMORY.md that is read, in UTF-16 units.
const MEMORY_UNITS: usize = 50_000;
/// The start of USER.md and MEMORY.md that is read, in bytes; no character has more than four.
const NOTES_BYTES: u64 = 4 * MEMORY_UNITS as u64;

/// Other problems that are listed.
const MAX_ALSO: usize = 8;

/// What to read.
pub struct InputRequest<'a> {
    /// The repository that agent sessions must be about.
    pub repository: &'a Path,
    /// The folder of MEMORY.md and USER.md.
    pub workspace: &'a Path,
    /// The folder of daily logs, and of MEMORY.md if the workspace has none.
    pub memory_dir: &'a Path,
    pub log_files: &'a [PathBuf],
    pub user_file: Option<&'a Path>,
    pub memory_file: Option<&'a Path>,
    /// What came on standard input, if it was read.
    pub stdin: Option<String>,
    /// Whether to read the sessions of known agents.
    pub sessions: bool,
    /// The user's home, in which agents keep their sessions.
    pub home: Option<&'a Path>,
    /// Reads the environment, in which users say where agents keep their sessions.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Rules of the owner for what tools print.
    pub matchers: &'a [Matcher],
    pub now: Time,
}

/// One text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSource {
    /// The file, or `stdin`.
    pub name: String,
    /// How much of it was read.
    pub bytes: usize,
}

/// A log that the user named, and how much it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLog {
    /// The file, or `stdin`.
    pub name: String,
    pub lines: usize,
    pub warnings: usize,
    /// Whether it shows a live problem.
    pub has_problem: bool,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    pub corpus: SignalCorpus,
    pub sources: Vec<InputSource>,
    /// A hash of all parts: equal when nothing changed since another time.
    pub digest: String,
    /// The problem, and where its log shows it.
    pub diagnosis: Diagnosis,
    /// The log that shows the problem: a file, `stdin`, `sessions` or `today's log`.
    pub problem_source: Option<String>,
    /// The logs that were named.
    pub named_logs: Vec<NamedLog>,
    /// The end of the named logs, without secrets.
    pub named_text: String,
}

/// Reads all inputs. A file the user named must exist; a usual one need not.
pub fn gather(request: &InputRequest<'_>) -> Result<Inputs> {
    let mut sources = Vec::new();
    let clean = |text: String| redact(&text, RedactProfile::Secrets).into_owned();
    let named = read_named_logs(request, &mut sources)?;
    let sessions = if request.sessions { sessions(request, &mut sources) } else { String::new() };
    let today = request.memory_dir.join(format!("{}.md", request.now.date()));
    let today = usual(&today, &mut sources, |path| plain_tail(path, LOG_BYTES)).unwrap_or_default();
    let (memory, user) = notes(request, &mut sources)?;
    let named_text = clean(join_parts(named.iter().map(|(_, log)| log.tail.as_str())));
    let sessions = clean(sessions);
    let windows = (!named.is_empty()).then(|| join_windows(&named));
    let corpus = SignalCorpus {
        transcript: join_parts([named_text.as_str(), &sessions]),
        today: clean(today),
        memory: clean(memory),
        user: clean(user),
        windows,
    };
    let digest = digest(&corpus, &named);
    let named_logs = named.iter().map(|(name, log)| NamedLog {
        name: name.clone(),
        lines: log.diagnosis.lines,
        warnings: log.diagnosis.warnings,
        has_problem: log.diagnosis.problem.is_some(),
    });
    let named_logs = named_logs.collect();
    let mut found: Vec<(String, Diagnosis)> =
        named.into_iter().map(|(name, log)| (name, log.diagnosis)).collect();
    // What runs in the background says nothing about a log that the user named.
    if found.is_empty() {
        // A tool's result stands behind this mark, as the tool printed it.
        let results = sessions.replace("[TOOL RESULT] ", "");
        for (name, text) in [("sessions", &results), ("today's log", &corpus.today)] {
            found.push((name.to_owned(), read_log_text(text, request.matchers).diagnosis));
        }
    }
    let (problem_source, diagnosis) = choose_diagnosis(found);
    Ok(Inputs { corpus, sources, digest, diagnosis, problem_source, named_logs, named_text })
}

impl Inputs {
    /// Says that the named logs show no problem: `build.log (2,310 lines; 3 warnings)`.
    pub fn describe_named_logs(&self) -> String {
        let describe = |log: &NamedLog| {
            let name =
                Path::new(&log.name).file_name().map_or(log.name.as_str().into(), |n| n.to_string_lossy());
            let lines = count(log.lines, "line");
            match log.warnings {
                0 => format!("{name} ({lines})"),
                warnings => format!("{name} ({lines}; {})", count(warnings, "warning")),
            }
        };
        self.named_logs.iter().map(describe).collect::<Vec<_>>().join(", ")
    }
}

/// `1 line`, `2,310 lines`.
fn count(number: usize, noun: &str) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number == 1 { format!("{text} {noun}") } else { format!("{text} {noun}s") }
}

fn join_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// The lines around the problems of the named logs.
fn join_windows(named: &[(String, LogReading)]) -> String {
    let windows = named.iter().flat_map(|(_, log)| &log.diagnosis.windows);
    join_parts(windows.flat_map(|window| window.lines.iter().map(String::as_str)))
}

/// The problem of the first log that has one; those of the others are listed beside it. Lines and windows are counted
/// within that log.
fn choose_diagnosis(found: Vec<(String, Diagnosis)>) -> (Option<String>, Diagnosis) {
    let lines = found.iter().map(|(_, one)| one.lines).sum();
    let warnings = found.iter().map(|(_, one)| one.warnings).sum();
    let mut chosen: Option<(String, Diagnosis)> = None;
    let mut passed = !found.is_empty();
    for (name, diagnosis) in found {
        passed &= diagnosis.passed;
        match &mut chosen {
            None if diagnosis.problem.is_some() => chosen = Some((name, diagnosis)),
            None => {}
            Some((_, first)) => first.also.extend(diagnosis.problem.into_iter().chain(diagnosis.also)),
        }
    }
    match chosen {
        Some((name, mut diagnosis)) => {
            diagnosis.also.truncate(MAX_ALSO);
            (Some(name), diagnosis)
        }
        None => (None, Diagnosis { passed, lines, warnings, ..Diagnosis::default() }),
    }
}

impl InputRequest<'_> {
    /// Whether the user named the sources. Then a missing other source is not worth a signal.
    fn is_explicit(&self) -> bool {
        !self.log_files.is_empty()
            || self.stdin.is_some()
            || self.user_file.is_some()
            || self.memory_file.is_some()
    }

    fn placeholder(&self, text: &str) -> String {
        if self.is_explicit() { String::new() } else { text.to_owned() }
    }
}

/// The logs that the user named and standard input, each read by itself.
fn read_named_logs(
    request: &InputRequest<'_>,
    sources: &mut Vec<InputSource>,
) -> Result<Vec<(String, LogReading)>> {
    let mut named = Vec::new();
    for path in request.log_files {
        named.push((path.display().to_string(), read_log(path, request.matchers)?));
    }
    if let Some(stdin) = &request.stdin {
        named.push(("stdin".to_owned(), read_log_text(stdin, request.matchers)));
    }
    sources.extend(named.iter().map(|(name, log)| InputSource { name: name.clone(), bytes: log.bytes }));
    Ok(named)
}

fn sessions(request: &InputRequest<'_>, sources: &mut Vec<InputSource>) -> String {
    let folders = request.home.map(|home| list_folders(home, request.env)).unwrap_or_default();
    let transcript = recent_text(&folders, request.now, Some(request.repository));
    if transcript.sessions.is_empty() {
        return request.placeholder("[NO SESSION LOGS FOUND]");
    }
    sources.extend(transcript.sessions.iter().map(|s| source(&s.path, s.bytes)));
    transcript.text
}

/// MEMORY.md and USER.md, or the files named instead.
fn notes(request: &InputRequest<'_>, sources: &mut Vec<InputSource>) -> Result<(String, String)> {
    let memory = match request.memory_file {
        Some(path) => Some(named(path, sources)?),
        None => usual(&request.workspace.join("MEMORY.md"), sources, head)
            .or_else(|| usual(&request.memory_dir.join("MEMORY.md"), sources, head)),
    };
    let user = match request.user_file {
        Some(path) => Some(named(path, sources)?),
        None => usual(&request.workspace.join("USER.md"), sources, head),
    };
    let memory = memory.unwrap_or_else(|| request.placeholder("[MEMORY.md MISSING]"));
    let user = user.unwrap_or_else(|| request.placeholder("[USER.md MISSING]"));
    Ok((cut(&memory, MEMORY_UNITS).to_owned(), user))
}

fn named(path: &Path, sources: &mut Vec<InputSource>) -> Result<String> {
    let text = head(path)?;
    sources.push(source(path, text.len()));
    Ok(text)
}

/// A file at its usual place: nothing when it is absent, a mark in the text when it is there and cannot be read.
fn usual(
    path: &Path,
    sources: &mut Vec<InputSource>,
    read: impl Fn(&Path) -> Result<String>,
) -> Option<String> {
    if let Err(error) = path.symlink_metadata()
        && error.kind() == ErrorKind::NotFound
    {
        return None;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match read(path) {
        Ok(text) => {
            sources.push(source(path, text.len()));
            Some(text)
        }
        Err(_) => Some(format!("[ERROR READING {name}]")),
    }
}

/// The start of a file.
fn head(path: &Path) -> Result<String> {
    let read = || {
        let mut bytes = Vec::new();
        plain_file(path)?.take(NOTES_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    read().map_err(|error| Problem::io("read", path, &error))
}

fn source(path: &Path, bytes: usize) -> InputSource {
    InputSource { name: path.display().to_string(), bytes }
}

/// The length before each part prevents that text moves between parts unseen. Of a named log all counts that was read.
fn digest(corpus: &SignalCorpus, named: &[(String, LogReading)]) -> String {
    let mut bytes = Vec::new();
    for part in [&corpus.transcript, &corpus.today, &corpus.memory, &corpus.user] {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    for (_, log) in named {
        bytes.extend_from_slice(log.digest.as_bytes());
    }
    sha256_hex(&bytes)
}

/// Opens what is a file: a pipe of that name would wait for ever.
fn plain_file(path: &Path) -> std::io::Result<File> {
    match std::fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(std::io::Error::other("it is not a file")),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_model::Code;
    use std::fs;
    use tempfile::TempDir;

    const NOW: Time = Time(1_770_477_654_155);

    fn request(root: &Path) -> InputRequest<'_> {
        InputRequest {
            repository: root,
            workspace: root,
            memory_dir: root,
            log_files: &[],
            user_file: None,
            memory_file: None,
            stdin: None,
            sessions: true,
            home: Some(root),
            env: &|_| None,
            matchers: &[],
            now: NOW,
        }
    }

    #[test]
    fn what_is_missing_leaves_its_mark() {
        let root = TempDir::new().unwrap();
        let inputs = gather(&request(root.path())).unwrap();
        assert_eq!(
            inputs.corpus,
            SignalCorpus {
                transcript: "[NO SESSION LOGS FOUND]".into(),
                today: String::new(),
                memory: "[MEMORY.md MISSING]".into(),
                user: "[USER.md MISSING]".into(),
                windows: None,
            }
        );
        assert!(inputs.sources.is_empty());
        assert_eq!(
            crate::signals::extract(&inputs.corpus, &inputs.diagnosis),
            ["memory_missing", "user_missing", "session_logs_missing"]
        );
    }

    #[test]
    fn a_named_input_is_enough_by_itself() {
        let root = TempDir::new().unwrap();
        let log = root.path().join("out.log");
        fs::write(&log, "error: boom\n").unwrap();
        let inputs =
            gather(&InputRequest { log_files: &[log], stdin: Some("more".into()), ..request(root.path()) })
                .unwrap();
        assert_eq!(inputs.corpus.joined(), "error: boom\n\nmore\n\n\n");
        assert_eq!(inputs.sources.len(), 2);
        assert_eq!(inputs.sources[1].name, "stdin");
    }

    #[test]
    fn a_named_file_that_is_not_there_is_an_error() {
        let root = TempDir::new().unwrap();
        let absent = root.path().join("absent");
        let logs = [absent.clone()];
        for request in [
            InputRequest { log_files: &logs, ..request(root.path()) },
            InputRequest { user_file: Some(&absent), ..request(root.path()) },
            InputRequest { memory_file: Some(&absent), ..request(root.path()) },
        ] {
            assert_eq!(gather(&request).unwrap_err().code, Code::FileNotFound);
        }
    }

    #[test]
    fn the_usual_files_are_read_and_bounded() {
        let root = TempDir::new().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("memory/MEMORY.md", &"é".repeat(60_000));
        put("USER.md", "likes tea");
        put("memory/2026-02-07.md", &format!("start\n{}", "day\n".repeat(60_000)));
        let memory_dir = root.path().join("memory");
        let inputs =
            gather(&InputRequest { memory_dir: &memory_dir, sessions: false, ..request(root.path()) })
                .unwrap();
        assert_eq!(inputs.corpus.transcript, "");
        assert_eq!(inputs.corpus.memory.chars().count(), 50_000);
        assert_eq!(inputs.corpus.user, "likes tea");
        assert_eq!(inputs.corpus.today.len(), 200_000);
        assert_eq!(inputs.sources.len(), 3);
        put("MEMORY.md", "the workspace comes first");
        let again =
            gather(&InputRequest { memory_dir: &memory_dir, sessions: false, ..request(root.path()) })
                .unwrap();
        assert_eq!(again.corpus.memory, "the workspace comes first");
        assert_ne!(again.digest, inputs.digest);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("USER.md")).unwrap();
        let inputs = gather(&request(root.path())).unwrap();
        assert_eq!(inputs.corpus.user, "[ERROR READING USER.md]");
    }

    #[test]
    fn secrets_do_not_reach_the_corpus() {
        let root = TempDir::new().unwrap();
        let secret = "k3Jx9QpL2mZr7TbV5nHs";
        let inputs = gather(&InputRequest {
            stdin: Some(format!("error: bad token={secret}")),
            ..request(root.path())
        })
        .unwrap();
        assert!(inputs.corpus.transcript.ends_with("token=[REDACTED]"));
    }

    #[test]
    fn an_openclaw_session_gives_the_signature_that_existing_events_hold() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join(".openclaw/agents/main/sessions");
        fs::create_dir_all(&folder).unwrap();
        let answer = "{\n  \"status\": \"error\",\n  \"tool\": \"exec\",\n  \"error\": \"error: unknown command 'process'\\n\\nCommand exited with code 1\"\n}";
        let record = capsid_model::json!({
            "type": "message",
            "message": {"role": "toolResult", "content": [{"type": "text", "text": answer}]},
        });
        fs::write(folder.join("a.jsonl"), format!("{record}\n")).unwrap();
        let modified = folder.join("a.jsonl").metadata().unwrap().modified().unwrap();
        let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = Time(i64::try_from(since.as_millis()).unwrap());
        let inputs = gather(&InputRequest { now, ..request(root.path()) }).unwrap();
        let signals = crate::signals::extract(&inputs.corpus, &inputs.diagnosis);
        assert_eq!(
            capsid_model::signal::signal_key(&signals),
            "errsig_norm:870c3a82|log_error|memory_missing|user_missing"
        );
    }

    #[test]
    fn the_first_log_with_a_problem_has_the_problem_and_the_others_are_listed() {
        let root = TempDir::new().unwrap();
        let names = ["clean.log", "build.log", "test.log"];
        let logs = names.map(|name| root.path().join(name));
        fs::write(&logs[0], "all is well\nwarning: unused\n").unwrap();
        let error = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n";
        fs::write(&logs[1], format!("{error}{}", "more output\n".repeat(40_000))).unwrap();
        fs::write(&logs[2], "ERROR:  relation \"orders\" does not exist\n").unwrap();
        fs::write(root.path().join("2026-02-07.md"), "error: of today\n").unwrap();
        let inputs = gather(&InputRequest { log_files: &logs, ..request(root.path()) }).unwrap();
        assert_eq!(inputs.diagnosis.problem.unwrap().code.as_deref(), Some("TS2322"));
        assert_eq!(inputs.problem_source, Some(logs[1].display().to_string()));
        assert_eq!(inputs.diagnosis.also.len(), 1);
        let clean = gather(&InputRequest { log_files: &logs[..1], ..request(root.path()) }).unwrap();
        assert_eq!(clean.diagnosis.problem, None, "what is not named has no say");
        assert_eq!(clean.describe_named_logs(), "clean.log (2 lines; 1 warning)");
        let none = gather(&request(root.path())).unwrap();
        assert_eq!(none.problem_source.as_deref(), Some("today's log"));
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([count(1, "line"), count(0, "line")], ["1 line", "0 lines"]);
        assert_eq!([count(2310, "line"), count(1_000_000, "line")], ["2,310 lines", "1,000,000 lines"]);
    }

    #[test]
    fn the_digest_knows_which_part_holds_what() {
        let part = |transcript: &str, today: &str| {
            let corpus = SignalCorpus {
                transcript: transcript.into(),
                today: today.into(),
                ..SignalCorpus::default()
            };
            digest(&corpus, &[])
        };
        assert_ne!(part("ab", ""), part("a", "b"));
        assert_eq!(part("a", "b"), part("a", "b"));
    }
}
