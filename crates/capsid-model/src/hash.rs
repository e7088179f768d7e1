//! The two hashes of the protocol: SHA-256 for content, FNV-1a over UTF-16 for short stable names.

use sha2::{Digest, Sha256};

/// Lowercase hex of SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lowercase hex of any bytes.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// The stable hash: FNV-1a, 32 bits, over UTF-16 code units, eight hex digits.
///
/// Each step takes in a whole 16-bit unit, which is what existing stores hold.
pub fn stable_hash(text: &str) -> String {
    let hash = text
        .encode_utf16()
        .fold(2_166_136_261_u32, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(16_777_619));
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_hash_matches_existing_stores() {
        for (input, expected) in [
            ("", "811c9dc5"),
            ("a", "e40c292c"),
            ("foobar", "bf9cf968"),
            ("é", "6c0b6c44"),
            ("🧬", "e92c17b7"),
            ("log_error|errsig_norm:870c3a82", "13f12c51"),
        ] {
            assert_eq!(stable_hash(input), expected, "{input:?}");
        }
    }
}
