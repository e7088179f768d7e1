//! Signatures of calls, in two forms: Standard Webhooks v1, and the plain one over the time and the body.

use crate::random::Random;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How every secret begins.
const PREFIX: &str = "whsec_";
/// How many random bytes a secret has.
const BYTES: usize = 32;

/// A new secret.
pub fn new_secret(random: &dyn Random) -> String {
    let mut bytes = [0; BYTES];
    random.fill(&mut bytes);
    format!("{PREFIX}{}", STANDARD.encode(bytes))
}

/// The signature of Standard Webhooks v1: `v1,` and base64. The key is what the secret stands for.
pub fn standard(secret: &str, id: &str, timestamp: i64, body: &str) -> String {
    let text = secret.strip_prefix(PREFIX).unwrap_or(secret);
    let key = STANDARD.decode(text).unwrap_or_else(|_| text.as_bytes().to_vec());
    format!("v1,{}", STANDARD.encode(mac(&key, &[id, ".", &timestamp.to_string(), ".", body])))
}

/// The plain signature: `sha256=` and hexadecimal digits. The key is the secret's text as it was shown.
pub fn plain(secret: &str, timestamp: i64, body: &str) -> String {
    let signed = mac(secret.as_bytes(), &[&timestamp.to_string(), ".", body]);
    format!("sha256={}", capsid_model::hash::hex(&signed))
}

fn mac(key: &[u8], parts: &[&str]) -> [u8; 32] {
    // HMAC takes keys of any length, so there is always one.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    for part in parts {
        mac.update(part.as_bytes());
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededRandom;

    #[test]
    fn the_known_vector_of_standard_webhooks() {
        assert_eq!(
            standard(
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                r#"{"test": 2432232314}"#
            ),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn the_plain_signature_covers_the_time_and_the_body() {
        // Made with: printf '1700000000.{}' | openssl dgst -sha256 -hmac whsec_AAAA
        let made = plain("whsec_AAAA", 1_700_000_000, "{}");
        assert_eq!(made, "sha256=1d681bee9568bf2377726ac0ac820de88ba62e9bbe5fdd75f0ed563b6182723c");
        assert_ne!(made, plain("whsec_AAAA", 1_700_000_001, "{}"));
        assert_ne!(made, plain("whsec_AAAA", 1_700_000_000, "{ }"));
        assert_ne!(made, plain("whsec_AAAB", 1_700_000_000, "{}"));
    }

    #[test]
    fn secrets_are_long_and_not_alike() {
        let random = SeededRandom::new(3);
        let (one, other) = (new_secret(&random), new_secret(&random));
        assert_ne!(one, other);
        assert_eq!(STANDARD.decode(one.strip_prefix(PREFIX).unwrap()).unwrap().len(), BYTES);
    }
}
