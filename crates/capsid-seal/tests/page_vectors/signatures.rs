//! Keys and signatures at the edge of what the curve allows, where verifiers like to disagree.

use capsid_model::{Value, json};
use capsid_seal::hash::{hex, sha3_hex, unhex};
use capsid_seal::{PublicKey, SigningKey};
use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

const SEED: [u8; 32] = [9; 32];
/// The order of the group, the least scalar that is none.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

pub fn all() -> Value {
    json!({ "keys": keys(), "signatures": signatures(), "edges": edges() })
}

fn key() -> PublicKey {
    SigningKey::from_seed(&SEED).public()
}

/// Texts and whether each is a key that a signer can have.
fn keys() -> Vec<Value> {
    let honest = key().hex();
    let point = curve25519_dalek::edwards::CompressedEdwardsY(unhex(&honest).unwrap()).decompress().unwrap();
    let mut texts = vec![
        honest.clone(),
        honest.to_uppercase(),
        String::new(),
        honest[1..].to_owned(),
        format!(" {honest}"),
        "zz".repeat(32),
        "ff".repeat(32),
        format!("02{}", "0".repeat(62)),
    ];
    for torsion in EIGHT_TORSION {
        texts.push(hex(&torsion.compress().0));
        texts.push(hex(&(point + torsion).compress().0));
    }
    for y in 0..19 {
        for sign in [0, 0x80] {
            texts.push(hex(&second_encoding(y, sign)));
        }
    }
    texts.iter().map(|text| json!([text, PublicKey::from_hex(text).is_ok()])).collect()
}

/// 2^255 - 19 + y is a second encoding of a small y.
fn second_encoding(y: u8, sign: u8) -> [u8; 32] {
    let mut bytes = [0xff; 32];
    (bytes[0], bytes[31]) = (0xed + y, 0x7f | sign);
    bytes
}

/// What the holder of the key can do that an honest signer does not: choose any point.
fn signed_with_point(text: &str, point: [u8; 32], nonce: Scalar) -> String {
    let public: [u8; 32] = unhex(&key().hex()).unwrap();
    let digest = Sha512::new().chain_update(point).chain_update(public);
    let challenge: [u8; 64] = digest.chain_update(text.as_bytes()).finalize().into();
    let hash: [u8; 64] = Sha512::digest(SEED).into();
    let mut secret: [u8; 32] = hash[..32].try_into().unwrap();
    secret = curve25519_dalek::scalar::clamp_integer(secret);
    let secret = Scalar::from_bytes_mod_order(secret);
    let scalar = nonce + Scalar::from_bytes_mod_order_wide(&challenge) * secret;
    hex(&point) + &hex(&scalar.to_bytes())
}

/// The cases in which libraries differ: name, key, text, signature, and whether it holds.
fn edges() -> Vec<Value> {
    let text = sha3_hex(b"edge");
    let good = SigningKey::from_seed(&SEED).sign(&text);
    let raised = add(unhex(&good[64..]).unwrap(), ORDER);
    let nonce = Scalar::from(987_654_321_u64);
    let torsion = EIGHT_TORSION[1];
    let mixed_point = nonce * ED25519_BASEPOINT_POINT + torsion;
    let honest = key().hex();
    let neutral = EIGHT_TORSION[0].compress().0;
    // Of a neutral key every signature holds whose point is its scalar's.
    let by_neutral = hex(&(nonce * ED25519_BASEPOINT_POINT).compress().0) + &hex(&nonce.to_bytes());
    let (mixed_key, by_mixed) = mixed_key(&text, torsion);
    let cases = [
        ("an honest signature", honest.clone(), good.clone()),
        ("S + L", honest.clone(), format!("{}{}", &good[..64], hex(&raised))),
        ("R of small order", honest.clone(), signed_with_point(&text, neutral, Scalar::ZERO)),
        (
            "a second encoding of R",
            honest.clone(),
            signed_with_point(&text, second_encoding(1, 0), Scalar::ZERO),
        ),
        ("R of mixed order", honest, signed_with_point(&text, mixed_point.compress().0, nonce)),
        ("a key of small order", hex(&neutral), by_neutral),
        ("a key of mixed order", mixed_key, by_mixed),
    ];
    let holds =
        |key: &str, signature: &str| PublicKey::from_hex(key).is_ok_and(|key| key.verifies(&text, signature));
    let case = |(name, key, signature): &(&str, String, String)| {
        json!([name, key, text, signature, holds(key, signature)])
    };
    cases.iter().map(case).collect()
}

/// A key with a part of small order, and a signature whose challenge cancels that part.
fn mixed_key(text: &str, torsion: EdwardsPoint) -> (String, String) {
    let secret = Scalar::from(1_234_567_u64);
    let public = (secret * ED25519_BASEPOINT_POINT + torsion).compress().0;
    let signed = (1_u64..).find_map(|number| {
        let nonce = Scalar::from(number);
        let point = (nonce * ED25519_BASEPOINT_POINT).compress().0;
        let digest = Sha512::new().chain_update(point).chain_update(public);
        let bytes: [u8; 64] = digest.chain_update(text.as_bytes()).finalize().into();
        let challenge = Scalar::from_bytes_mod_order_wide(&bytes);
        let is_cancelled = challenge.to_bytes()[0].is_multiple_of(8);
        is_cancelled.then(|| hex(&point) + &hex(&(nonce + challenge * secret).to_bytes()))
    });
    (hex(&public), signed.unwrap())
}

fn signatures() -> Vec<Value> {
    let mut found = Vec::new();
    let mut take = |text: &str, signature: String| {
        let holds = key().verifies(text, &signature);
        found.push(json!([text, signature, holds]));
    };
    let text = sha3_hex(b"text");
    let good = SigningKey::from_seed(&SEED).sign(&text);
    take(&text, good.clone());
    take(&sha3_hex(b"other"), good.clone());
    let mut scalar: [u8; 32] = unhex(&good[64..]).unwrap();
    for _ in 1..8 {
        scalar = add(scalar, ORDER);
        take(&text, format!("{}{}", &good[..64], hex(&scalar)));
    }
    for odd in [hex(&[0; 64]), hex(&[0xff; 64]), good.to_uppercase(), good[2..].to_owned(), String::new()] {
        take(&text, odd);
    }
    take(&text, format!("{}{}", &good[64..], &good[..64]));
    take(&text, format!("{}{}", &good[..64], "0".repeat(64)));
    take(&text, format!("{}{}", &good[..64], hex(&ORDER)));
    for torsion in EIGHT_TORSION {
        let mut point = torsion.compress().0;
        take(&text, signed_with_point(&text, point, Scalar::ZERO));
        point[31] ^= 0x80;
        take(&text, signed_with_point(&text, point, Scalar::ZERO));
    }
    for y in 0..19 {
        take(&text, signed_with_point(&text, second_encoding(y, 0), Scalar::ZERO));
    }
    let nonce = Scalar::from(123_456_789_u64);
    for (number, torsion) in (0_u8..).zip(EIGHT_TORSION) {
        let text = sha3_hex(&[number]);
        let point: EdwardsPoint = nonce * ED25519_BASEPOINT_POINT + torsion;
        take(&text, signed_with_point(&text, point.compress().0, nonce));
    }
    found
}

fn add(a: [u8; 32], b: [u8; 32]) -> [u8; 32] {
    let mut carry = 0;
    std::array::from_fn(|i| {
        let sum = u16::from(a[i]) + u16::from(b[i]) + carry;
        carry = sum >> 8;
        sum as u8
    })
}
