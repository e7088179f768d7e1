//! How many errors a text speaks of, to compare one cycle with the next.

use regex::Regex;
use std::sync::LazyLock;

/// The errors in a transcript.
pub fn error_count(transcript: &str) -> u64 {
    static ERROR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)\[error|error:|exception:|fail|"iserror":true"#).ok());
    ERROR.as_ref().map_or(0, |error| error.find_iter(transcript).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mention_counts_once() {
        assert_eq!(error_count("[ERROR] x\nTypeError: y\nFAILED\nfine \"isError\":true"), 4);
        assert_eq!(error_count("all is well"), 0);
    }
}
