//! Parts of texts: the first sentence, the first characters.

/// The first sentence of a text, on one line.
pub fn first_sentence(text: &str) -> Option<String> {
    let paragraph: String = capsid_model::text::collapse(text.trim().split("\n\n").next()?);
    let mut end = paragraph.len();
    let mut chars = paragraph.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                let is_short = paragraph[..at].ends_with("e.g") || paragraph[..at].ends_with("i.e");
                chars.peek().is_none_or(|(_, next)| *next == ' ') && !is_short
            }
            _ => false,
        };
        if is_end {
            end = at + c.len_utf8();
            break;
        }
    }
    let sentence = paragraph[..end].trim();
    (!sentence.is_empty()).then(|| sentence.to_owned())
}

/// The text of at most so many characters. A cut is marked and made between words if one is near.
pub(super) fn cut_chars(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let front = &text[..end];
    let at_word = front.rfind(char::is_whitespace).filter(|at| front.len() - at <= 24).unwrap_or(end);
    format!("{}…", front[..at_word].trim_end())
}
