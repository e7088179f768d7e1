//! What a node may call itself. A name must not be taken for another one, or for somebody with authority.

use capsid_model::text_enum;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use unicode_security::{MixedScript, skeleton};

/// The most characters of a name.
pub const NAME_LIMIT: usize = 32;

/// Names that stand for the hub or its operator.
pub const RESERVED_NAMES: [&str; 11] = [
    "admin",
    "operator",
    "root",
    "system",
    "hub",
    "capsid",
    "official",
    "support",
    "staff",
    "moderator",
    "security",
];

/// What becomes of the name in a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NameStatus {
    Accepted,
    /// The node has a name, which stays.
    Unchanged,
    TooLong,
    /// It is empty, or has characters that cannot be seen.
    Invisible,
    /// It mixes scripts whose letters look alike.
    MixedScript,
    Reserved,
    /// Another owner has a name that looks the same.
    Taken,
}

text_enum!(NameStatus {
    Accepted = "accepted",
    Unchanged = "unchanged",
    TooLong = "too_long",
    Invisible = "invisible",
    MixedScript = "mixed_script",
    Reserved = "reserved",
    Taken = "taken",
});

/// A name that may be shown, and what it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayName {
    pub text: String,
    /// Names with the same key look the same.
    pub key: String,
}

/// Reads a name, or says why it is refused. Whether another owner has it is for the caller to find out.
pub fn read_name(text: &str, reserved: &[String]) -> Result<DisplayName, NameStatus> {
    // Longer than any name that fits, whatever its form.
    if text.len() > 1000 {
        return Err(NameStatus::TooLong);
    }
    let text: String = text.trim().nfkc().collect();
    let text = text.trim();
    if text.chars().count() > NAME_LIMIT {
        return Err(NameStatus::TooLong);
    }
    let hidden =
        |c: char| c.is_control() || capsid_model::text::is_invisible(c) || (c.is_whitespace() && c != ' ');
    if text.is_empty() || text.chars().any(hidden) {
        return Err(NameStatus::Invisible);
    }
    if !text.is_single_script() {
        return Err(NameStatus::MixedScript);
    }
    let key = name_key(text);
    if reserved.iter().any(|name| name_key(name) == key) {
        return Err(NameStatus::Reserved);
    }
    Ok(DisplayName { text: text.to_owned(), key })
}

/// The skeleton of UTS 39 of the name's letters and digits, whatever their case and whatever stands between them.
pub fn name_key(name: &str) -> String {
    let lower: String = name.nfkc().collect::<String>().to_lowercase();
    let letters: String = lower.chars().filter(|c| c.is_alphanumeric()).collect();
    let compared = if letters.is_empty() { &lower } else { &letters };
    // A skeleton may bring capital letters back, and a capital `I` looks like a small `l`.
    skeleton(compared).collect::<String>().to_lowercase().replace('i', "l")
}

/// A name as pages and lists show it. Nobody vouches for the name of an unclaimed node, so the end of its id is shown too.
pub fn shown_name(name: &str, node_id: &str, claimed: bool) -> String {
    if claimed {
        return name.to_owned();
    }
    let end = node_id.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    format!("{name} ({})", &node_id[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, NameStatus> {
        let reserved = RESERVED_NAMES.map(str::to_owned);
        read_name(text, &reserved).map(|name| name.text)
    }

    #[test]
    fn a_name_is_shown_as_it_was_given_in_one_form() {
        for (text, shown) in [
            ("Ada's builder", "Ada's builder"),
            ("  Ada ", "Ada"),
            ("Ａｄａ", "Ada"),
            ("Łucja", "Łucja"),
            ("Наташа", "Наташа"),
            ("東京タワー", "東京タワー"),
            ("agent-7 🚀", "agent-7 🚀"),
            ("admin-tools", "admin-tools"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused_with_the_reason() {
        for (text, status) in [
            (&"x".repeat(33)[..], NameStatus::TooLong),
            (&"ﷺ".repeat(30)[..], NameStatus::TooLong),
            (&"x".repeat(5000)[..], NameStatus::TooLong),
            ("", NameStatus::Invisible),
            (" \u{3000} ", NameStatus::Invisible),
            ("a\u{200b}b", NameStatus::Invisible),
            ("a\u{202e}b", NameStatus::Invisible),
            ("a\nb", NameStatus::Invisible),
            ("\u{430}dmin", NameStatus::MixedScript),
            ("pаypal", NameStatus::MixedScript),
            ("admin", NameStatus::Reserved),
            ("Admin", NameStatus::Reserved),
            ("A D M I N", NameStatus::Reserved),
            ("-admin-", NameStatus::Reserved),
            ("ａｄｍｉｎ", NameStatus::Reserved),
            ("adrnin", NameStatus::Reserved),
            ("SYSTEM", NameStatus::Reserved),
        ] {
            assert_eq!(read(text), Err(status), "{text:?}");
        }
        assert_eq!(read(&"é".repeat(32)).map(|name| name.chars().count()), Ok(32));
    }

    #[test]
    fn names_that_look_the_same_have_the_same_key() {
        for (one, other) in [
            ("Ada", "ada"),
            ("Ada Lovelace", "adalovelace"),
            ("scope", "ѕсоре"),
            ("officiaI", "official"),
            ("ADM1N", "admin"),
        ] {
            assert_eq!(name_key(one), name_key(other), "{one} {other}");
        }
        assert_ne!(name_key("ada"), name_key("eda"));
        assert_ne!(name_key("🚀"), name_key("🌍"));
    }

    #[test]
    fn the_end_of_the_id_stands_with_the_name_of_an_unclaimed_node() {
        assert_eq!(shown_name("Ada", "node_e5f6a7b8", false), "Ada (a7b8)");
        assert_eq!(shown_name("Ada", "node_e5f6a7b8", true), "Ada");
        assert_eq!(shown_name("Ada", "né", false), "Ada (né)");
    }
}
