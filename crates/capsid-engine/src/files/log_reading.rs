//! Reads a log of any size in one pass: its problem, its end, and a hash of all that was read. What is kept of it holds
//! no secret.

use capsid_model::hash::hex;
use capsid_model::redact::{REDACTED, RedactProfile, redact};
use capsid_model::{Problem, Result};
use capsid_rules::diagnosis::{
    Diagnosis, DiagnosisReader, Diagnostic, HEAD_BYTES, LogWindow, Matcher, TAIL_BYTES,
};
use capsid_transcript::tail_of;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The end of a named log or of standard input that requests are read from, and of today's log that is read. Problems
/// are looked for in the whole of a named log.
pub const LOG_BYTES: usize = 200_000;

const CHUNK: usize = 256 * 1024;
/// A stream that is still going after this much has no end to read.
const ENDLESS: u64 = 4 << 30;

/// What was read of a log.
#[derive(Debug, Clone, Default)]
pub struct LogReading {
    /// The end of the log, from the start of a line on, as it stands.
    pub tail: String,
    /// How much was read.
    pub bytes: usize,
    /// The hash of that.
    pub digest: String,
    /// What the log shows, without secrets.
    pub diagnosis: Diagnosis,
}

/// Reads a log: the whole of it, or the first and the last part of a very long one.
pub fn read_log(path: &Path, matchers: &[Matcher]) -> Result<LogReading> {
    let read = || {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let mut intake = LogIntake::new(matchers);
        if !metadata.is_file() {
            // A pipe has no length to seek from.
            intake.push(read_bounded(file)?.as_bytes());
        } else if metadata.len() <= HEAD_BYTES + TAIL_BYTES {
            intake.push_all(file)?;
        } else {
            intake.push_all(file.by_ref().take(HEAD_BYTES))?;
            intake.push(b"\n");
            file.seek(SeekFrom::Start(metadata.len() - TAIL_BYTES))?;
            intake.push_all(file)?;
        }
        Ok(intake.finish())
    };
    read().map_err(|error| Problem::io("read", path, &error))
}

/// Reads a log that is in memory already.
pub fn read_log_text(text: &str, matchers: &[Matcher]) -> LogReading {
    let mut intake = LogIntake::new(matchers);
    intake.push(text.as_bytes());
    intake.finish()
}

/// What the output of a command shows, without secrets. The ids are those that the same lines have in a log.
pub fn diagnose_output(text: &str, matchers: &[Matcher]) -> Diagnosis {
    let mut reader = DiagnosisReader::with_matchers(matchers.to_vec());
    reader.push(text.as_bytes());
    redact_diagnosis(reader.finish())
}

/// Reads a stream to its end; of a very long one the first and the last part stay.
pub fn read_bounded(stream: impl Read) -> std::io::Result<String> {
    let (head, tail) = (HEAD_BYTES as usize, TAIL_BYTES as usize);
    let mut bytes = Vec::new();
    let mut is_cut = false;
    for_each_chunk(stream.take(ENDLESS), |chunk| {
        bytes.extend_from_slice(chunk);
        if bytes.len() > head + 2 * tail {
            bytes.drain(head..bytes.len() - tail);
            is_cut = true;
        }
    })?;
    if is_cut || bytes.len() > head + tail {
        let from = bytes.len().saturating_sub(tail).max(head);
        bytes.splice(head..from, [b'\n']);
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn for_each_chunk(mut stream: impl Read, mut take: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes a log piece by piece.
struct LogIntake {
    reader: DiagnosisReader,
    hash: Sha256,
    end: Vec<u8>,
    bytes: usize,
}

impl LogIntake {
    fn new(matchers: &[Matcher]) -> Self {
        Self {
            reader: DiagnosisReader::with_matchers(matchers.to_vec()),
            hash: Sha256::new(),
            end: Vec::new(),
            bytes: 0,
        }
    }

    fn push(&mut self, piece: &[u8]) {
        self.reader.push(piece);
        self.hash.update(piece);
        self.bytes += piece.len();
        self.end.extend_from_slice(&piece[piece.len().saturating_sub(LOG_BYTES + 1)..]);
        if self.end.len() > 4 * LOG_BYTES {
            self.end.drain(..self.end.len() - LOG_BYTES - 1);
        }
    }

    fn push_all(&mut self, stream: impl Read) -> std::io::Result<()> {
        for_each_chunk(stream, |chunk| self.push(chunk))
    }

    fn finish(self) -> LogReading {
        LogReading {
            // Reading from memory cannot fail.
            tail: tail_of(self.end.as_slice(), LOG_BYTES).unwrap_or_default(),
            bytes: self.bytes,
            digest: hex(&self.hash.finalize()),
            diagnosis: redact_diagnosis(self.reader.finish()),
        }
    }
}

/// Takes the secrets out of all that a diagnosis keeps.
pub fn redact_diagnosis(mut diagnosis: Diagnosis) -> Diagnosis {
    for found in diagnosis.problem.iter_mut().chain(&mut diagnosis.also) {
        redact_diagnostic(found);
    }
    for window in &mut diagnosis.windows {
        redact_window(window);
    }
    if let Some(command) = &mut diagnosis.command {
        redact_text(command);
    }
    diagnosis
}

fn redact_text(text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = redact(text, RedactProfile::Secrets) {
        *text = clean;
    }
}

fn redact_diagnostic(found: &mut Diagnostic) {
    for text in [&mut found.message, &mut found.text, &mut found.template] {
        redact_text(text);
    }
    let optional = [&mut found.test, &mut found.frame, &mut found.place, &mut found.plain];
    for text in optional.into_iter().flatten().chain(&mut found.symbols) {
        redact_text(text);
    }
}

/// A secret may span lines, so the lines are looked at together. A window that begins inside of a private key shows the
/// end of that key only: all before it goes.
fn redact_window(window: &mut LogWindow) {
    let is_mark = |line: &str, word: &str| line.contains(word) && line.contains("PRIVATE KEY");
    if let Some(end) = window.lines.iter().position(|line| is_mark(line, "-----END"))
        && !window.lines[..end].iter().any(|line| is_mark(line, "-----BEGIN"))
    {
        for line in &mut window.lines[..=end] {
            REDACTED.clone_into(line);
        }
    }
    let text = window.lines.join("\n");
    if let std::borrow::Cow::Owned(clean) = redact(&text, RedactProfile::Secrets) {
        window.lines = clean.split('\n').map(str::to_owned).collect();
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    const ERROR: &str = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n";

    fn read(text: &str) -> LogReading {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let reading = read_log(file.path(), &[]).unwrap();
        let again = read_log_text(text, &[]);
        assert_eq!((&reading.digest, &reading.diagnosis), (&again.digest, &again.diagnosis));
        reading
    }

    #[test]
    fn an_error_far_before_the_end_is_found_and_changes_the_hash() {
        let text = format!("{ERROR}{}", "a line of output\n".repeat(60_000));
        let reading = read(&text);
        assert_eq!(reading.diagnosis.problem.unwrap().code.as_deref(), Some("TS2322"));
        assert_eq!((reading.bytes, reading.tail.len() <= LOG_BYTES), (text.len(), true));
        assert_ne!(read(&text.replacen("TS2322", "TS2323", 1)).digest, reading.digest);
    }

    #[test]
    fn windows_and_messages_hold_no_secret() {
        let secret = "k3Jx9QpL2mZr7TbV5nHs";
        let key = "MIIEowIBAAKCAQEA3k9Jx9QpL2mZr7TbV5nHsMIIEowIBAAKCAQEA3k9Jx9QpL2mZ";
        let text = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\nerror: bad token={secret}\n",
            format!("{key}\n").repeat(60)
        );
        let diagnosis = read(&text).diagnosis;
        let kept = serde_json::to_string(&diagnosis).unwrap();
        assert!(diagnosis.problem.is_some());
        assert!(!kept.contains(secret) && !kept.contains(key), "{kept}");
    }

    #[test]
    fn a_long_stream_keeps_its_first_and_its_last_part() {
        let size = (HEAD_BYTES + TAIL_BYTES) as usize;
        let mut text = vec![b'x'; size + 1000];
        text[..5].copy_from_slice(b"first");
        text.extend_from_slice(b"last");
        let kept = read_bounded(text.as_slice()).unwrap();
        assert!(kept.starts_with("first") && kept.ends_with("last"));
        assert_eq!(kept.len(), size + 1);
        assert_eq!(read_bounded(&b"short"[..]).unwrap(), "short");
    }
}
