//! Parts of texts that fit into so many characters.

/// The length of a text in characters.
pub(super) fn count_chars(text: &str) -> usize {
    text.chars().count()
}

/// The start of a text. A cut is marked.
pub(super) fn clip_end(text: &str, max_chars: usize) -> String {
    if count_chars(text) <= max_chars {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max_chars.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let front = text[..end].trim_end();
    if max_chars == 0 { String::new() } else { format!("{front}…") }
}

/// The last whole lines of a text; of a single line that is too long, its start.
pub(super) fn clip_lines_to_end(text: &str, max_lines: usize, max_chars: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for line in text.trim_end().lines().rev().take(max_lines) {
        let line = clip_end(line, 200.min(max_chars));
        let size = count_chars(&line) + 1;
        if used + size > max_chars && !lines.is_empty() {
            break;
        }
        used += size;
        lines.push(line);
    }
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_counts_characters_and_is_marked() {
        assert_eq!(clip_end("固化完成", 4), "固化完成");
        assert_eq!(clip_end("固化完成了", 4), "固化完…");
        assert_eq!(clip_end("abc", 0), "");
    }

    #[test]
    fn the_last_lines_are_whole() {
        assert_eq!(clip_lines_to_end("one\ntwo\nthree\n", 15, 10), "two\nthree");
        assert_eq!(clip_lines_to_end("one\ntwo\nthree\n", 1, 100), "three");
        assert_eq!(clip_lines_to_end("abcdefghij", 15, 5), "abcd…");
        assert_eq!(clip_lines_to_end("", 15, 5), "");
    }
}
