//! The hash of a sealed record.

use sha3::{Digest, Sha3_256};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// SHA3-256 as 64 ASCII digits: what is stored, linked to and signed.
pub fn sha3_ascii(bytes: &[u8]) -> [u8; 64] {
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(Sha3_256::digest(bytes)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    text
}

/// SHA3-256 in lowercase hex.
pub fn sha3_hex(bytes: &[u8]) -> String {
    text(sha3_ascii(bytes).to_vec())
}

/// Lowercase hex.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = Vec::with_capacity(2 * bytes.len());
    for byte in bytes {
        digits.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    text(digits)
}

/// Digits as a text, which they always are.
fn text(digits: Vec<u8>) -> String {
    String::from_utf8(digits).unwrap_or_default()
}

/// Reads exactly `N` bytes of lowercase hex.
///
/// Upper case is refused: no sealer writes it, and a seal that reads two ways could be changed unseen.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_standard_and_not_the_older_keccak() {
        assert_eq!(sha3_hex(b""), "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
        assert_eq!(sha3_hex(b"abc"), "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
    }

    #[test]
    fn hex_is_read_to_the_letter() {
        assert_eq!(unhex::<2>(&hex(&[0x0f, 0xa0])), Some([0x0f, 0xa0]));
        for bad in ["", "0f", "0fa", "0fa0a0", "0FA0", "0fg0", "+fa0", "ä0f"] {
            assert_eq!(unhex::<2>(bad), None, "{bad}");
        }
    }
}
