//! Small readers of lines that the parsers of summaries share.

/// `12 passed` as its number and its word.
pub(super) fn split_count(part: &str) -> Option<(u64, &str)> {
    let (number, word) = part.trim().split_once(' ')?;
    Some((number.parse().ok()?, word.trim()))
}

/// `Failures: 2` as its label and its number.
pub(super) fn split_labeled(part: &str) -> Option<(&str, u64)> {
    let (label, number) = part.rsplit_once(':')?;
    Some((label.trim(), number.trim().trim_end_matches('.').parse().ok()?))
}

/// The text without what is in parentheses.
pub(super) fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

/// The name without the time behind it: `adds (5 ms)`, `adds 5ms`, `adds (0.2s)`.
pub(super) fn strip_duration(name: &str) -> &str {
    let name = name.trim_end();
    if let Some((front, time)) = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("))
        && is_duration(time)
    {
        return front.trim_end();
    }
    match name.rsplit_once(' ') {
        Some((front, time)) if is_duration(time) => front.trim_end(),
        _ => name,
    }
}

fn is_duration(text: &str) -> bool {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ').trim_end();
    let unit = text[number.len()..].trim_start();
    matches!(unit, "ms" | "s" | "m" | "µs" | "us" | "ns") && number.parse::<f64>().is_ok()
}

/// How far a line is indented.
pub(super) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_stripped_from_names() {
        for name in ["adds (5 ms)", "adds 5ms", "adds (0.232354ms)", "adds (1.2 s)", "adds", "adds  12µs"] {
            assert_eq!(strip_duration(name), "adds");
        }
        assert_eq!(strip_duration("adds (twice)"), "adds (twice)");
        assert_eq!(strip_duration("adds 5 items"), "adds 5 items");
    }
}
