//! How long things may be and how they are put in a line: the same for all four tools.
//!
//! Lengths are counted in characters, not bytes.

use crate::Authority;
use capsid_model::exact::{ExactFields, ExactJson, canonical, spaced};
use capsid_model::fields;
use capsid_model::redact::cut_before_secret;
use sha3::{Digest, Sha3_256};

/// Longest target in a summary.
pub const LINE_MAX: usize = 200;
const LINE_SEEN: usize = 8 << 10;
/// Longest summary of a message.
pub const CHAT_MAX: usize = 280;
/// Longest signature of thinking that is stored whole.
const SIGNATURE_MAX: usize = 4 << 10;
/// Longest result.
pub const RESULT_MAX: usize = 200_000;

/// Permission modes in which the agent decides alone.
const ALONE: [&str; 7] =
    ["bypassPermissions", "acceptEdits", "dontAsk", "auto", "yolo", "full-auto", "auto-edit"];

/// The text in one line: newlines become spaces, the ends are trimmed, the rest after 200 characters is cut.
pub fn one_line(text: &str) -> String {
    let text = text.trim();
    // In one line, as it will be looked through for secrets; no more of it than a look around the cut needs.
    let line = text[..text.floor_char_boundary(LINE_SEEN)].replace('\n', " ");
    start_of(&line, LINE_MAX).to_owned()
}

/// `<tool>: <target>`, or `<tool> call` when there is no target.
pub fn summary(tool: &str, target: &str) -> String {
    let target = one_line(target);
    if target.is_empty() { format!("{tool} call") } else { format!("{tool}: {target}") }
}

/// The first `limit` characters, and how many more there were: `...<+Nb>`.
pub fn cap_text(text: &str, limit: usize) -> String {
    match end_of(text, limit) {
        None => text.to_owned(),
        Some(end) => with_rest(text, end),
    }
}

fn with_rest(text: &str, end: usize) -> String {
    format!("{}...<+{}b>", &text[..end], text[end..].chars().count())
}

/// The first `limit` characters.
pub fn start_of(text: &str, limit: usize) -> &str {
    end_of(text, limit).map_or(text, |end| &text[..end])
}

/// Where a text of more than `limit` characters is cut: there, or before a secret that would be cut in two, because
/// secrets are redacted later and half of one is not known as one.
fn end_of(text: &str, limit: usize) -> Option<usize> {
    if text.len() <= limit {
        return None;
    }
    let (end, _) = text.char_indices().nth(limit)?;
    Some(cut_before_secret(text, end))
}

/// A result no longer than 200000 characters: a text is cut, a longer list or object becomes its cut JSON text.
pub fn cap(value: ExactJson) -> ExactJson {
    match value {
        ExactJson::String(text) if text.len() > RESULT_MAX => ExactJson::String(cap_text(&text, RESULT_MAX)),
        ExactJson::Array(_) | ExactJson::Object(_) if most_characters(&value) > RESULT_MAX => {
            let text = spaced(&value);
            match end_of(&text, RESULT_MAX) {
                None => value,
                Some(end) => fields! { "_truncated": with_rest(&text, end) }.into(),
            }
        }
        other => other,
    }
}

/// An upper bound of the length of a value's JSON text, found without writing it.
fn most_characters(value: &ExactJson) -> usize {
    // Every character is a byte or more, and the longest escape of one is six characters.
    let text = |text: &str| {
        let escaped = text.bytes().filter(|&byte| byte < b' ' || byte == b'"' || byte == b'\\').count();
        text.len() + 5 * escaped + 2
    };
    match value {
        ExactJson::String(string) => text(string),
        ExactJson::Array(items) => items.iter().map(|item| most_characters(item) + 2).sum::<usize>() + 2,
        ExactJson::Object(fields) => {
            fields.iter().map(|(name, value)| text(name) + most_characters(value) + 4).sum::<usize>() + 2
        }
        ExactJson::Null | ExactJson::Bool(_) | ExactJson::Float(_) => 32,
        ExactJson::Int(_) => canonical(value).len(),
    }
}

/// The first of these members that holds something, as text; the items of a list are joined by spaces.
pub fn first_text(value: &ExactJson, names: &[&str]) -> Option<String> {
    names.iter().filter_map(|name| value.get(name)).find(|value| value.is_truthy()).map(plain)
}

/// A value as text: a string as it is, the items of a list joined by spaces, anything else as JSON.
pub fn plain(value: &ExactJson) -> String {
    joined(value, " ")
}

/// A value as text: a string as it is, the items of a list with `between` in between, anything else as JSON.
pub fn joined(value: &ExactJson, between: &str) -> String {
    match value {
        ExactJson::String(text) => text.clone(),
        ExactJson::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(between),
        ExactJson::Null => String::new(),
        other => spaced(other),
    }
}

/// Added and removed lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    pub added: usize,
    pub removed: usize,
}

impl LineCounts {
    /// Counts a line of a diff by its first character.
    pub fn line(&mut self, line: &str) {
        match line.as_bytes().first() {
            Some(b'+') => self.added += 1,
            Some(b'-') => self.removed += 1,
            _ => {}
        }
    }

    /// What a summary ends with: ` (+A/-R)`.
    pub fn suffix(self) -> String {
        format!(" (+{}/-{})", self.added, self.removed)
    }
}

/// Counts the lines of a unified diff; the `+++` and `---` of its head are none.
pub fn count_diff(diff: &str) -> LineCounts {
    let mut counts = LineCounts::default();
    for line in diff.lines().filter(|line| !line.starts_with("+++") && !line.starts_with("---")) {
        counts.line(line);
    }
    counts
}

/// A replaced text as a diff: every old line with `-`, then every new one with `+`.
pub fn replacement(old: &str, new: &str) -> (String, LineCounts) {
    let gone = old.lines().map(|line| format!("-{line}"));
    let come = new.lines().map(|line| format!("+{line}"));
    let lines: Vec<String> = gone.chain(come).collect();
    (lines.join("\n"), LineCounts { added: new.lines().count(), removed: old.lines().count() })
}

/// A text as a diff of added lines.
pub fn added_lines(text: &str) -> (String, LineCounts) {
    replacement("", text)
}

/// A signature of thinking: whole, or the hash of one that is long.
pub(crate) fn signature(text: &str) -> ExactJson {
    if text.len() <= SIGNATURE_MAX {
        return text.into();
    }
    digest(text)
}

/// A text by its hash and its length.
pub(crate) fn digest(text: &str) -> ExactJson {
    let hash = capsid_model::hash::hex(&Sha3_256::digest(text.as_bytes()));
    fields! { "sha3_256": hash, "bytes": text.len() }.into()
}

/// Who approved what was done in a permission mode.
pub fn authority_of_mode(mode: &str) -> Authority {
    let alone = mode.is_empty() || ALONE.contains(&mode);
    let policy_reference = if mode.is_empty() { String::new() } else { format!("permission_mode={mode}") };
    Authority { kind: if alone { "autonomous" } else { "policy" }, policy_reference, ..Authority::default() }
}

/// Takes the bytes of images out of a value and leaves their kind and length.
pub fn without_images(value: ExactJson) -> ExactJson {
    if has_image(&value) { image_left_out(value) } else { value }
}

fn has_image(value: &ExactJson) -> bool {
    match value {
        ExactJson::Array(items) => items.iter().any(has_image),
        ExactJson::Object(fields) => image(fields).is_some() || fields.values().any(has_image),
        ExactJson::String(text) => text.starts_with("data:"),
        _ => false,
    }
}

fn image_left_out(value: ExactJson) -> ExactJson {
    match value {
        ExactJson::Array(items) => ExactJson::Array(items.into_iter().map(image_left_out).collect()),
        ExactJson::Object(fields) => match image(&fields) {
            Some(image) => image,
            None => ExactJson::Object(
                fields.into_iter().map(|(name, value)| (name, image_left_out(value))).collect(),
            ),
        },
        ExactJson::String(text) if is_data_uri(&text) => data_uri(text),
        other => other,
    }
}

/// An image block with inline bytes: `source.data`, or `data` with a type, or the file of a read image.
pub(crate) fn image(fields: &ExactFields) -> Option<ExactJson> {
    let holder = match fields.get("source") {
        Some(ExactJson::Object(source)) => source,
        _ => fields,
    };
    let data = ["data", "base64"].iter().find_map(|name| holder.get(*name)?.as_str())?;
    let kind = ["media_type", "mimeType", "type"]
        .iter()
        .filter_map(|name| holder.get(*name)?.as_str())
        .find(|kind| kind.starts_with("image/") || *kind == "application/pdf");
    if kind.is_none() && fields.get("type").and_then(ExactJson::as_str) != Some("image") {
        return None;
    }
    Some(
        fields! { "type": "image", "media_type": kind.unwrap_or_default(), "base64_length": data.len() }
            .into(),
    )
}

/// Whether a text is a `data:` URI with bytes inside.
pub(crate) fn is_data_uri(text: &str) -> bool {
    text.len() > 64 && text.starts_with("data:") && text.contains(";base64,")
}

/// A `data:` URI with its bytes inside.
fn data_uri(text: String) -> ExactJson {
    let Some((head, data)) = text.split_once(";base64,") else { return ExactJson::String(text) };
    let media_type = head.trim_start_matches("data:");
    fields! { "type": "image", "media_type": media_type, "base64_length": data.len() }.into()
}

/// The time from one moment to another. Through seconds as a double, as `agent-capsule` reckons it: a thousandth can
/// get lost that way, and is to get lost here too.
pub(crate) fn milliseconds(from: &str, to: &str) -> Option<i64> {
    let moment = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond);
    let microseconds = moment(to)?.checked_sub(moment(from)?)?;
    let seconds = microseconds as f64 / 1e6;
    Some((seconds * 1000.0) as i64).map(|milliseconds| milliseconds.max(0))
}

/// A moment in milliseconds since 1970 as ISO 8601; a text stays as it is.
pub(crate) fn iso_time(value: &ExactJson) -> Option<ExactJson> {
    match value {
        ExactJson::String(text) if !text.trim().is_empty() => {
            let number = text.trim().parse::<i64>().ok();
            Some(number.and_then(iso_text).map_or_else(|| value.clone(), ExactJson::from))
        }
        ExactJson::Int(_) | ExactJson::Float(_) => {
            let number = value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))?;
            iso_text(number).map(ExactJson::from)
        }
        _ => None,
    }
}

fn iso_text(milliseconds: i64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    Some(format!("{moment:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_one_trimmed_line_of_200_characters() {
        assert_eq!(one_line("\n a\nb \n"), "a b");
        assert_eq!(one_line(&"é".repeat(300)), "é".repeat(200));
        assert_eq!(summary("Bash", "ls\n"), "Bash: ls");
        assert_eq!(summary("Bash", " \n"), "Bash call");
    }

    #[test]
    fn no_cut_goes_through_a_secret() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for before in 150..210 {
            let text = format!("{} {token} and {}", "x".repeat(before), "more ".repeat(50));
            let line = one_line(&text);
            assert!(!line.contains("ghp_") || line.contains(&token), "{line}");
            let shown = cap_text(&text, 200);
            assert!(!shown.contains("ghp_") || shown.contains(&token), "{shown}");
            assert!(start_of(&text, 200).len() <= 200);
        }
        let text = format!("{} {token}", "x".repeat(190));
        assert_eq!(cap_text(&text, 200), format!("{} ...<+40b>", "x".repeat(190)));
        let folded = format!("{} password:\nsunshine tomorrow", "x".repeat(185));
        assert!(one_line(&folded).ends_with(" password: "));
    }

    #[test]
    fn a_long_result_is_not_cut_in_a_secret() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("{} {token} {}", "ü".repeat(RESULT_MAX - 9), "y".repeat(9000));
        let cut = cap(ExactJson::from(text.as_str()));
        assert_eq!(cut, ExactJson::from(format!("{} ...<+9041b>", "ü".repeat(RESULT_MAX - 9))));
        let object = cap(fields! { "a": text }.into());
        let shown = object.text("_truncated").unwrap();
        assert!(
            shown.ends_with("ü ...<+9043b>") && !shown.contains("ghp_"),
            "{}",
            &shown[shown.len() - 60..]
        );
    }

    #[test]
    fn an_object_a_little_too_long_is_cut_too() {
        let object: ExactJson = fields! { "a": "x".repeat(RESULT_MAX) }.into();
        let cut = cap(object);
        assert!(cut.text("_truncated").is_some_and(|text| text.ends_with("x...<+9b>")));
    }

    #[test]
    fn a_cut_says_how_many_characters_went() {
        assert_eq!(cap_text("äöü", 3), "äöü");
        assert_eq!(cap_text("äöü", 2), "äö...<+1b>");
        assert_eq!(cap_text("", 0), "");
        assert_eq!(cap_text("ab", 0), "...<+2b>");
    }

    #[test]
    fn a_long_result_is_cut_and_a_short_one_is_left() {
        let short: ExactJson = fields! { "a": vec!["b"; 3] }.into();
        assert_eq!(cap(short.clone()), short);
        let text = "ü".repeat(RESULT_MAX + 7);
        let cut = cap(ExactJson::from(text.as_str()));
        assert_eq!(cut, ExactJson::from(format!("{}...<+7b>", "ü".repeat(RESULT_MAX))));
        // Long by its upper bound only.
        let nearly: ExactJson = fields! { "a": "x".repeat(RESULT_MAX / 2) }.into();
        assert_eq!(cap(nearly.clone()), nearly);
    }

    #[test]
    fn the_first_member_that_holds_something_is_the_target() {
        let value: ExactJson = fields! { "a": "", "b": vec!["x", "y"], "c": "z" }.into();
        assert_eq!(first_text(&value, &["a", "b", "c"]).as_deref(), Some("x y"));
        assert_eq!(first_text(&value, &["c", "b"]).as_deref(), Some("z"));
        assert_eq!(first_text(&value, &["d"]), None);
    }

    #[test]
    fn diffs_are_counted_and_made() {
        let counts = count_diff("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n w");
        assert_eq!(counts, LineCounts { added: 2, removed: 1 });
        assert_eq!(counts.suffix(), " (+2/-1)");
        assert_eq!(
            replacement("a\nb\n", "c"),
            ("-a\n-b\n+c".to_owned(), LineCounts { added: 1, removed: 2 })
        );
    }

    #[test]
    fn a_mode_says_who_approved() {
        assert_eq!(authority_of_mode(""), Authority::default());
        assert_eq!(authority_of_mode("yolo").kind, "autonomous");
        let authority = authority_of_mode("default");
        assert_eq!(
            (authority.kind, authority.policy_reference.as_str()),
            ("policy", "permission_mode=default")
        );
    }

    #[test]
    fn the_bytes_of_images_are_left_out() {
        let source: ExactJson =
            fields! { "type": "base64", "media_type": "image/png", "data": "AAAA" }.into();
        let block: ExactJson = fields! { "type": "image", "source": source }.into();
        let left: ExactJson =
            fields! { "type": "image", "media_type": "image/png", "base64_length": 4_i64 }.into();
        assert_eq!(without_images(ExactJson::from(vec![block])), ExactJson::from(vec![left.clone()]));
        let bare: ExactJson = fields! { "type": "image", "data": "AAAA", "mimeType": "image/png" }.into();
        assert_eq!(without_images(bare), left);
        let uri = format!("data:image/png;base64,{}", "A".repeat(100));
        let left: ExactJson =
            fields! { "type": "image", "media_type": "image/png", "base64_length": 100_i64 }.into();
        assert_eq!(without_images(ExactJson::from(uri)), left);
        let other: ExactJson = fields! { "data": "AAAA", "type": "chart" }.into();
        assert_eq!(without_images(other.clone()), other);
    }

    #[test]
    fn a_thousandth_gets_lost_where_the_reference_loses_it() {
        let after = |thousandths: i64| {
            let (seconds, rest) = (thousandths / 1000, thousandths % 1000);
            milliseconds("2026-06-01T10:00:00.000Z", &format!("2026-06-01T10:00:{seconds:02}.{rest:03}Z"))
        };
        assert_eq!(after(250), Some(250));
        assert_eq!(after(1001), Some(1000));
        assert_eq!((0..20_000).filter(|&n| after(n) != Some(n)).count(), 187);
        assert_eq!(milliseconds("2026-06-01T10:00:01Z", "2026-06-01T10:00:00Z"), Some(0));
        assert_eq!(milliseconds("", "2026-06-01T10:00:00Z"), None);
        assert_eq!(milliseconds("2026-06-01T12:00:00+02:00", "2026-06-01T10:00:01Z"), Some(1000));
    }

    #[test]
    fn a_moment_in_milliseconds_is_written_in_iso_form() {
        assert_eq!(iso_time(&1_780_308_000_123_i64.into()), Some("2026-06-01T10:00:00.123Z".into()));
        assert_eq!(iso_time(&"1780308000123".into()), Some("2026-06-01T10:00:00.123Z".into()));
        assert_eq!(iso_time(&"2026-06-01".into()), Some("2026-06-01".into()));
        assert_eq!(iso_time(&ExactJson::Null), None);
    }
}
