//! A part of a document: the pages read one record of a long chain again.

use axum::http::{HeaderMap, header};
use std::io::{self, Write};

/// The bytes from `first` to `last`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl ByteRange {
    /// The part that a request asks for. Several parts, and parts counted from the end, are not offered: the whole
    /// document answers such a request.
    pub(super) fn requested(headers: &HeaderMap) -> Option<Self> {
        let (first, last) =
            headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
        let range = Self { first: first.parse().ok()?, last: last.parse().ok()? };
        (range.first <= range.last).then_some(range)
    }

    /// The part that there is in a document of this length; none behind its end.
    pub(super) fn within(self, length: Option<u64>) -> Option<Self> {
        let end = length.unwrap_or(u64::MAX).checked_sub(1)?;
        (self.first <= end).then_some(Self { last: self.last.min(end), ..self })
    }

    pub(super) fn length(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }
}

/// Passes on the bytes of a part. What comes behind it is refused, so that nobody writes it in vain.
pub(super) struct RangeWriter<W: Write> {
    out: W,
    before: u64,
    left: u64,
}

impl<W: Write> RangeWriter<W> {
    pub(super) fn new(range: ByteRange, out: W) -> Self {
        Self { out, before: range.first, left: range.length() }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }
}

impl<W: Write> Write for RangeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_complete() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        if self.before > 0 {
            let passed = bytes.len().min(size(self.before));
            self.before -= passed as u64;
            return Ok(passed);
        }
        let taken = bytes.len().min(size(self.left));
        let written = self.out.write(bytes.get(..taken).unwrap_or_default())?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn requested(text: &'static str) -> Option<(u64, u64)> {
        let headers = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_static(text))]);
        ByteRange::requested(&headers).map(|range| (range.first, range.last))
    }

    #[test]
    fn one_part_with_both_ends_is_offered() {
        assert_eq!(requested("bytes=0-0"), Some((0, 0)));
        assert_eq!(requested("bytes=7-12"), Some((7, 12)));
        for other in ["bytes=-5", "bytes=5-", "bytes=3-2", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b"] {
            assert_eq!(requested(other), None, "{other}");
        }
    }

    #[test]
    fn a_part_ends_where_the_document_does() {
        let range = ByteRange { first: 3, last: 9 };
        assert_eq!(range.within(Some(5)), Some(ByteRange { first: 3, last: 4 }));
        assert_eq!((range.within(Some(3)), range.within(Some(0))), (None, None));
        assert_eq!(range.within(None), Some(range));
    }

    #[test]
    fn a_writer_of_a_part_passes_on_that_part_and_refuses_the_rest() {
        for size in [1, 2, 5, 20] {
            let mut out = Vec::new();
            let mut part = RangeWriter::new(ByteRange { first: 3, last: 6 }, &mut out);
            let written = b"0123456789".chunks(size).try_for_each(|piece| part.write_all(piece));
            assert!(part.is_complete() && written.is_err(), "pieces of {size}");
            assert_eq!(out, b"3456", "pieces of {size}");
        }
    }
}
