//! Cuts a JSON file into its values without holding more than one of them.

use capsid_model::{Code, Problem, Result};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// No value is longer than this, in bytes; a longer one is refused instead of filling the memory.
const MAX_VALUE_LEN: usize = 256 << 20;

/// A place in a JSON file.
#[derive(Debug)]
pub(crate) struct FileScanner {
    input: BufReader<File>,
    path: PathBuf,
}

impl FileScanner {
    /// The start of a file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = capsid_disk::files::open(path)?.ok_or_else(|| {
            Problem::io(
                "read",
                path,
                &std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file"),
            )
        })?;
        let mut scanner = Self { input: BufReader::with_capacity(64 << 10, file), path: path.to_owned() };
        if scanner.buffer()?.starts_with(b"\xef\xbb\xbf") {
            scanner.input.consume(3);
        }
        Ok(scanner)
    }

    /// The next byte that is no white space, left where it is.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let buffer = self.buffer()?;
            let space = buffer.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
            match buffer.get(space).copied() {
                None if space == 0 => return Ok(None),
                next => {
                    self.input.consume(space);
                    if next.is_some() {
                        return Ok(next);
                    }
                }
            }
        }
    }

    /// Passes one punctuation mark if it comes next.
    pub(crate) fn pass(&mut self, mark: u8) -> Result<bool> {
        let comes = self.peek()? == Some(mark);
        if comes {
            self.input.consume(1);
        }
        Ok(comes)
    }

    /// Passes a punctuation mark that has to come.
    pub(crate) fn demand(&mut self, mark: u8) -> Result<()> {
        match self.pass(mark)? {
            true => Ok(()),
            false => Err(self.broken(&format!("there is no `{}` where one belongs", char::from(mark)))),
        }
    }

    /// The text of the next value, from its first byte to its last. Whether it is JSON shows when it is parsed.
    pub(crate) fn value(&mut self) -> Result<String> {
        self.peek()?;
        let mut text = Vec::new();
        let mut end = ValueEnd::default();
        loop {
            let buffer = self.buffer()?;
            if buffer.is_empty() {
                break;
            }
            let (used, done) = end.find(buffer);
            text.extend_from_slice(&buffer[..used]);
            self.input.consume(used);
            if text.len() > MAX_VALUE_LEN {
                return Err(self.broken("one of its values is longer than 256 MB"));
            }
            if done {
                break;
            }
        }
        if text.is_empty() || !end.is_whole() {
            return Err(self.broken("it ends in the middle"));
        }
        String::from_utf8(text).map_err(|_| self.broken("it is not UTF-8"))
    }

    /// After the last value nothing may follow.
    pub(crate) fn finish(&mut self) -> Result<()> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.broken("something follows its end")),
        }
    }

    /// What is wrong with the file.
    pub(crate) fn broken(&self, reason: &str) -> Problem {
        Problem::new(
            Code::ChainUnreadable,
            format!("`{}` holds no chain that can be read: {reason}.", self.path.display()),
        )
        .fix("Name a chain database, a JSON chain, a bundle folder or a trail's home.")
    }

    fn buffer(&mut self) -> Result<&[u8]> {
        let path = &self.path;
        self.input.fill_buf().map_err(|error| Problem::io("read", path, &error))
    }
}

/// Where a value ends: at the bracket or quote that closes it, or before what follows a number or a word.
#[derive(Debug, Default)]
struct ValueEnd {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl ValueEnd {
    /// How many bytes of the buffer belong to the value, and whether it ends there.
    fn find(&mut self, buffer: &[u8]) -> (usize, bool) {
        for (at, byte) in buffer.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                    return (at, true);
                }
                b'"' => self.in_string = true,
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ => {}
            }
        }
        (buffer.len(), false)
    }

    /// Whether the file may end here: a word or a number has no mark of its own at its end.
    fn is_whole(&self) -> bool {
        self.depth == 0 && !self.in_string
    }
}
