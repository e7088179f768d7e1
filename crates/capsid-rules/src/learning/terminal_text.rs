//! Output of programs as plain text.

/// The output without escape sequences. Of a line that was overwritten, only what follows the last CR remains.
pub fn clean_output(output: &str) -> String {
    let mut cleaned = String::with_capacity(output.len());
    for line in output.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = line.rsplit('\r').next().unwrap_or(line);
        push_without_escapes(&mut cleaned, line);
        cleaned.push('\n');
    }
    cleaned
}

fn push_without_escapes(cleaned: &mut String, line: &str) {
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            cleaned.push(c);
            continue;
        }
        match chars.next() {
            // A control sequence ends with a letter or one of `@ ~ ^ _` and the like.
            Some('[') => while chars.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {},
            // A title or a link ends with BEL or with ESC and a backslash.
            Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\\') {},
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_titles_and_overwritten_text_are_removed() {
        assert_eq!(
            clean_output("\u{1b}[1;32mok\u{1b}[0m\r\nold\rnew\u{1b}]0;title\u{7}!\u{1b}"),
            "ok\nnew!\n"
        );
    }
}
