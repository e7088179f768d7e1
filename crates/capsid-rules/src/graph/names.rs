//! Names: when two of them are one, when one only looks like the other, and the numbers that follow from them.

use super::{EntityKey, kind};
use capsid_model::hash::sha256_hex;
use capsid_model::signal::{fold, is_control, is_cosmetic, normalise_error};
use capsid_model::text::{collapse, is_invisible, trim};
use unicode_normalization::UnicodeNormalization;
use unicode_security::{MixedScript, RestrictionLevel, RestrictionLevelDetection, skeleton};

/// The longest key, in characters.
pub const MAX_CHARS: usize = 160;
/// The most signals of one asset or task that enter the graph.
pub const MAX_SIGNALS: usize = 12;
/// How many signals of a list are looked at, and how much of each, in bytes.
const LOOKED_AT: usize = 64;
const MAX_TEXT: usize = 4096;
/// How many digits of a hash a name that is cut ends with.
const HASH_DIGITS: usize = 16;

/// The number of a thing.
pub fn entity_id(kind: &str, key: &str) -> i64 {
    number(&format!("{kind}\0{key}"))
}

/// The number that a text stands for: the first 8 bytes of its hash.
pub fn number(text: &str) -> i64 {
    let digits = sha256_hex(text.as_bytes());
    digits.get(..16).and_then(|start| u64::from_str_radix(start, 16).ok()).unwrap_or_default().cast_signed()
}

/// The number of a thing as it is sent, such as `e_00ff00ff00ff00ff`.
pub fn shown_id(id: i64) -> String {
    format!("e_{:016x}", id.cast_unsigned())
}

/// Reads what [`shown_id`] wrote.
pub fn read_id(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("e_").filter(|digits| digits.len() == 16)?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    plain.then(|| u64::from_str_radix(digits, 16).ok().map(u64::cast_signed)).flatten()
}

/// The key of a thing of a kind that is called so; empty where the name says nothing.
pub fn key_of(kind: &str, name: &str) -> String {
    let name = trim(bounded(name));
    match kind {
        kind::SIGNAL => signal_key(name),
        kind::ERROR => error_key(name.strip_prefix("errsig:").unwrap_or(name)),
        known if kind::is_known_by_id(known) => name.to_owned(),
        _ => normal(name),
    }
}

/// A kind for each of the ways in which keys are made of names.
pub const RULES: [&str; 4] = [kind::SIGNAL, kind::ERROR, kind::GENE, kind::ENVIRONMENT];

/// The one of [`RULES`] whose keys are made as those of a kind are.
pub fn rule_of(kind: &str) -> &'static str {
    match kind {
        kind::SIGNAL => kind::SIGNAL,
        kind::ERROR => kind::ERROR,
        known if kind::is_known_by_id(known) => kind::GENE,
        _ => kind::ENVIRONMENT,
    }
}

/// A name without what does not tell things apart: compatible forms, case, spacing, and what is not seen.
pub fn normal(name: &str) -> String {
    let seen: String = bounded(name).chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    let mut normal = collapse(&seen.nfkc().collect::<String>());
    // Lower case may undo the compatible form, and the other way round; this ends after a step or two.
    for _ in 0..4 {
        let again = collapse(&normal.to_lowercase().nfkc().collect::<String>());
        if again == normal {
            break;
        }
        normal = again;
    }
    cut(normal)
}

/// A key of bounded length; what is cut off leaves its hash, so that long names stay different.
fn cut(name: String) -> String {
    if name.chars().count() <= MAX_CHARS {
        return name;
    }
    let kept: String = name.chars().take(MAX_CHARS - HASH_DIGITS - 1).collect();
    let hash: String = sha256_hex(name.as_bytes()).chars().take(HASH_DIGITS).collect();
    format!("{kept}~{hash}")
}

/// Whether a character is not seen, or changes how others are seen.
pub fn is_unseen(c: char) -> bool {
    // Blanks that count as letters, variants of how others look, and what is no character at all.
    let is_blank = matches!(c, '\u{2800}' | '\u{3164}' | '\u{115f}' | '\u{1160}' | '\u{ffa0}' | '\u{34f}');
    let is_variant = matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let is_none = u32::from(c) & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    c.is_control() || is_invisible(c) || is_blank || is_variant || is_none
}

/// How a name looks: names that look alike have one number.
pub fn look_alike_key(key: &str) -> i64 {
    number(&skeleton(key).collect::<String>())
}

/// Whether two different names can be taken for each other. Plain letters and digits are never at fault: `modem` and
/// `modern` are two words, however close they look.
pub fn are_confusable(one: &str, other: &str) -> bool {
    one != other && !(one.is_ascii() && other.is_ascii()) && skeleton(one).eq(skeleton(other))
}

/// Whether a word of a name mixes scripts as no language does.
pub fn mixes_scripts(name: &str) -> bool {
    let name: String = name.nfkc().collect();
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_fine = |word: &str| {
        word.is_single_script() || word.check_restriction_level(RestrictionLevel::HighlyRestrictive)
    };
    words.into_iter().any(|word| !is_fine(word))
}

/// The signals and errors that a list of signals names, each once. What only steers an engine or says that an input was
/// absent is left out.
pub fn signal_keys(signals: &[impl AsRef<str>]) -> Vec<EntityKey> {
    let mut things: Vec<EntityKey> = Vec::new();
    for signal in signals.iter().take(LOOKED_AT) {
        for thing in entities_of_signal(signal.as_ref()) {
            if things.len() < MAX_SIGNALS && !things.contains(&thing) {
                things.push(thing);
            }
        }
    }
    things
}

/// What one signal names: an error, or a signal for each of its alternatives.
fn entities_of_signal(signal: &str) -> Vec<EntityKey> {
    let signal = trim(bounded(signal));
    if let Some(text) = signal.strip_prefix("errsig:") {
        let key = error_key(text);
        return if key.is_empty() { Vec::new() } else { vec![EntityKey::new(kind::ERROR, key)] };
    }
    let telling = |name: &&str| !is_control(name) && !is_cosmetic(name);
    let keys = signal.split('|').map(trim).filter(telling).map(signal_key);
    keys.filter(|key| !key.is_empty()).map(|key| EntityKey::new(kind::SIGNAL, key)).collect()
}

fn signal_key(name: &str) -> String {
    let folded = fold(name);
    let words: Vec<String> = folded.split(' ').map(split_names).collect();
    normal(&words.join(" "))
}

fn error_key(text: &str) -> String {
    normal(&normalise_error(text))
}

/// The name of a class of errors with its words apart: `TimeoutError` and `timeout_error` are one.
fn split_names(word: &str) -> String {
    const ENDS: [&str; 6] = ["Error", "Exception", "Warning", "Failure", "Timeout", "Fault"];
    let is_class =
        word.bytes().all(|b| b.is_ascii_alphanumeric()) && ENDS.iter().any(|end| word.ends_with(end));
    if !is_class {
        return word.to_owned();
    }
    let bytes = word.as_bytes();
    let mut apart = String::with_capacity(word.len() + 4);
    for (at, byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let begins = byte.is_ascii_uppercase()
            && before.is_some_and(|before| !before.is_ascii_uppercase() || next_is_lower);
        if begins {
            apart.push('_');
        }
        apart.push(char::from(*byte));
    }
    apart
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(signals: &[&str]) -> Vec<(String, String)> {
        signal_keys(signals).into_iter().map(|thing| (thing.kind, thing.key)).collect()
    }

    #[test]
    fn signals_become_things() {
        let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        assert_eq!(
            keys(&[
                "TimeoutError",
                "timeout_error",
                " SLOW  response|hang ",
                "ban_gene:x",
                "user_missing",
                ""
            ]),
            pairs(&[("signal", "timeout_error"), ("signal", "slow response"), ("signal", "hang")])
        );
        assert_eq!(
            keys(&["errsig:TypeError: x at /a/b.js:10", "errsig:TypeError: x at /c.js:99", "errsig:"]),
            pairs(&[("error", "typeerror: x at <path>")])
        );
        assert_eq!(
            keys(&["user_feature_request:dark mode", "HTTPError", "ECONNRESET", "ﬁle ＬＯＣＫ"]),
            pairs(&[
                ("signal", "user_feature_request"),
                ("signal", "http_error"),
                ("signal", "econnreset"),
                ("signal", "file lock")
            ])
        );
        let many: Vec<String> = (0..99).map(|n| format!("s{n}")).collect();
        assert_eq!(signal_keys(&many).len(), MAX_SIGNALS);
    }

    #[test]
    fn long_names_stay_different() {
        let (a, b) = ("x".repeat(300) + "a", "x".repeat(300) + "b");
        assert_ne!(normal(&a), normal(&b));
        assert_eq!(normal(&a).chars().count(), MAX_CHARS);
        assert_eq!(normal(&normal(&a)), normal(&a));
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        assert!(are_confusable("pаypal", "paypal"), "a Cyrillic letter");
        assert!(are_confusable("ѕсоре", "scope"), "all Cyrillic");
        for (one, other) in [("modem", "modern"), ("http_500", "http_5oo"), ("超时", "超時"), ("a", "a")]
        {
            assert!(!are_confusable(one, other), "{one} {other}");
        }
        for mixed in ["pаypal", "time\u{03bf}ut", "аpi gateway"] {
            assert!(mixes_scripts(mixed), "{mixed}");
        }
        for fine in [
            "api gateway",
            "修复 timeout",
            "fix修复",
            "тайм-аут api",
            "naïve café",
            "日本語テキスト",
            "k8s",
            "🧬 dna",
        ] {
            assert!(!mixes_scripts(fine), "{fine}");
        }
        assert_eq!(look_alike_key("pаypal"), look_alike_key("paypal"));
    }

    #[test]
    fn a_number_is_shown_and_read() {
        for id in [0, 1, -1, i64::MIN, i64::MAX, entity_id("signal", "timeout")] {
            assert_eq!(read_id(&shown_id(id)), Some(id));
        }
        for text in ["", "e_", "e_1", "e_00000000000000FF", "x_0000000000000001", "e_+000000000000001"] {
            assert_eq!(read_id(text), None, "{text}");
        }
        assert_ne!(entity_id("signal", "a"), entity_id("error", "a"));
        assert_eq!(
            shown_id(entity_id("signal", "timeout")),
            format!("e_{}", &sha256_hex(b"signal\0timeout")[..16])
        );
    }

    proptest! {
        #[test]
        fn a_key_is_clean_bounded_and_its_own_key(name: String) {
            for kind in ["signal", "environment", "tool"] {
                let key = key_of(kind, &name);
                prop_assert!(key.chars().count() <= MAX_CHARS);
                prop_assert!(!key.chars().any(is_unseen), "{key:?}");
                if !key.contains('~') {
                    prop_assert_eq!(&key_of(kind, &key), &key);
                }
            }
        }

        #[test]
        fn signals_are_few_and_say_something(signals in prop::collection::vec(any::<String>(), 0..20)) {
            let things = signal_keys(&signals);
            prop_assert!(things.len() <= MAX_SIGNALS);
            prop_assert!(things.iter().all(|thing| !thing.key.is_empty()));
        }
    }
}
