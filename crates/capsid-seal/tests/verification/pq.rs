//! Post-quantum signatures: checked when they can be, and never taken for valid unseen.

use super::support::*;
use capsid_seal::verify::VerifyOptions;

const STRICT: VerifyOptions = VerifyOptions {
    signatures: true,
    batch: false,
    since: None,
    threads: 1,
    passes_unknown_signers: false,
    watch: std::collections::BTreeSet::new(),
};

#[test]
fn without_a_key_for_it_a_signature_is_reported_as_not_checked() {
    let mut records = chain(3);
    records[1].seal.signature_pq = "00".repeat(3309);
    let verdict = judge(&records, &STRICT);
    assert!(verdict.valid);
    assert!(
        verdict.notes[0].starts_with("1 post-quantum signatures were not checked"),
        "{:?}",
        verdict.notes
    );
}

#[cfg(feature = "pq")]
mod with_the_feature {
    use super::*;
    use capsid_seal::keys::{file, rotation};
    use capsid_seal::verify::{VerifyFailureClass, verify};
    use capsid_seal::{Sealer, pq};

    #[test]
    fn an_own_signature_is_checked_and_a_bad_one_breaks_the_chain() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let key = file::load_or_create(&file::path(home), &[1; 32]).unwrap();
        let pq_key = pq::load_or_create(home, &[3; 32]).unwrap();
        let mut records = Vec::new();
        extend(&mut records, &Sealer::new(key).with_pq(pq_key), 3);
        assert_eq!(records[0].seal.signature_pq.len(), 6618);
        rotation::rotate(home, &[4; 32], SIGNED_AT).unwrap();
        let keys = capsid_seal::keys::load_home(home);
        for batch in [false, true] {
            let options = VerifyOptions { batch, ..STRICT };
            let verdict = |records: &[_]| verify(records.iter().cloned().map(Ok), &options, &keys).unwrap();
            assert!(verdict(&records).valid);
            assert!(!verdict(&records).notes.iter().any(|note| note.contains("post-quantum")));
            for bad in ["00", &"00".repeat(3309), &records[0].seal.signature_pq.clone()] {
                let mut tampered = records.clone();
                tampered[1].seal.signature_pq = bad.to_owned();
                let verdict = verdict(&tampered);
                let failure = verdict.failure.unwrap();
                assert_eq!((failure.class, verdict.broken_at), (VerifyFailureClass::Signature, Some(1)));
                assert_eq!(failure.message, "post-quantum signature invalid at 1");
            }
            let mut absent = records.clone();
            absent[1].seal.signature_pq.clear();
            assert!(verdict(&absent).valid, "empty means absent");
        }
    }
}
