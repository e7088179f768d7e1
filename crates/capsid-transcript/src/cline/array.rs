//! Splits a file that holds one JSON list, without reading it completely into memory.

use super::half_written;
use crate::jsonl::{BytePosition, LINE_MAX, LineRereader};
use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_model::{Problem, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const CHUNK: usize = 256 << 10;

/// Calls `each` with every item of the list and its place. An item that is too long comes without its bytes.
pub(super) fn items(path: &Path, each: &mut dyn FnMut(BytePosition, &[u8])) -> Result<()> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    let mut file = File::open(path).map_err(fail)?;
    let mut splitter = ArraySplitter::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => splitter
                .feed(&chunk[..count], each)
                .map_err(|NotAList| half_written(path, "is no JSON list"))?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(fail(error)),
        }
    }
    match splitter.stage {
        SplitStage::After => Ok(()),
        _ => Err(half_written(path, "ends before its list does")),
    }
}

/// The first item of the list, if it ends within so many bytes.
pub(super) fn first(path: &Path, bytes: u64) -> Result<Option<ExactJson>> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    let mut start = Vec::new();
    File::open(path).map_err(fail)?.take(bytes).read_to_end(&mut start).map_err(fail)?;
    let mut first = None;
    // Where the list does not end, its first item still may.
    let _ = ArraySplitter::default().feed(&start, &mut |_, item| {
        first.get_or_insert_with(|| parse_lossy(item).ok());
    });
    Ok(first.flatten())
}

/// The items of a file whose places are known.
pub(super) struct ArrayItems {
    path: PathBuf,
    again: LineRereader,
    stamp: Option<(u64, SystemTime)>,
}

impl ArrayItems {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), again: LineRereader::open(path)?, stamp: stamp(path) })
    }

    /// The item at a place; none if it is broken. That the file changed since is an error.
    pub(super) fn at(&mut self, position: BytePosition) -> Result<Option<ExactJson>> {
        match self.again.at(position) {
            Some(item) => Ok(Some(item.clone())),
            None if stamp(&self.path) == self.stamp => Ok(None),
            None => Err(half_written(&self.path, "changed while it was read")),
        }
    }
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = path.metadata().ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SplitStage {
    #[default]
    Before,
    Within,
    After,
}

struct NotAList;

/// Finds where items begin and end; what is in them is none of its business.
#[derive(Default)]
struct ArraySplitter {
    stage: SplitStage,
    item: Vec<u8>,
    /// How long the item is, and where it began.
    length: u64,
    start: u64,
    offset: u64,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl ArraySplitter {
    fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(BytePosition, &[u8]),
    ) -> std::result::Result<(), NotAList> {
        for byte in bytes {
            match self.stage {
                SplitStage::Before => match byte {
                    b'[' => self.stage = SplitStage::Within,
                    // A mark of the byte order may come first.
                    0xEF | 0xBB | 0xBF if self.offset < 3 => {}
                    byte if byte.is_ascii_whitespace() => {}
                    _ => return Err(NotAList),
                },
                SplitStage::Within => self.within(*byte, each),
                SplitStage::After if byte.is_ascii_whitespace() => {}
                SplitStage::After => return Err(NotAList),
            }
            self.offset += 1;
        }
        Ok(())
    }

    fn within(&mut self, byte: u8, each: &mut dyn FnMut(BytePosition, &[u8])) {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return self.buffer_byte(byte);
        }
        match byte {
            b',' | b']' if self.depth == 0 => {
                self.emit_item(each);
                if byte == b']' {
                    self.stage = SplitStage::After;
                }
            }
            byte if byte.is_ascii_whitespace() && self.length == 0 => {}
            byte => {
                match byte {
                    b'"' => self.in_text = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.buffer_byte(byte);
            }
        }
    }

    fn buffer_byte(&mut self, byte: u8) {
        if self.length == 0 {
            self.start = self.offset;
        }
        self.length += 1;
        if self.item.len() < LINE_MAX {
            self.item.push(byte);
        }
    }

    fn emit_item(&mut self, each: &mut dyn FnMut(BytePosition, &[u8])) {
        if self.length > 0 {
            let item = if self.length <= LINE_MAX as u64 { self.item.as_slice() } else { &[] };
            each(BytePosition { offset: self.start, length: self.length }, item);
        }
        self.item.clear();
        self.length = 0;
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use capsid_model::Code;

    fn split(bytes: &[u8]) -> Result<Vec<String>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut items_read = Vec::new();
        items(file.path(), &mut |position, item| {
            let from = usize::try_from(position.offset).unwrap();
            let until = from + usize::try_from(position.length).unwrap();
            assert_eq!(&bytes[from..until], item);
            items_read.push(String::from_utf8_lossy(item).trim_end().to_owned());
        })?;
        Ok(items_read)
    }

    #[test]
    fn a_list_is_split_where_its_items_end() {
        assert_eq!(split(b"[]").unwrap(), [""; 0]);
        assert_eq!(split(b" [ ] \n").unwrap(), [""; 0]);
        assert_eq!(
            split(b"[1, {\"a\": [2, \"],}\\\"\"]} ,\"x\\\\\",[ ]]\n").unwrap(),
            ["1", "{\"a\": [2, \"],}\\\"\"]}", "\"x\\\\\"", "[ ]"]
        );
        assert_eq!(split(b"\xEF\xBB\xBF[1]").unwrap(), ["1"]);
        assert_eq!(split(b"[{\"a\":\"\xFF\"}]").unwrap().len(), 1);
        // Longer than what is read at once.
        let long = format!("[{}]", vec![format!("\"{}\"", "é".repeat(1000)); 400].join(","));
        assert_eq!(split(long.as_bytes()).unwrap().len(), 400);
    }

    #[test]
    fn a_list_that_does_not_end_is_none() {
        let document = b"[{\"a\":[1,\"]\"]},{\"b\":2}]";
        assert_eq!(split(document).unwrap().len(), 2);
        for end in 0..document.len() {
            let problem = split(&document[..end]).unwrap_err();
            assert_eq!(problem.code, Code::TranscriptUnreadable, "{end}");
        }
        for bytes in [&b"{}"[..], b"null", b"[1] x", b"[1]]", b"\0\0\0"] {
            assert_eq!(split(bytes).unwrap_err().code, Code::TranscriptUnreadable);
        }
    }
}
