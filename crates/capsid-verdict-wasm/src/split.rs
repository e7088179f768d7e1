//! Finds the records of a chunk: values of a JSON list, with commas and white space between them.

/// Where the next value begins and ends; none at the end of the bytes.
pub(crate) fn next_value(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let skipped = bytes.get(from..)?.iter().position(|byte| !b" \t\r\n,".contains(byte))?;
    let start = from + skipped;
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            if !in_string && depth == 0 {
                return Some((start, at + 1));
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some((start, at + 1));
                }
            }
            b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => {
                return Some((start, at.max(start + 1)));
            }
            _ => {}
        }
    }
    Some((start, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_whatever_they_hold() {
        let text = br#" {"a":"}\"{"} , [1,[2]],"x,y", 12 ,true,{}"#;
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((start, end)) = next_value(text, at) {
            found.push(std::str::from_utf8(&text[start..end]).unwrap());
            at = end;
        }
        assert_eq!(found, [r#"{"a":"}\"{"}"#, "[1,[2]]", r#""x,y""#, "12", "true", "{}"]);
    }
}
