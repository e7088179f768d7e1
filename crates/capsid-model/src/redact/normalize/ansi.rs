//! Sequences that terminals act on and do not show.

/// The length of the sequence at the beginning of a text, which begins with an escape character.
pub(super) fn sequence_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let until = |is_end: fn(u8) -> bool| {
        bytes.iter().take(256).skip(2).position(|&byte| is_end(byte)).map_or(1, |end| end + 3)
    };
    match bytes.get(1) {
        // colours and moves
        Some(b'[') => match until(|byte| !matches!(byte, 0x20..=0x3f)) {
            // Anything else than a final byte ends no sequence.
            end if end > 1 && bytes.get(end - 1).is_some_and(|byte| (0x40..=0x7e).contains(byte)) => end,
            _ => 1,
        },
        // titles and links, ended by a bell or by ESC \
        Some(b']') => match until(|byte| matches!(byte, 7 | 0x1b | b'\n')) {
            end if end > 1 && bytes.get(end - 1) == Some(&7) => end,
            end if end > 1 && bytes.get(end - 1) == Some(&0x1b) && bytes.get(end) == Some(&b'\\') => end + 1,
            _ => 1,
        },
        Some(b'(' | b')') if bytes.get(2).is_some_and(u8::is_ascii_alphanumeric) => 3,
        Some(b'=' | b'>' | b'7' | b'8' | b'M' | b'c') => 2,
        _ => 1,
    }
}
