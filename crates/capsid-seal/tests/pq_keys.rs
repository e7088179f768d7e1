//! Keys of the second signature. Only with the feature `pq`.

use capsid_disk::files;
use capsid_model::Code;
use capsid_seal::pq::{
    PUBLIC_BYTES, PqPublicKey, PqSigningKey, SECRET_BYTES, SIGNATURE_BYTES, check, load, load_or_create,
    load_public, public_path,
};

#[test]
fn a_signature_holds_for_its_text_and_key_alone() {
    let key = PqSigningKey::from_seed(&[7; 32]);
    let hash = "ab".repeat(32);
    let signature = key.sign(&hash).unwrap();
    assert_eq!(signature.len(), 2 * SIGNATURE_BYTES);
    assert!(key.public().verifies(&hash, &signature));
    assert!(!key.public().verifies(&"ba".repeat(32), &signature));
    assert!(!PqSigningKey::from_seed(&[8; 32]).public().verifies(&hash, &signature));
    for bad in ["", "00", &signature.to_uppercase(), &format!("{signature}00"), &"00".repeat(SIGNATURE_BYTES)]
    {
        assert!(!key.public().verifies(&hash, bad));
    }
}

#[test]
fn key_files_hold_the_standard_encodings() {
    let key = PqSigningKey::from_seed(&[7; 32]);
    let (secret, public) = (key.to_bytes(), key.public().to_bytes());
    assert_eq!((secret.len(), public.len()), (SECRET_BYTES, PUBLIC_BYTES));
    let again = PqSigningKey::from_bytes(&secret).unwrap();
    assert_eq!(again.public(), key.public());
    assert_eq!(PqPublicKey::from_bytes(&public).unwrap(), key.public());
    assert_eq!(again.sign("x").unwrap(), key.sign("x").unwrap());
}

#[test]
fn bytes_that_are_no_key_are_refused_without_a_panic() {
    for bytes in [vec![], vec![0; 32], vec![0xff; SECRET_BYTES], vec![0; SECRET_BYTES + 1]] {
        assert_eq!(PqSigningKey::from_bytes(&bytes).unwrap_err().code, Code::KeyInvalid);
    }
    assert!(PqPublicKey::from_bytes(&[0; 31]).is_err());
    // Nothing distinguishes this one from a key; whether it can sign does not matter, as long as it returns.
    let _ = PqSigningKey::from_bytes(&[0; SECRET_BYTES]).unwrap().sign("x");
}

#[test]
fn a_home_gets_one_pair_and_a_stranger_in_it_is_found() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    assert!(load(home).unwrap().is_none() && load_public(home).unwrap().is_none());
    let key = load_or_create(home, &[1; 32]).unwrap();
    assert_eq!(load_or_create(home, &[2; 32]).unwrap().public(), key.public());
    assert_eq!(load_public(home).unwrap().unwrap(), key.public());
    assert!(check(home).is_empty());
    files::replace(&public_path(home), &PqSigningKey::from_seed(&[2; 32]).public().to_bytes()).unwrap();
    assert_eq!(check(home).len(), 1);
    files::replace(&public_path(home), b"short").unwrap();
    assert_eq!(check(home)[0].code, Code::KeyInvalid);
}
