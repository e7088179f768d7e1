//! Both modes on signatures at the edge of what the curve allows.

use super::*;
use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::SigningKey;
use sha2::{Digest, Sha512};

const SEED: [u8; 32] = [9; 32];
/// The order of the group, the least scalar that is none.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn key() -> PublicKey {
    PublicKey::from_signing_key(&SigningKey::from_bytes(&SEED))
}

fn claim(hash: &str, point: [u8; 32], scalar: [u8; 32]) -> SignatureClaim<'_> {
    SignatureClaim { hash, signature: Signature::from_components(point, scalar), key: key() }
}

fn honest(hash: &str) -> SignatureClaim<'_> {
    let signature = ed25519_dalek::Signer::sign(&SigningKey::from_bytes(&SEED), hash.as_bytes());
    SignatureClaim { hash, signature, key: key() }
}

/// What the holder of the key can do that an honest signer does not: choose any point.
fn signed_with_point<'a>(hash: &'a str, encoding: [u8; 32], nonce: Scalar) -> SignatureClaim<'a> {
    let digest = Sha512::new().chain_update(encoding).chain_update(key().verifying_key().as_bytes());
    let challenge: [u8; 64] = digest.chain_update(hash.as_bytes()).finalize().into();
    let secret = SigningKey::from_bytes(&SEED).to_scalar();
    let scalar = nonce + Scalar::from_bytes_mod_order_wide(&challenge) * secret;
    claim(hash, encoding, scalar.to_bytes())
}

fn hash_text(number: u64) -> String {
    crate::hash::sha3_hex(&number.to_le_bytes())
}

/// The verdict of the library's own strict verification, which ours must share.
fn holds(odd: SignatureClaim<'_>) -> bool {
    let library = odd.key.verifying_key().verify_strict(odd.hash.as_bytes(), &odd.signature).is_ok();
    assert_eq!(odd.holds(), library);
    library
}

/// Verdicts of the claim alone, in a batch of its own, and among honest ones.
fn verdicts(odd: SignatureClaim<'_>) -> [bool; 3] {
    let texts: Vec<String> = (0..3).map(hash_text).collect();
    let mut batch: Vec<SignatureClaim<'_>> = texts.iter().map(|text| honest(text)).collect();
    batch.insert(2, odd);
    let among = verify_batch(&batch);
    assert!(among.iter().enumerate().all(|(at, held)| at == 2 || *held), "the honest ones hold: {among:?}");
    [holds(odd), verify_batch(&[odd])[0], among[2]]
}

fn add(a: [u8; 32], b: [u8; 32]) -> [u8; 32] {
    let mut carry = 0;
    std::array::from_fn(|i| {
        let sum = u16::from(a[i]) + u16::from(b[i]) + carry;
        carry = sum >> 8;
        sum as u8
    })
}

#[test]
fn honest_signatures_hold_in_both_modes() {
    let text = hash_text(77);
    assert_eq!(verdicts(honest(&text)), [true; 3]);
    assert!(verify_batch(&[]).is_empty());
    let other = hash_text(78);
    assert_eq!(verdicts(SignatureClaim { hash: &other, ..honest(&text) }), [false; 3]);
}

#[test]
fn nothing_and_garbage_hold_in_neither() {
    let text = hash_text(77);
    let good = honest(&text).signature;
    for (point, scalar) in [
        ([0; 32], [0; 32]),
        ([0xff; 32], [0xff; 32]),
        ([0; 32], *good.s_bytes()),
        (*good.r_bytes(), [0; 32]),
        (*good.s_bytes(), *good.r_bytes()),
    ] {
        assert_eq!(verdicts(claim(&text, point, scalar)), [false; 3]);
    }
}

#[test]
fn a_scalar_above_the_order_holds_in_neither() {
    let text = hash_text(77);
    let good = honest(&text).signature;
    let mut scalar = *good.s_bytes();
    for times in 1..8 {
        scalar = add(scalar, ORDER);
        assert_eq!(verdicts(claim(&text, *good.r_bytes(), scalar)), [false; 3], "{times}");
    }
    for bit in [0x20, 0x40, 0x80] {
        let mut high = *good.s_bytes();
        high[31] |= bit;
        assert_eq!(verdicts(claim(&text, *good.r_bytes(), high)), [false; 3]);
    }
    assert_eq!(verdicts(claim(&text, *good.r_bytes(), ORDER)), [false; 3]);
}

#[test]
fn a_point_of_small_order_holds_in_neither_even_where_the_equation_does() {
    for number in 0..4 {
        let text = hash_text(number);
        for torsion in EIGHT_TORSION {
            let encoding = torsion.compress().0;
            assert_eq!(verdicts(signed_with_point(&text, encoding, Scalar::ZERO)), [false; 3]);
            let mut signed_zero = encoding;
            signed_zero[31] ^= 0x80;
            assert_eq!(verdicts(signed_with_point(&text, signed_zero, Scalar::ZERO)), [false; 3]);
        }
    }
    let known: Vec<[u8; 32]> = EIGHT_TORSION.map(|point| point.compress().0).to_vec();
    assert!(SMALL_ORDER.iter().all(|y| known.contains(y)));
}

#[test]
fn a_second_encoding_of_a_point_holds_in_neither() {
    for y in 0..19 {
        for sign in [0, 0x80] {
            let mut encoding = [0xff; 32];
            (encoding[0], encoding[31]) = (0xed + y, 0x7f | sign);
            let text = hash_text(u64::from(y));
            assert_eq!(verdicts(signed_with_point(&text, encoding, Scalar::ZERO)), [false; 3], "{y}");
        }
    }
}

/// The one exception that the documentation describes, to show that it is real and only the signer can use it.
#[test]
fn a_point_with_a_component_of_small_order_is_refused_strictly_and_only_the_signer_can_make_one() {
    let nonce = Scalar::from(123_456_789_u64);
    let mut accepted = 0;
    for number in 0..64 {
        let text = hash_text(number);
        let point: EdwardsPoint = nonce * ED25519_BASEPOINT_POINT + EIGHT_TORSION[1];
        let odd = signed_with_point(&text, point.compress().0, nonce);
        assert!(!holds(odd));
        accepted += u32::from(verify_batch(&[odd])[0]);
        let bare = claim(&text, point.compress().0, nonce.to_bytes());
        assert!(!verify_batch(&[bare])[0], "without the private key it is nothing");
    }
    assert!((1..32).contains(&accepted), "{accepted} of 64");
}
