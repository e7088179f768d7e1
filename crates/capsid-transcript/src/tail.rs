//! The end of a file or stream, from the start of a line on.

use capsid_model::{Problem, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The last `max_bytes` of a log, cut at the start of a line; what is not UTF-8 is shown as U+FFFD.
pub fn plain_tail(path: &Path, max_bytes: usize) -> Result<String> {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        // One more byte shows whether the cut falls on the start of a line. A pipe has no length to seek from.
        let start = length.saturating_sub(max_bytes as u64 + 1);
        if start > 0 {
            file.seek(SeekFrom::Start(start))?;
        }
        tail_of(file, max_bytes)
    };
    read().map_err(|error| Problem::io("read", path, &error))
}

/// A stream that is still going after this much has no end to read.
const ENDLESS: u64 = 4 << 30;

/// The last `max_bytes` of a stream, read to its end with no more memory than twice that, cut likewise.
pub fn tail_of(reader: impl Read, max_bytes: usize) -> std::io::Result<String> {
    let mut reader = reader.take(ENDLESS);
    let keep = max_bytes.saturating_add(1);
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if bytes.len() > keep.saturating_mul(2) {
            bytes.drain(..bytes.len() - keep);
        }
    }
    let tail = &bytes[bytes.len().saturating_sub(keep)..];
    Ok(String::from_utf8_lossy(from_line_start(tail, max_bytes)).into_owned())
}

/// Drops the rest of a line whose start is missing; of a single line that is too long the end stays.
fn from_line_start(bytes: &[u8], max_bytes: usize) -> &[u8] {
    if bytes.len() <= max_bytes {
        return bytes;
    }
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if at + 1 < bytes.len() => &bytes[at + 1..],
        _ => from_character_start(&bytes[1..]),
    }
}

fn from_character_start(bytes: &[u8]) -> &[u8] {
    let is_start = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let start = bytes.iter().take(3).position(is_start);
    &bytes[start.unwrap_or(bytes.len().min(3))..]
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    fn tail(text: &str, max_bytes: usize) -> String {
        let streamed = tail_of(text.as_bytes(), max_bytes).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        assert_eq!(plain_tail(file.path(), max_bytes).unwrap(), streamed);
        streamed
    }

    #[test]
    fn the_tail_starts_with_a_whole_line() {
        assert_eq!(tail("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
        assert_eq!(tail("one\ntwo\nthree\n", 10), "two\nthree\n");
        assert_eq!(tail("one\ntwo\nthree\n", 9), "three\n");
        assert_eq!(tail("abcdef", 3), "def");
        assert_eq!(tail("abcdef\n", 3), "ef\n");
        assert_eq!(tail("", 3), "");
        assert_eq!(tail("a🧬", 2), "");
        assert_eq!(tail("🧬bc", 4), "bc");
    }

    #[test]
    fn long_streams_keep_their_end_only() {
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        assert_eq!(tail(&text, 22), "line 19998\nline 19999\n");
    }

    #[test]
    fn a_missing_log_is_named() {
        let problem = plain_tail(Path::new("no/such.log"), 9).unwrap_err();
        assert_eq!(problem.code, capsid_model::Code::FileNotFound);
        assert!(problem.message.contains("no/such.log"));
    }
}
