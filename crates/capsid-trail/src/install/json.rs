//! Finds positions in JSON with comments, and computes the edits that add or remove something there.
//!
//! An addition can be removed again byte for byte, although nothing but the file itself records how it looked before.
//! So the white space after an opening bracket records how a list or object with a single member was created:
//! none, or a space before the line's end, where it was there and empty; anything else where it was added too.
//! That space belongs to the bracket: it outlives the first member when others that came later are still there.

use super::layout::{FileStyle, ItemLayout};
use super::splice::TextSplice;
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use std::ops::Range;

/// Parses a document; `None` if it is blank. The error is the reason why it is not JSON.
pub(super) fn parse(text: &str) -> Result<Option<Value<'_>>, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    if is_blank(text) {
        return Ok(None);
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed =
        parse_to_ast(text, &collect, &options).map_err(|error| format!("it is not valid JSON ({error})"))?;
    if !has_plain_blanks(text, &parsed.tokens.unwrap_or_default()) {
        return Err(
            "it is not valid JSON (a control character or a blank that JSON does not know)".to_owned()
        );
    }
    parsed.value.map(Some).ok_or_else(|| "it holds comments and no JSON".to_owned())
}

/// The parser is laxer than JSON: it takes other blanks between tokens, and line ends in texts.
fn has_plain_blanks(text: &str, tokens: &[TokenAndRange<'_>]) -> bool {
    let mut at = 0;
    let plain = tokens.iter().all(|token| {
        let gap = &text[at..token.range.start];
        at = token.range.end;
        let in_text = matches!(token.token, Token::String(_))
            && text[token.range.start..token.range.end].contains(|c: char| c < ' ');
        is_blank(gap) && !in_text
    });
    plain && is_blank(&text[at..])
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// An object or a list: its range with brackets, and the ranges of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonContainer {
    pub span: Range<usize>,
    pub members: Vec<Range<usize>>,
}

impl JsonContainer {
    pub fn from_value(value: &Value<'_>) -> Option<Self> {
        let members = match value {
            Value::Object(object) => object.properties.iter().map(|member| span(&member.range())).collect(),
            Value::Array(array) => array.elements.iter().map(|element| span(&element.range())).collect(),
            _ => return None,
        };
        Some(Self { span: span(&value.range()), members })
    }

    fn interior(&self) -> Range<usize> {
        self.span.start + 1..self.span.end - 1
    }
}

/// The containers that a path of members leads through, with the index of the member in each.
pub(super) fn chain(root: &Value<'_>, path: &[usize]) -> Vec<(JsonContainer, usize)> {
    let mut chain = Vec::new();
    let mut next = Some(root);
    for &index in path {
        let Some(value) = next else { break };
        let Some(container) = JsonContainer::from_value(value) else { break };
        chain.push((container, index));
        next = match value {
            Value::Object(object) => object.properties.get(index).map(|member| &member.value),
            Value::Array(array) => array.elements.get(index),
            _ => None,
        };
    }
    chain
}

/// A range as the standard library has it.
pub(super) fn span(range: &jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

/// The edits that add a member at the end; `render` writes it.
pub(super) fn append(
    text: &str,
    style: &FileStyle,
    container: &JsonContainer,
    render: &dyn Fn(&ItemLayout) -> String,
) -> Vec<TextSplice> {
    match container.members.last() {
        Some(last) => append_after(text, style, last, render),
        None => vec![fill(text, style, container, render)],
    }
}

fn append_after(
    text: &str,
    style: &FileStyle,
    last: &Range<usize>,
    render: &dyn Fn(&ItemLayout) -> String,
) -> Vec<TextSplice> {
    let comma = comma_after(text, last.end);
    let (offset, in_line_comment) = after_comments_of_line(text, comma.map_or(last.end, |comma| comma + 1));
    let before = &text[blank_before(text, last.start)..last.start];
    let layout = match before.rfind('\n') {
        Some(end_of_line) => ItemLayout::lines(style, &before[end_of_line + 1..]),
        None if in_line_comment => ItemLayout::lines(style, line_indent(text, last.start)),
        None => ItemLayout::one_line(before),
    };
    let item = format!("{}{}", layout.leading_text(), render(&layout));
    match comma {
        // Where the last member had a comma after it, ours has one too.
        Some(_) => vec![TextSplice::insert(offset, format!("{item},"))],
        None => vec![TextSplice::insert(last.end, ","), TextSplice::insert(offset, item)],
    }
}

/// The first member of a container that is empty but for white space and comments.
fn fill(
    text: &str,
    style: &FileStyle,
    container: &JsonContainer,
    render: &dyn Fn(&ItemLayout) -> String,
) -> TextSplice {
    let interior = container.interior();
    let outer = line_indent(text, container.span.start);
    if !style.lines {
        return TextSplice::insert(interior.start, render(&ItemLayout::one_line("")));
    }
    if !interior.is_empty() {
        return TextSplice::insert(interior.start, render(&ItemLayout::lines(style, outer)));
    }
    let layout = ItemLayout::lines(style, &format!("{outer}{}", style.unit));
    let item = render(&layout);
    TextSplice::insert(interior.start, format!(" {}{item}{}{outer}", layout.leading_text(), style.newline))
}

/// The edits that remove what a chain of containers leads to: the outermost first, each with the index of a member.
///
/// Containers that were added for the sake of the member go too.
pub(super) fn remove(text: &str, chain: &[(JsonContainer, usize)]) -> Vec<TextSplice> {
    let Some(((container, index), above)) = chain.split_last() else { return Vec::new() };
    let Some(member) = container.members.get(*index) else { return Vec::new() };
    let interior = container.interior();
    let before = &text[interior.start..member.start];
    let alone = text[member.end..interior.end].trim().is_empty() && before.trim().is_empty();
    if container.members.len() > 1 || !alone || before.is_empty() {
        return cut_member(text, container, *index);
    }
    match above {
        _ if was_empty(before) => vec![TextSplice::cut(interior)],
        [] => vec![TextSplice::cut(root_cut(text, container, before))],
        above => remove(text, above),
    }
}

/// Whether the white space after an opening bracket records that nothing followed it.
fn was_empty(before: &str) -> bool {
    before.starts_with(" \n") || before.starts_with(" \r\n")
}

/// A root that was added is removed completely: a blank file keeps a space, a new file keeps its line ends.
fn root_cut(text: &str, root: &JsonContainer, before: &str) -> Range<usize> {
    let around = (&text[..root.span.start], &text[root.span.end..]);
    let into_blank = before == " " && around.0.trim().is_empty() && around.1.trim().is_empty();
    match into_blank || is_new_file(text) && around == ("", "\n") {
        true => root.span.clone(),
        false => root.interior(),
    }
}

/// Whether a text begins as one does that was written where no file was.
pub(super) fn is_new_file(text: &str) -> bool {
    text.starts_with("{\n")
}

/// A member goes with the white space before it, and with the comma after it or else the one before it.
fn cut_member(text: &str, container: &JsonContainer, index: usize) -> Vec<TextSplice> {
    let member = &container.members[index];
    let earlier = index.checked_sub(1).map(|earlier| container.members[earlier].end);
    let gap = earlier.unwrap_or(container.interior().start);
    let start = match ends_in_line_comment(text, gap, member.start) {
        // The line's end belongs to the comment when nothing else ends it.
        true if !text[member.end..].trim_start_matches([' ', '\t', '\r', ',']).starts_with('\n') => {
            member.start
        }
        _ if index == 0 && was_empty(&text[gap..member.start]) => gap + 1,
        _ => blank_before(text, member.start),
    };
    let comma = comma_after(text, member.end).or_else(|| comma_after(text, earlier?));
    let mut cuts = vec![TextSplice::cut(start..member.end)];
    cuts.extend(comma.map(|comma| TextSplice::cut(comma..comma + 1)));
    cuts
}

/// Where the white space before a place begins.
fn blank_before(text: &str, offset: usize) -> usize {
    text[..offset].trim_end_matches([' ', '\t', '\r', '\n']).len()
}

/// The white space at the beginning of the line on which a place is.
fn line_indent(text: &str, offset: usize) -> &str {
    let line = &text[text[..offset].rfind('\n').map_or(0, |end| end + 1)..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn comma_after(text: &str, offset: usize) -> Option<usize> {
    let mut at = offset;
    while let Some((_, end)) = gap_piece(text, at) {
        at = end;
    }
    text[at..].starts_with(',').then_some(at)
}

/// The end of the comments that follow on the same line, and whether the last of them runs to the line's end.
fn after_comments_of_line(text: &str, offset: usize) -> (usize, bool) {
    let (mut at, mut end, mut to_the_end) = (offset, offset, false);
    while let Some((piece, next)) = gap_piece(text, at) {
        match piece {
            JsonPiece::Blank if text[at..next].contains('\n') => break,
            JsonPiece::Blank => {}
            JsonPiece::Comment if text[at..next].contains('\n') => break,
            JsonPiece::Comment => (end, to_the_end) = (next, false),
            JsonPiece::LineComment => (end, to_the_end) = (next, true),
        }
        at = next;
    }
    (end, to_the_end)
}

fn ends_in_line_comment(text: &str, start: usize, end: usize) -> bool {
    let (mut at, mut has_comment) = (start, false);
    while at < end {
        match gap_piece(text, at) {
            Some((JsonPiece::Blank, next)) => at = next,
            Some((piece, next)) => (at, has_comment) = (next, piece == JsonPiece::LineComment),
            None => (at, has_comment) = (at + 1, false),
        }
    }
    has_comment
}

/// The white space and comments between tokens.
#[derive(PartialEq)]
enum JsonPiece {
    Blank,
    Comment,
    LineComment,
}

fn gap_piece(text: &str, at: usize) -> Option<(JsonPiece, usize)> {
    let rest = &text[at..];
    if rest.starts_with("//") {
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        return Some((JsonPiece::LineComment, at + line.trim_end_matches('\r').len()));
    }
    if rest.starts_with("/*") {
        return Some((JsonPiece::Comment, at + rest.find("*/").map_or(rest.len(), |end| end + 2)));
    }
    let blank = rest.len() - rest.trim_start().len();
    (blank > 0).then_some((JsonPiece::Blank, at + blank))
}
