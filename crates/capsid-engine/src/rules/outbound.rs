//! Signals as they may leave this machine. Pure.

use capsid_model::redact::{REDACTED, RedactProfile, redact_telling};
use capsid_model::signal::{is_control, is_cosmetic};
use capsid_model::text::cut;

/// The most signals in one request to a hub.
pub const MAX: usize = 50;
/// The longest of them.
const MAX_LEN: usize = 200;
/// The length of a signal's text at which it was cut when it was made.
const SIGNAL_CUTS: [usize; 4] = [100, 200, 240, 260];

/// The first signals that may leave, each once: without secrets and names, and without those that only steer this engine
/// or say what it had not. They are redacted before they are cut, because half a secret is not known as one any more.
pub fn outbound_signals(signals: &[String], most: usize) -> Vec<String> {
    outbound_signals_reporting(signals, most, &mut |_| {})
}

/// The same, and reports each redacted value.
pub fn outbound_signals_reporting(
    signals: &[String],
    most: usize,
    on_redacted: &mut dyn FnMut(&str),
) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for signal in signals.iter().map(|signal| signal.trim()) {
        if unique.len() == most {
            break;
        }
        if is_control(signal) || is_cosmetic(signal) {
            continue;
        }
        let clean = redact_telling(redact_signal(signal), RedactProfile::Publish, on_redacted);
        let clean = cut(clean.trim(), MAX_LEN).trim_end();
        if !clean.is_empty() && clean != REDACTED && !unique.iter().any(|known| known == clean) {
            unique.push(clean.to_owned());
        }
    }
    unique
}

/// A signal without its last word, where it may have been cut inside that.
pub(crate) fn redact_signal(signal: &str) -> &str {
    if may_be_cut(signal) { without_last_word(signal) } else { signal }
}

pub(crate) fn may_be_cut(signal: &str) -> bool {
    let text = signal.split_once(':').map_or(signal, |(_, text)| text);
    let units = text.encode_utf16().count();
    // One less where a character of two units was at the cut.
    SIGNAL_CUTS.iter().any(|limit| units == *limit || units + 1 == *limit) || units > 260
}

pub(crate) fn without_last_word(text: &str) -> &str {
    match text.rfind(char::is_whitespace) {
        Some(at) => text[..at].trim_end(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn out(signals: &[&str], most: usize) -> Vec<String> {
        outbound_signals(&signals.iter().map(|signal| (*signal).to_owned()).collect::<Vec<_>>(), most)
    }

    #[test]
    fn what_steers_what_is_empty_and_what_was_there_is_left_out() {
        let signals =
            ["ban_gene:gene_x", "memory_missing", " log_error ", "log_error", " ", "ann@globex.com", "slow"];
        assert_eq!(out(&signals, MAX), ["log_error", "slow"]);
        assert_eq!(out(&signals, 1), ["log_error"]);
        assert_eq!(out(&signals, 0), Vec::<String>::new());
        assert_eq!(out(&["errsig:at /home/ann/x"], 9), ["errsig:at [REDACTED]"]);
    }

    #[test]
    fn what_is_taken_out_is_told() {
        let mut redacted = Vec::new();
        let signals = ["mail ann@globex.com".to_owned()];
        outbound_signals_reporting(&signals, MAX, &mut |value| redacted.push(value.to_owned()));
        assert_eq!(redacted, ["ann@globex.com"]);
    }

    proptest! {
        #[test]
        fn no_part_of_a_secret_leaves_wherever_the_cut_falls(before in 0..260_usize) {
            let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
            let sent = out(&[&format!("{} {token} after", "x".repeat(before))], MAX);
            for signal in sent {
                prop_assert!(!signal.contains("ghp"), "{signal}");
                prop_assert!(signal.encode_utf16().count() <= MAX_LEN);
            }
        }

        #[test]
        fn any_text_gives_bounded_signals(signals in proptest::collection::vec("\\PC{0,400}", 0..8), most in 0..5_usize) {
            let sent = outbound_signals(&signals, most);
            prop_assert!(sent.len() <= most);
            prop_assert!(sent.iter().all(|signal| !signal.trim().is_empty()));
        }
    }
}
