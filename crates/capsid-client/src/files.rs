//! Messages as files, for nodes that share a folder instead of a hub.
//!
//! What is sent is appended to `outbox/<message_type>.jsonl`. What somebody puts into `inbox/*.jsonl` is read from there,
//! each message once: how far every file was read, and which messages were taken, is kept in `inbox-state.json`. Files of
//! the inbox are never written or removed; whoever put them there may do that at any time.

use crate::envelope;
use capsid_disk::{Lock, files};
use capsid_model::hash::sha256_hex;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest line that is read.
const MAX_LINE: u64 = 4 << 20;
/// The most messages that are taken at a time; the rest waits for the next time.
const MAX_MESSAGES: usize = 1000;
/// The most bytes that are taken at a time.
const MAX_BYTES: u64 = 64 << 20;
/// The most problems that are reported one by one.
const MAX_PROBLEMS: usize = 50;
/// How many messages are known again after their file was replaced.
const MAX_KNOWN: usize = 50_000;
/// How much of a file's start, and how much before the place in it, shows that it is still the same file.
const ANCHOR: u64 = 64 << 10;
/// How long another process is waited for.
const WAIT: Duration = Duration::from_secs(5);

/// A folder with an outbox and an inbox.
#[derive(Debug, Clone)]
pub struct FileTransport {
    folder: PathBuf,
}

/// Messages that were read and are not yet marked as consumed. While this value lives, nobody else reads the inbox.
#[derive(Debug)]
#[must_use = "messages come again until `done` is called"]
pub struct InboxBatch {
    /// The messages, in the order of their files' names and lines.
    pub messages: Vec<Object>,
    /// What was in the inbox and is no message. It is reported once.
    pub problems: Vec<Problem>,
    /// Whether more wait.
    pub more: bool,
    state: InboxState,
    changed: bool,
    path: PathBuf,
    _lock: Option<Lock>,
}

impl InboxBatch {
    /// Marks the messages as consumed: none of them comes again. A process that is killed before gets them again.
    pub fn done(self) -> Result<Vec<Object>> {
        if self.changed {
            let text = serde_json::to_vec(&self.state).unwrap_or_default();
            files::replace(&self.path, &text)?;
        }
        Ok(self.messages)
    }
}

/// What was received, consumed by having been received.
#[derive(Debug, Default)]
pub struct InboxMessages {
    /// The messages.
    pub messages: Vec<Object>,
    /// What was in the inbox and is no message.
    pub problems: Vec<Problem>,
    /// Whether more wait.
    pub more: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct InboxState {
    /// How far each file was read.
    files: BTreeMap<String, InboxPosition>,
    /// Entries of the inbox that are no plain files and were reported.
    refused: BTreeSet<String>,
    /// The messages that were taken, the oldest first.
    consumed: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct InboxPosition {
    offset: u64,
    /// A hash of the bytes before it.
    #[serde(default)]
    anchor: String,
}

impl FileTransport {
    /// Messages in a folder. Nothing is made before the first message is sent.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder that `A2A_DIR` names, else `a2a` next to the assets.
    pub fn resolve(assets: &Path, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let named = env("A2A_DIR").map(|path| path.trim().to_owned()).filter(|path| !path.is_empty());
        Self::new(named.map_or_else(|| assets.join("a2a"), PathBuf::from))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a message to the outbox, and gives the file it is in.
    pub fn send(&self, message: &Value) -> Result<PathBuf> {
        envelope::check(message).map_err(|what| {
            Problem::new(Code::InputInvalid, format!("The message cannot be sent: {what}."))
                .fix("A message has the seven fields of the envelope.")
        })?;
        let kind = message.get("message_type").and_then(Value::as_str).unwrap_or_default();
        let outbox = self.folder.join("outbox");
        let path = outbox.join(format!("{kind}.jsonl"));
        files::create_folder(&self.folder)?;
        let _lock = self.lock(".outbox.lock")?;
        is_plain_folder(&outbox)?;
        files::append(&path, &format!("{message}\n"))?;
        Ok(path)
    }

    /// The names of the files in the outbox.
    pub fn list(&self) -> Result<Vec<String>> {
        jsonl_names(&self.folder.join("outbox"))
    }

    /// Reads what is new in the inbox and marks it as consumed at once: no message is given twice, and one is lost when
    /// the process is killed before it has acted on it. Where that matters, use [`FileTransport::read_batch`].
    pub fn receive(&self) -> Result<InboxMessages> {
        let mut batch = self.read_batch()?;
        let (problems, more) = (std::mem::take(&mut batch.problems), batch.more);
        Ok(InboxMessages { messages: batch.done()?, problems, more })
    }

    /// Reads what is new in the inbox. It is consumed once [`InboxBatch::done`] has returned.
    pub fn read_batch(&self) -> Result<InboxBatch> {
        let (inbox, path) = (self.folder.join("inbox"), self.folder.join("inbox-state.json"));
        let mut batch = InboxBatch {
            messages: Vec::new(),
            problems: Vec::new(),
            more: false,
            state: InboxState::default(),
            changed: false,
            path,
            _lock: None,
        };
        if !is_plain_folder(&inbox)? {
            return Ok(batch);
        }
        batch._lock = Some(self.lock(".inbox.lock")?);
        let before = load(&batch.path)?;
        let names = jsonl_names(&inbox)?;
        let mut reader = InboxReader::new(before.clone());
        for name in &names {
            reader.file(&inbox, name)?;
        }
        reader.state.files.retain(|name, _| names.contains(name));
        reader.state.refused.retain(|name| names.contains(name));
        if reader.unreported > 0 {
            let more =
                format!("{} more lines of the inbox are no messages and were left out.", reader.unreported);
            reader.problems.push(Problem::new(Code::InputInvalid, more));
        }
        batch.changed = reader.state != before;
        (batch.messages, batch.problems) = (reader.messages, reader.problems);
        (batch.state, batch.more) = (reader.state, reader.full);
        Ok(batch)
    }

    fn lock(&self, name: &str) -> Result<Lock> {
        let path = self.folder.join(name);
        is_plain_folder(&self.folder)?;
        is_plain_file(&path)?;
        Lock::acquire(&path, "The folder of messages", WAIT)
    }
}

/// What is read from an inbox at one time.
struct InboxReader {
    state: InboxState,
    known: HashSet<String>,
    messages: Vec<Object>,
    problems: Vec<Problem>,
    unreported: usize,
    bytes: u64,
    full: bool,
}

/// One line of a file.
enum InboxLine {
    /// It is complete.
    Whole(Vec<u8>),
    /// It is longer than lines are read.
    TooLong,
    /// It ends where the file ends, without a line break.
    Torn(Vec<u8>),
    /// There is none.
    None,
}

impl InboxReader {
    fn new(state: InboxState) -> Self {
        let known = state.consumed.iter().cloned().collect();
        Self {
            state,
            known,
            messages: Vec::new(),
            problems: Vec::new(),
            unreported: 0,
            bytes: 0,
            full: false,
        }
    }

    fn file(&mut self, inbox: &Path, name: &str) -> Result<()> {
        if self.full {
            return Ok(());
        }
        let path = inbox.join(name);
        if !is_file(&path) {
            if self.state.refused.insert(name.to_owned()) {
                self.record_skipped(name, "is not a plain file, and was not read");
            }
            return Ok(());
        }
        self.state.refused.remove(name);
        let Some(mut file) = files::open(&path)? else { return Ok(()) };
        let fail = |error: std::io::Error| Problem::io("read", &path, &error);
        let mut offset = self.start(name, &mut file).map_err(fail)?;
        file.seek(SeekFrom::Start(offset)).map_err(fail)?;
        let mut lines = BufReader::new(file);
        loop {
            if self.messages.len() >= MAX_MESSAGES || self.bytes >= MAX_BYTES {
                self.full = true;
                break;
            }
            let (line, length) = next_line(&mut lines).map_err(fail)?;
            match line {
                InboxLine::Whole(bytes) => self.line(name, offset, &bytes),
                // A message that only lacks its line break is complete; anything else may still be written.
                InboxLine::Torn(bytes) if serde_json::from_slice::<Object>(&bytes).is_ok() => {
                    self.line(name, offset, &bytes);
                }
                InboxLine::TooLong => {
                    self.record_skipped(
                        name,
                        &format!("has a line at byte {offset} that is longer than {MAX_LINE} bytes"),
                    );
                }
                InboxLine::Torn(_) | InboxLine::None => break,
            }
            offset += length;
            self.bytes += length;
        }
        let anchor = anchor(lines.get_mut(), offset).map_err(fail)?;
        self.state.files.insert(name.to_owned(), InboxPosition { offset, anchor });
        Ok(())
    }

    /// Where to go on in a file: at its start, if it is not the file that was read before.
    fn start(&self, name: &str, file: &mut File) -> std::io::Result<u64> {
        let Some(position) = self.state.files.get(name) else { return Ok(0) };
        let is_same =
            file.metadata()?.len() >= position.offset && anchor(file, position.offset)? == position.anchor;
        Ok(if is_same { position.offset } else { 0 })
    }

    fn line(&mut self, name: &str, offset: u64, bytes: &[u8]) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let wrong = |what: &str| format!("has a line at byte {offset} that is no message: {what}");
        let message: Value = match serde_json::from_slice(bytes) {
            Ok(message) => message,
            Err(error) => {
                return self.record_skipped(name, &wrong(&format!("it cannot be read as JSON ({error})")));
            }
        };
        if let Err(what) = envelope::check(&message) {
            return self.record_skipped(name, &wrong(&what));
        }
        let key = key_of(&message);
        if let Value::Object(message) = message
            && self.known.insert(key.clone())
        {
            self.messages.push(message);
            self.state.consumed.push(key);
            let surplus = self.state.consumed.len().saturating_sub(MAX_KNOWN);
            self.state.consumed.drain(..surplus);
        }
    }

    fn record_skipped(&mut self, name: &str, what: &str) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.unreported += 1;
            return;
        }
        let message = format!("`{}` in the inbox {what}.", inert_line(cut(name, 120)));
        self.problems.push(
            Problem::new(Code::InputInvalid, message)
                .fix("Nothing was changed; correct it, and send the message again under another id."),
        );
    }
}

/// The next line and how many bytes it takes up, its break included.
fn next_line(lines: &mut BufReader<File>) -> std::io::Result<(InboxLine, u64)> {
    let mut bytes = Vec::new();
    let mut length = lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut bytes)? as u64;
    if bytes.last() == Some(&b'\n') {
        return Ok((InboxLine::Whole(bytes), length));
    }
    if length <= MAX_LINE {
        return Ok((if length == 0 { InboxLine::None } else { InboxLine::Torn(bytes) }, length));
    }
    loop {
        let part = lines.fill_buf()?;
        let (used, is_end) = match part.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (part.len(), part.is_empty()),
        };
        // Without its end it may still be written.
        if used == 0 {
            return Ok((InboxLine::None, 0));
        }
        lines.consume(used);
        length += used as u64;
        if is_end {
            return Ok((InboxLine::TooLong, length));
        }
    }
}

fn key_of(message: &Value) -> String {
    let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut key = sha256_hex(format!("{}\n{}", text("sender_id"), text("message_id")).as_bytes());
    key.truncate(32);
    key
}

/// A hash of the bytes before an offset in a file: all of them, or the start and the end of a long range.
fn anchor(file: &mut File, offset: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let end = offset.saturating_sub(ANCHOR).max(ANCHOR.min(offset));
    for (from, to) in [(0, ANCHOR.min(offset)), (end, offset)] {
        file.seek(SeekFrom::Start(from))?;
        file.take(to - from).read_to_end(&mut bytes)?;
    }
    let mut hash = sha256_hex(&bytes);
    hash.truncate(16);
    Ok(hash)
}

fn load(path: &Path) -> Result<InboxState> {
    is_plain_file(path)?;
    let Some(text) = files::read_optional(path)? else { return Ok(InboxState::default()) };
    serde_json::from_str(&text).map_err(|_| {
        Problem::new(
            Code::StoreDamaged,
            format!("`{}` cannot be read, so it is not known which messages were consumed.", path.display()),
        )
        .fix("Restore it; or remove it, and every message in the inbox comes again.")
    })
}

/// The names of the JSONL files in a folder, sorted; none where there is no folder.
fn jsonl_names(folder: &Path) -> Result<Vec<String>> {
    if !is_plain_folder(folder)? {
        return Ok(Vec::new());
    }
    let fail = |error: std::io::Error| Problem::io("read", folder, &error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        if let Ok(name) = entry.map_err(fail)?.file_name().into_string()
            && name.ends_with(".jsonl")
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Whether a folder is there. A link is refused: one that came with a clone could lead anywhere.
fn is_plain_folder(path: &Path) -> Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(_) => Err(not_plain(path, "folder")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Problem::io("read", path, &error)),
    }
}

fn is_plain_file(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => Err(not_plain(path, "file")),
        _ => Ok(()),
    }
}

fn not_plain(path: &Path, what: &str) -> Problem {
    Problem::new(
        Code::InputInvalid,
        format!("`{}` is not a plain {what}, so it is not used.", path.display()),
    )
    .fix(format!("Put a {what} in its place, or name another folder with A2A_DIR."))
}
