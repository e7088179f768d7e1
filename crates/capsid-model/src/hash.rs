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

/// Lowercase hex of HMAC-SHA256.
pub fn hmac_sha256_hex(key: &[u8], bytes: &[u8]) -> String {
    const BLOCK: usize = 64;
    let mut padded = [0_u8; BLOCK];
    let hashed;
    let key = if key.len() > BLOCK {
        hashed = Sha256::digest(key);
        hashed.as_slice()
    } else {
        key
    };
    padded.iter_mut().zip(key).for_each(|(byte, key)| *byte = *key);
    let mut inner = Sha256::new();
    inner.update(padded.map(|byte| byte ^ 0x36));
    inner.update(bytes);
    let mut outer = Sha256::new();
    outer.update(padded.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    hex(&outer.finalize())
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
    fn hmac_matches_rfc_4231() {
        let text = b"what do ya want for nothing?";
        assert_eq!(
            hmac_sha256_hex(b"Jefe", text),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = [0xaa; 131];
        assert_eq!(
            hmac_sha256_hex(&long, b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

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
