//! The seal of a record.

use super::super::base::current_key;
use super::super::expected::{invalid, unknown_signer};
use super::{CHAIN, Manipulation, at_each, change_record};
use capsid_model::{Value, json};
use capsid_seal::hash::{hex, unhex};
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use sha2::{Digest, Sha512};

/// A change of a record's seal, and what it comes to.
type SealChange = (&'static str, &'static str, fn(&mut Value));

pub fn all() -> Vec<Manipulation> {
    let changes: [SealChange; 7] = [
        ("6 hash edited", "hash", |record| flip(record, "hash")),
        ("7 hash in upper case", "hash", |record| to_upper(record, "hash")),
        ("8 signature bit flipped", "signature", |record| flip(record, "signature")),
        ("9 signature empty", "signature", |record| record["signature"] = json!("")),
        ("10 signature in upper case", "signature", |record| to_upper(record, "signature")),
        ("11 S + L", "signature", add_order),
        ("12 R of small order", "signature", sign_with_small_point),
    ];
    let mut all = Vec::new();
    for (name, code, change) in changes {
        all.extend(at_each(|position, words| {
            Manipulation::new(format!("{name}, {words}"), invalid(code, CHAIN, position), |draft| {
                change_record(draft, position, change);
            })
        }));
    }
    all.extend(at_each(|position, words| {
        let name = format!("13 signed_by unknown, {words}");
        Manipulation::new(name, unknown_signer(position), |draft| {
            change_record(draft, position, |record| record["signed_by"] = json!("0123456789abcdef"));
        })
    }));
    all
}

fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap()
}

/// Changes one bit of a hex text.
fn flip(record: &mut Value, name: &str) {
    let mut digits = text(record, name).to_owned();
    let digit = u8::from_str_radix(&digits[20..21], 16).unwrap() ^ 1;
    digits.replace_range(20..21, &format!("{digit:x}"));
    record[name] = json!(digits);
}

fn to_upper(record: &mut Value, name: &str) {
    let upper = text(record, name).to_uppercase();
    assert_ne!(upper, text(record, name), "it has a letter");
    record[name] = json!(upper);
}

/// The order of the group, the least scalar that is none.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn add_order(record: &mut Value) {
    let signature = text(record, "signature").to_owned();
    let scalar: [u8; 32] = unhex(&signature[64..]).unwrap();
    let mut carry = 0;
    let sum: [u8; 32] = std::array::from_fn(|at| {
        let sum = u16::from(scalar[at]) + u16::from(ORDER[at]) + carry;
        carry = sum >> 8;
        sum as u8
    });
    record["signature"] = json!(format!("{}{}", &signature[..64], hex(&sum)));
}

/// The holder of the key may choose the neutral point; the equation holds then.
fn sign_with_small_point(record: &mut Value) {
    let mut point = [0; 32];
    point[0] = 1;
    let public: [u8; 32] = unhex(&current_key().public().hex()).unwrap();
    let digest = Sha512::new().chain_update(point).chain_update(public);
    let challenge: [u8; 64] = digest.chain_update(text(record, "hash").as_bytes()).finalize().into();
    let seed: [u8; 64] = Sha512::digest([22; 32]).into();
    let secret = Scalar::from_bytes_mod_order(clamp_integer(seed[..32].try_into().unwrap()));
    let scalar = Scalar::from_bytes_mod_order_wide(&challenge) * secret;
    record["signature"] = json!(hex(&point) + &hex(&scalar.to_bytes()));
}
