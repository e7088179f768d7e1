use super::*;
use capsid_model::Code;

fn seed() -> [u8; 32] {
    std::array::from_fn(|i| i as u8)
}

#[test]
fn names_are_the_first_digits() {
    let key = SigningKey::from_seed(&seed()).public();
    assert_eq!(key.hex(), "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
    assert_eq!(key.fingerprint(), "03a107bff3ce10be");
    assert_eq!(key.short_fingerprint(), "qp_key_03a1");
}

#[test]
fn a_public_key_is_read_strictly() {
    let key = SigningKey::from_seed(&seed()).public();
    assert_eq!(PublicKey::from_hex(&key.hex().to_uppercase()).unwrap(), key);
    let nowhere = format!("02{}", "0".repeat(62));
    for bad in ["", "03a1", &format!(" {}", key.hex()), &"zz".repeat(32), &nowhere] {
        assert_eq!(PublicKey::from_hex(bad).unwrap_err().code, Code::KeyInvalid, "{bad}");
    }
}

#[test]
fn a_point_that_no_private_key_leads_to_is_refused() {
    use curve25519_dalek::constants::EIGHT_TORSION;
    let honest = SigningKey::from_seed(&seed()).public().verifying_key().to_edwards();
    for torsion in EIGHT_TORSION {
        assert!(PublicKey::from_hex(&hex(&torsion.compress().0)).is_err());
        let mixed = PublicKey::from_hex(&hex(&(honest + torsion).compress().0));
        assert_eq!(mixed.is_ok(), torsion == EIGHT_TORSION[0]);
    }
    // 2^255 - 19 + y is a second encoding of a small y.
    for y in 0..19 {
        let mut bytes = [0xff; 32];
        (bytes[0], bytes[31]) = (0xed + y, 0x7f);
        assert!(PublicKey::from_hex(&hex(&bytes)).is_err(), "{y}");
    }
}

#[test]
fn a_private_key_never_shows_itself() {
    let key = SigningKey::from_seed(&seed());
    assert_eq!(format!("{key:?}"), "SigningKey(03a107bff3ce10be)");
}
