//! Views of a text in which its form shows: without colours, line starts and escapes. Every byte of a view knows where
//! it came from.

mod ansi;
mod escapes;
mod line_start;

use std::borrow::Cow;
use std::ops::Range;

/// A text as it was meant, and where its parts stand in the original.
#[derive(Debug)]
pub(super) struct TextView<'t> {
    pub(super) text: Cow<'t, str>,
    /// The parts in order. None: the text is the original.
    parts: Vec<ViewPart>,
}

#[derive(Debug, Clone, Copy)]
struct ViewPart {
    /// Where it begins in the view.
    at: usize,
    /// Where it begins in the original.
    from: usize,
    /// How long it is in the original, where that differs from the view: an escape.
    escaped: Option<usize>,
}

impl<'t> TextView<'t> {
    /// The text without colours and without what stands in front of its lines.
    pub(super) fn plain(text: &'t str) -> Self {
        let mut builder = ViewBuilder::default();
        line_start::push_plain(text, 0, &mut builder);
        builder.finish_or(text)
    }

    /// The lines that hold colours, without those. None where there are none.
    pub(super) fn uncoloured(text: &str) -> Option<TextView<'static>> {
        if !text.contains('\u{1b}') {
            return None;
        }
        let mut builder = ViewBuilder::default();
        line_start::push_coloured_lines(text, &mut builder);
        Some(TextView { text: Cow::Owned(builder.text), parts: builder.parts })
    }

    /// The lines that hold escapes, with those undone once, and then as in [`TextView::plain`]. None where there are no
    /// escapes.
    pub(super) fn unescaped(text: &str) -> Option<TextView<'static>> {
        let mut builder = ViewBuilder::default();
        escapes::push_unescaped(text, &mut builder);
        if builder.text.is_empty() {
            return None;
        }
        let whole = TextView { text: Cow::Owned(builder.text), parts: builder.parts };
        let mut inner = ViewBuilder::default();
        line_start::push_plain(&whole.text, 0, &mut inner);
        if inner.removed == 0 {
            return Some(whole);
        }
        Some(whole.composed(inner))
    }

    /// The view of a view, as one of the original.
    pub(super) fn deeper(&self, view: TextView<'static>) -> TextView<'static> {
        self.composed(ViewBuilder { text: view.text.into_owned(), parts: view.parts, removed: 0 })
    }

    fn composed(&self, inner: ViewBuilder) -> TextView<'static> {
        let mut parts = Vec::with_capacity(inner.parts.len() + self.parts.len());
        for (index, part) in inner.parts.iter().enumerate() {
            let end = inner.parts.get(index + 1).map_or(inner.text.len(), |next| next.at);
            if let Some(length) = part.escaped {
                let range = self.original(part.from..part.from + length);
                parts.push(ViewPart { at: part.at, from: range.start, escaped: Some(range.len()) });
                continue;
            }
            // A part of the inner view may span several of this one.
            let last = part.from + (end - part.at);
            let mut from = part.from;
            while from < last {
                let (index, outer) = self.part_at(from);
                let outer_end = self.parts.get(index + 1).map_or(self.text.len(), |next| next.at).min(last);
                let (start, escaped) = match (outer, outer.escaped) {
                    (outer, Some(_)) => (outer.from, outer.escaped),
                    (outer, None) => (outer.from + (from - outer.at), None),
                };
                parts.push(ViewPart { at: part.at + (from - part.from), from: start, escaped });
                from = outer_end.max(from + 1);
            }
        }
        TextView { text: Cow::Owned(inner.text), parts }
    }

    fn part_at(&self, at: usize) -> (usize, ViewPart) {
        let index = self.parts.partition_point(|part| part.at <= at).saturating_sub(1);
        let whole = ViewPart { at: 0, from: 0, escaped: None };
        (index, self.parts.get(index).copied().unwrap_or(whole))
    }

    /// The range of the original from which a range of the view came.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        if self.parts.is_empty() || range.is_empty() {
            return range;
        }
        let (_, first) = self.part_at(range.start);
        let (_, last) = self.part_at(range.end - 1);
        let start = if first.escaped.is_some() { first.from } else { first.from + (range.start - first.at) };
        let end = match last.escaped {
            Some(length) => last.from + length,
            None => last.from + (range.end - last.at),
        };
        start..end.max(start)
    }

    pub(super) fn is_original(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Puts a view together.
#[derive(Debug, Default)]
pub(super) struct ViewBuilder {
    text: String,
    parts: Vec<ViewPart>,
    /// How many bytes of the original are in no part.
    removed: usize,
}

impl ViewBuilder {
    fn copy(&mut self, text: &str, from: usize) {
        if text.is_empty() {
            return;
        }
        let goes_on = self
            .parts
            .last()
            .is_some_and(|last| last.escaped.is_none() && last.from + (self.text.len() - last.at) == from);
        if !goes_on {
            self.parts.push(ViewPart { at: self.text.len(), from, escaped: None });
        }
        self.text.push_str(text);
    }

    fn escape(&mut self, meant: char, from: usize, length: usize) {
        self.parts.push(ViewPart { at: self.text.len(), from, escaped: Some(length) });
        self.text.push(meant);
    }

    fn finish_or(self, text: &str) -> TextView<'_> {
        if self.removed == 0 {
            TextView { text: Cow::Borrowed(text), parts: Vec::new() }
        } else {
            TextView { text: Cow::Owned(self.text), parts: self.parts }
        }
    }
}

#[cfg(test)]
mod tests;
