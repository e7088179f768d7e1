//! What an entry of a transcript holds and its action does not show.
//!
//! A reader knows where the words of an entry belong. A member that it does not know, or one of another type, would
//! be lost without this: every longer string of an entry is looked for in the action that was made of it.

use crate::jsonl::{KeyNumbers, short};
use crate::shape::{RESULT_MAX, image, is_data_uri, start_of, without_images};
use crate::{Action, DropReason};
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use memchr::memmem;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashSet};

/// Shorter strings are the words of a format: kinds, roles, modes.
const NOTABLE: usize = 12;
/// Bytes that are searched for the strings of one entry; what is not found by then counts as not shown.
const SEARCHED_MAX: usize = 64 << 20;
/// Lines of one text that are searched for within other lines.
const LINES_SEARCHED: usize = 64;
/// How much of a text that is cut in the record is compared.
const START: usize = 1000;
/// Strings that are remembered so that they are stored once.
const SEEN_MAX: usize = 100_000;
/// Deeper values are compared as their text.
const DEPTH_MAX: usize = 64;
/// An identifier or a time is one word, and no longer.
const WORD_MAX: usize = 128;
/// Members with whole files, which are left out of records.
const WHOLE_FILES: [&str; 3] = ["originalFile", "original_file", "updated_file"];

fn is_notable(text: &str) -> bool {
    text.len() >= NOTABLE && text.chars().nth(NOTABLE - 1).is_some()
}

/// Texts that a record shows.
#[derive(Default)]
pub(crate) struct ShownTexts<'a> {
    texts: Vec<&'a str>,
    exact: HashSet<&'a str>,
    lines: OnceCell<HashSet<&'a str>>,
    searched: Cell<usize>,
    remembered: Option<&'a RememberedTexts>,
}

/// Hashes of the texts, and of their lines, that many actions show.
#[derive(Default)]
pub(crate) struct RememberedTexts(KeyNumbers);

impl RememberedTexts {
    /// Remembers all that an action shows.
    pub(crate) fn remember(&mut self, action: &Action) {
        for text in ShownTexts::from_action(action).texts {
            self.0.insert(short(text));
            self.0.extend(text.lines().map(plain_line).filter(|line| is_notable(line)).map(short));
        }
    }

    fn holds(&self, text: &str) -> bool {
        self.0.contains(&short(text))
    }
}

impl<'a> ShownTexts<'a> {
    /// All that an action shows.
    pub(crate) fn from_action(action: &'a Action) -> Self {
        let mut shown = Self::default();
        for text in [&action.prompt, &action.analysis, &action.reasoning, &action.model, &action.summary] {
            shown.add(text);
        }
        shown.add(&action.authority.policy_reference);
        action.side_effects.iter().for_each(|effect| shown.add(effect));
        shown.add_fields(&action.environment);
        shown.add_fields(&action.usage);
        shown.add_value(&action.result);
        if let Some(call) = &action.call {
            shown.add(&call.tool);
            shown.add_value(&call.arguments);
            shown.add_value(&call.result);
        }
        shown
    }

    /// Whether an image is named by its length.
    pub(crate) fn has_image(&self) -> bool {
        self.exact.contains("base64_length")
    }

    /// All that many actions show.
    pub(crate) fn from_remembered(remembered: &'a RememberedTexts) -> Self {
        Self { remembered: Some(remembered), ..Self::default() }
    }

    /// One more text.
    pub(crate) fn add(&mut self, text: &'a str) {
        let text = text.trim();
        if is_notable(text) {
            self.texts.push(text);
            self.exact.insert(text);
        }
    }

    /// All strings of a value.
    pub(crate) fn add_value(&mut self, value: &'a ExactJson) {
        let mut values = vec![value];
        while let Some(value) = values.pop() {
            match value {
                ExactJson::String(text) => self.add(text),
                ExactJson::Array(items) => values.extend(items),
                ExactJson::Object(fields) => values.extend(self.names_and_values(fields)),
                _ => {}
            }
        }
    }

    fn add_fields(&mut self, fields: &'a ExactFields) {
        for value in self.names_and_values(fields) {
            self.add_value(value);
        }
    }

    fn names_and_values(&mut self, fields: &'a ExactFields) -> Vec<&'a ExactJson> {
        fields.keys().for_each(|name| self.add(name));
        fields.values().collect()
    }

    /// Whether a text is shown; one of a few characters always is.
    pub(crate) fn shows(&self, text: &str) -> bool {
        self.shows_text(text) || self.shows_document(text.trim())
    }

    fn shows_text(&self, text: &str) -> bool {
        let text = text.trim();
        if !is_notable(text) || self.exact.contains(text) || self.is_remembered(text) {
            return true;
        }
        // A longer text is cut, and the cut says how much is missing.
        if text.len() > RESULT_MAX && self.is_within(start_of(text, START)) {
            return true;
        }
        self.is_within(text)
    }

    fn is_remembered(&self, text: &str) -> bool {
        self.remembered.is_some_and(|remembered| remembered.holds(text))
    }

    /// A text that is JSON is shown where all of its strings are.
    fn shows_document(&self, text: &str) -> bool {
        let Some(document) = document_in(text) else { return false };
        let mut values = vec![&document];
        while let Some(value) = values.pop() {
            match value {
                // A document in a document is compared as the text that it is.
                ExactJson::String(text) if !self.shows_text(text) => return false,
                ExactJson::Array(items) => values.extend(items),
                ExactJson::Object(fields) => values.extend(fields.values()),
                _ => {}
            }
        }
        true
    }

    fn is_within(&self, text: &str) -> bool {
        let finder = memmem::Finder::new(text);
        self.texts.iter().filter(|shown| shown.len() >= text.len()).any(|shown| {
            let searched = self.searched.get();
            self.searched.set(searched.saturating_add(shown.len()));
            searched < SEARCHED_MAX && finder.find(shown.as_bytes()).is_some()
        })
    }

    /// The part of a text that is not shown: from the first such line to the last one.
    fn missing<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.shows(text) {
            return None;
        }
        // Half of a key block is not known as a secret any more.
        if !text.contains('\n') || text.contains("-----BEGIN") {
            return Some(text);
        }
        let known = self
            .lines
            .get_or_init(|| self.texts.iter().flat_map(|text| text.lines()).map(plain_line).collect());
        let (mut from, mut until, mut searched) = (None, 0, 0);
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let plain = plain_line(line);
            let is_known = !is_notable(plain) || known.contains(plain) || self.is_remembered(plain) || {
                searched += 1;
                searched <= LINES_SEARCHED && self.is_within(plain)
            };
            at += line.len();
            if !is_known {
                from.get_or_insert(at - line.len());
                until = at;
            }
        }
        from.map(|from| text[from..until].trim_end())
    }
}

/// The list or the object that a text is.
fn document_in(text: &str) -> Option<ExactJson> {
    let text = text.trim();
    let is_document = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
    is_document.then(|| parse_lossy(text.as_bytes()).ok()).flatten()
}

/// A line without the number that a tool put before it, and without the spaces around it.
fn plain_line(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['→', '\t', '|', ':']) {
        Some(plain) if rest.len() < line.len() => plain.trim(),
        _ => line,
    }
}

/// How leftovers are looked for.
#[derive(Clone, Copy)]
struct Mode {
    /// Whether images are named.
    with_images: bool,
    /// Whether a string that was stored before is left out.
    is_new: bool,
    /// How deep the values may still go.
    depth: usize,
}

/// Finds what is left of entries.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    /// Strings that were stored as leftovers: a member that every line repeats is stored once.
    seen: KeyNumbers,
    pub(crate) dropped: BTreeMap<DropReason, u64>,
}

impl Leftovers {
    /// The strings of an entry that are not shown, in the form of the entry. Images are named if none of them is
    /// shown anywhere.
    pub(crate) fn find(
        &mut self,
        entry: &ExactJson,
        shown: &ShownTexts<'_>,
        with_images: bool,
    ) -> Option<ExactJson> {
        self.rest("", entry, shown, Mode { with_images, is_new: true, depth: DEPTH_MAX })
    }

    /// The strings of a leftover that are still not shown.
    pub(crate) fn prune(&mut self, rest: &ExactJson, shown: &ShownTexts<'_>) -> Option<ExactJson> {
        self.rest("", rest, shown, Mode { with_images: true, is_new: false, depth: DEPTH_MAX })
    }

    fn rest(
        &mut self,
        name: &str,
        value: &ExactJson,
        shown: &ShownTexts<'_>,
        mode: Mode,
    ) -> Option<ExactJson> {
        let Mode { with_images, is_new, depth } = mode;
        let inner = Mode { depth: depth.saturating_sub(1), ..mode };
        match value {
            ExactJson::Array(_) | ExactJson::Object(_) if depth == 0 => {
                let text = capsid_model::exact::canonical(value);
                (is_notable(&text) && (!is_new || self.is_new(&text))).then(|| crate::shape::cap(text.into()))
            }
            ExactJson::String(text) if is_data_uri(text) => self.image(value, with_images),
            ExactJson::String(text) => {
                if is_notable(text) && is_link(name, text) {
                    *self.dropped.entry(DropReason::Identifier).or_default() += 1;
                    return None;
                }
                if let Some(document) = document_in(text).filter(|_| !shown.shows(text)) {
                    return self.rest(name, &document, shown, inner);
                }
                let missing = shown.missing(text)?;
                (!is_new || self.is_new(missing)).then(|| crate::shape::cap(missing.into()))
            }
            ExactJson::Array(items) => {
                let rest = |item| self.rest(name, item, shown, inner);
                let items: Vec<ExactJson> = items.iter().filter_map(rest).collect();
                (!items.is_empty()).then_some(ExactJson::Array(items))
            }
            // What an image became stays.
            ExactJson::Object(fields) if !is_new && fields.contains_key("base64_length") => {
                Some(value.clone())
            }
            ExactJson::Object(fields) if image(fields).is_some() => self.image(value, with_images),
            ExactJson::Object(fields) => {
                let mut left = ExactFields::new();
                for (name, value) in fields {
                    if WHOLE_FILES.contains(&name.as_str()) {
                        *self.dropped.entry(DropReason::Summarised).or_default() += 1;
                        continue;
                    }
                    if let Some(rest) = self.rest(name, value, shown, inner) {
                        left.insert(name.clone(), rest);
                    }
                }
                (!left.is_empty()).then_some(ExactJson::Object(left))
            }
            _ => None,
        }
    }

    fn image(&mut self, value: &ExactJson, is_named: bool) -> Option<ExactJson> {
        *self.dropped.entry(DropReason::Summarised).or_default() += 1;
        is_named.then(|| without_images(value.clone()))
    }

    fn is_new(&mut self, text: &str) -> bool {
        self.seen.len() >= SEEN_MAX || self.seen.insert(short(text))
    }
}

/// Whether a member links lines with one another, or says of what kind a line is or when it was written.
fn is_link(name: &str, text: &str) -> bool {
    let is_word = text.len() <= WORD_MAX && !text.contains(char::is_whitespace);
    let lower = name.to_ascii_lowercase();
    let is_kind = text.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'));
    if is_kind && matches!(lower.as_str(), "type" | "say" | "ask" | "role" | "kind") {
        return true;
    }
    let is_id = matches!(lower.as_str(), "id" | "ids" | "uuid" | "timestamp")
        || ["Id", "ID", "Ids", "UUID", "Uuid", "_id", "_ids", "_uuid", "At", "_at", "Timestamp"]
            .iter()
            .any(|end| name.ends_with(end));
    is_word && is_id
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::fields;

    fn left(entry: ExactFields, action: &Action) -> Option<ExactJson> {
        Leftovers::default().find(&entry.into(), &ShownTexts::from_action(action), true)
    }

    #[test]
    fn a_string_that_the_action_shows_is_not_left_and_any_other_is() {
        let action = Action { analysis: "I look at the plums now.".to_owned(), ..Action::default() };
        let entry = fields! { "text": "look at the plums", "kind": "short", "id": "0123456789abcdef" };
        assert_eq!(left(entry, &action), None);
        let entry = fields! { "a": vec![fields! { "b": "nobody shows this" }], "c": 5_i64 };
        assert_eq!(
            left(entry.clone(), &action),
            Some(entry).map(|_| fields! { "a": vec![fields! { "b": "nobody shows this" }] }.into())
        );
        let entry = fields! { "id": "a sentence is no identifier" };
        assert!(left(entry, &action).is_some());
    }

    #[test]
    fn of_a_text_only_the_lines_from_the_first_that_is_missing_are_left() {
        let action = Action { analysis: "fn count(xs)\n    xs.len() + 1000".to_owned(), ..Action::default() };
        let numbered = "     1\tfn count(xs)\n     2\t    xs.len() + 1000\n<reminder>be careful</reminder>\n";
        let rest = left(fields! { "t": numbered }, &action);
        assert_eq!(rest, Some(fields! { "t": "<reminder>be careful</reminder>" }.into()));
        let key = "fn count(xs)\n-----BEGIN KEY-----\nAAAAAAAAAAAAAAAA";
        assert_eq!(left(fields! { "t": key }, &action), Some(fields! { "t": key }.into()));
    }

    #[test]
    fn a_text_that_is_json_is_shown_where_its_strings_are_and_a_cut_one_where_its_start_is() {
        let long = "plum ".repeat(RESULT_MAX / 4);
        let action = Action { result: crate::shape::cap(long.as_str().into()), ..Action::default() };
        assert_eq!(left(fields! { "t": long }, &action), None);
        let json = "{\"a\": \"plum plum plum\", \"b\": 1}";
        assert_eq!(left(fields! { "t": json }, &action), None);
        assert!(left(fields! { "t": "{\"a\": \"pear pear pear\"}" }, &action).is_some());
    }

    #[test]
    fn the_same_leftover_is_stored_once_and_the_search_has_an_end() {
        let mut leftovers = Leftovers::default();
        let entry: ExactJson = fields! { "slug": "purple-otter-banana" }.into();
        assert!(leftovers.find(&entry, &ShownTexts::default(), true).is_some());
        assert_eq!(leftovers.find(&entry, &ShownTexts::default(), true), None);
        let text = "x".repeat(1 << 20);
        let action = Action { analysis: text, ..Action::default() };
        let many: Vec<String> = (0..5000).map(|n| format!("a hostile string {n}")).collect();
        let shown = ShownTexts::from_action(&action);
        let rest = leftovers.find(&ExactJson::from(many), &shown, true).unwrap();
        assert_eq!(rest.as_array().map(<[ExactJson]>::len), Some(5000));
        assert!(shown.searched.get() <= SEARCHED_MAX + 6000 * (1 << 20));
    }
}
