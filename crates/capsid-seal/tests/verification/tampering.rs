//! Every kind of tampering gets its class and its place, in every mode.

use super::support::*;
use capsid_model::{Code, Problem};
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::verify::{VerifiedCheckpoint, VerifyFailureClass, VerifyOptions, verify};
use capsid_seal::{Sealer, StoredRecord};
use proptest::prelude::*;

const STRICT: VerifyOptions = VerifyOptions {
    signatures: true,
    batch: false,
    since: None,
    threads: 1,
    passes_unknown_signers: false,
    watch: std::collections::BTreeSet::new(),
};

#[test]
fn an_honest_chain_of_any_length_is_valid() {
    for length in [0, 1, 64, 65, 129, 520] {
        let records = chain(length);
        for options in modes() {
            let verdict = judge(&records, &options);
            assert!(verdict.valid, "{verdict:?}");
            assert_eq!(
                (verdict.verified, verdict.total, verdict.length),
                (length as u64, length as u64, length as u64)
            );
            assert_eq!(verdict.head.as_ref(), records.last().map(|last| &last.seal.hash));
            if options.signatures && length > 0 {
                let signer = &verdict.signers[&own().public().fingerprint()];
                assert_eq!((signer.count, signer.trust_label()), (length as u64, "own"));
            }
            assert_eq!(verdict.signers.len(), usize::from(options.signatures && length > 0));
        }
    }
}

#[test]
fn each_tampering_at_each_place_of_a_short_chain() {
    let honest = chain(5);
    for tampering in Tampering::ALL {
        for index in 0..honest.len() {
            let mut records = honest.clone();
            let expected = tampering.apply(&mut records, index);
            assert_verdict(&records, expected, &(tampering, index));
            if !tampering.needs_columns() {
                assert_verdict(&without_columns(&records), expected, &(tampering, index, "without columns"));
            }
        }
    }
}

#[test]
fn tampering_at_the_borders_of_chunks_and_batches() {
    let honest = chain(600);
    for tampering in
        [Tampering::SignatureDigit, Tampering::Remove, Tampering::SwapWithLast, Tampering::EditText]
    {
        for index in [64, 511] {
            let mut records = honest.clone();
            let expected = tampering.apply(&mut records, index);
            assert_verdict(&records, expected, &(tampering, index));
        }
    }
}

#[test]
fn of_two_breaks_the_first_is_told() {
    let honest = chain(300);
    for (first, second) in [(10, 11), (10, 299), (70, 150), (63, 64)] {
        let mut records = honest.clone();
        Tampering::SignatureDigit.apply(&mut records, second);
        let expected = Tampering::SignatureOfAnother.apply(&mut records, first);
        for options in modes().into_iter().filter(|options| options.signatures) {
            let verdict = judge(&records, &options);
            assert_eq!(verdict.broken_at, expected.strict.map(|(_, at)| at));
        }
    }
}

#[test]
fn every_single_byte_of_a_record_and_its_seal_counts() {
    let honest = chain(5);
    let check = |records: &[StoredRecord], classes: &[VerifyFailureClass], index: usize, what: &str| {
        let verdict = judge(records, &STRICT);
        let class = verdict.failure.as_ref().map(|failure| failure.class);
        assert_eq!(verdict.broken_at, Some(index as u64), "{what}");
        assert!(class.is_some_and(|class| classes.contains(&class)), "{what}: {class:?}");
    };
    for index in 0..honest.len() {
        for (name, classes) in [
            ("canonical", &[VerifyFailureClass::Hash][..]),
            ("hash", &[VerifyFailureClass::Hash, VerifyFailureClass::Malformed]),
            ("signature", &[VerifyFailureClass::Signature]),
            ("signed_by", &[VerifyFailureClass::UnknownSigner]),
        ] {
            let length = field(&mut honest[index].clone(), name).len();
            for at in 0..length {
                let mut records = honest[..=index].to_vec();
                let text = field(&mut records[index], name);
                if !text.is_char_boundary(at) || !text.is_char_boundary(at + 1) {
                    continue;
                }
                let changed = text.as_bytes()[at] ^ [1, 0x20, 4][at % 3];
                text.replace_range(at..=at, &char::from(changed & 0x7f).to_string());
                check(&records, classes, index, &format!("{name} byte {at} of record {index}"));
            }
        }
    }
}

fn field<'a>(stored: &'a mut StoredRecord, name: &str) -> &'a mut String {
    match name {
        "canonical" => &mut stored.canonical,
        "hash" => &mut stored.seal.hash,
        "signature" => &mut stored.seal.signature,
        _ => &mut stored.seal.signed_by,
    }
}

#[test]
fn messages_are_those_of_the_reference_tool() {
    for (tampering, index, message) in [
        (Tampering::Remove, 2, "sequence gap at 2"),
        (Tampering::SwapWithNext, 2, "sequence gap at 2"),
        (Tampering::WrongPrevious, 0, "genesis has previous_hash"),
        (Tampering::WrongPrevious, 3, "link broken at 3"),
        (Tampering::EditText, 1, "content hash mismatch at 1"),
        (Tampering::SignatureDigit, 4, "signature invalid at 4"),
        (Tampering::SignedBy, 4, "unknown signer at 4"),
        (Tampering::ColumnId, 1, "column `id` is not what was sealed at 1"),
    ] {
        let mut records = chain(5);
        tampering.apply(&mut records, index);
        assert_eq!(judge(&records, &STRICT).failure.unwrap().message, message);
    }
}

#[test]
fn a_moved_record_is_told_from_a_missing_one() {
    let mut records = chain(200);
    let moved = records.remove(3);
    assert_eq!(judge(&records, &STRICT).failure.unwrap().class, VerifyFailureClass::Missing);
    records.push(moved);
    let verdict = judge(&records, &STRICT);
    assert_eq!(verdict.failure.unwrap().class, VerifyFailureClass::Link);
    assert!(verdict.notes.iter().any(|note| note.contains("Record 3 is there")), "{:?}", verdict.notes);
    records.last_mut().unwrap().columns.as_mut().unwrap().sequence = 900;
    let verdict = judge(&records, &STRICT);
    assert_eq!((verdict.failure.unwrap().class, verdict.broken_at), (VerifyFailureClass::Column, Some(3)));
}

#[test]
fn a_checkpoint_is_where_verification_begins() {
    let records = chain(100);
    let since = |sequence: usize| VerifyOptions {
        since: Some(VerifiedCheckpoint {
            sequence: sequence as u64,
            hash: records[sequence].seal.hash.clone(),
        }),
        ..STRICT
    };
    let verdict = judge(&records[40..], &since(40));
    assert!(verdict.valid);
    assert_eq!((verdict.verified, verdict.length), (60, 100));
    let cut = judge(&[], &since(40));
    assert_eq!((cut.failure.unwrap().class, cut.broken_at), (VerifyFailureClass::Missing, Some(40)));
    let late = judge(&records[41..], &since(40));
    assert_eq!((late.failure.unwrap().class, late.broken_at), (VerifyFailureClass::Missing, Some(40)));
    let mut rebuilt = records[..40].to_vec();
    extend(&mut rebuilt, &Sealer::new(own()), 30);
    rebuilt.truncate(39);
    Tampering::WrongPrevious.apply(&mut rebuilt, 38);
    let other = VerifyOptions {
        since: Some(VerifiedCheckpoint { sequence: 38, hash: records[38].seal.hash.clone() }),
        ..STRICT
    };
    let verdict = judge(&rebuilt[38..], &other);
    assert_eq!((verdict.failure.unwrap().class, verdict.broken_at), (VerifyFailureClass::Hash, Some(38)));
}

#[test]
fn keys_are_told_apart_and_a_short_name_tries_them_all() {
    let mut records = chain(3);
    for stored in &mut records {
        stored.seal.signed_by = own().public().short_fingerprint();
    }
    assert!(judge(&records, &STRICT).valid);
    let mut keys = KeySet::default();
    keys.add(own().public(), KeyOrigin::Bundled);
    let verdict = verify(records.iter().cloned().map(Ok), &STRICT, &keys).unwrap();
    assert_eq!(verdict.signers[&own().public().fingerprint()].trust_label(), "bundled");
    let stranger_keys = KeySet::from_key(stranger().public());
    let verdict = verify(records.iter().cloned().map(Ok), &STRICT, &stranger_keys).unwrap();
    assert_eq!(verdict.failure.unwrap().class, VerifyFailureClass::UnknownSigner);
    assert_eq!(verdict.signers[&own().public().short_fingerprint()].trust_label(), "unknown");
    // A key of the same short name that did not sign is passed over.
    let twin = (0_u64..)
        .map(|n| {
            capsid_seal::SigningKey::from_seed(&std::array::from_fn(|i| n.to_le_bytes()[i % 8])).public()
        })
        .find(|key| key.short_fingerprint() == own().public().short_fingerprint() && *key != own().public());
    let mut both = keys.clone();
    both.add(twin.unwrap(), KeyOrigin::Known);
    for options in modes().into_iter().filter(|options| options.signatures) {
        let verdict = verify(records.iter().cloned().map(Ok), &options, &both).unwrap();
        assert!(verdict.valid, "{verdict:?}");
        assert_eq!(verdict.signers.keys().collect::<Vec<_>>(), [&own().public().fingerprint()]);
    }
}

#[test]
fn a_record_that_cannot_be_read_is_malformed_and_a_source_that_cannot_is_an_error() {
    let records = chain(200);
    for options in modes() {
        for index in [0, 100] {
            let with = |code: Code| {
                let bad = std::iter::once(Err(Problem::new(code, "The row is odd.")));
                let front = records[..index].iter().cloned().map(Ok);
                verify(front.chain(bad).chain(records[index..].iter().cloned().map(Ok)), &options, &keys())
            };
            let verdict = with(Code::ChainBroken).unwrap();
            assert_eq!(
                (verdict.failure.unwrap().class, verdict.broken_at),
                (VerifyFailureClass::Malformed, Some(index as u64))
            );
            assert_eq!(with(Code::IoError).unwrap_err().code, Code::IoError);
        }
        let mut broken = records.clone();
        Tampering::EditText.apply(&mut broken, 5);
        let end = std::iter::once(Err(Problem::new(Code::IoError, "The disk is gone.")));
        let verdict = verify(broken.into_iter().map(Ok).chain(end), &options, &keys()).unwrap();
        assert_eq!(verdict.broken_at, Some(5));
        assert!(verdict.notes.iter().any(|note| note.contains("The disk is gone")));
    }
}

#[test]
fn the_batch_mode_says_where_it_may_differ() {
    let verdict = judge(&chain(2), &VerifyOptions { batch: true, ..STRICT });
    assert_eq!(verdict.notes, [capsid_seal::verify::BATCH_NOTE]);
    assert!(judge(&chain(2), &STRICT).notes.is_empty());
    assert_eq!(judge(&chain(2), &VerifyOptions::default()).notes, ["Signatures were not checked."]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_tampering_anywhere_in_any_chain(
        length in 1_usize..70,
        which in 0..Tampering::ALL.len(),
        index in any::<prop::sample::Index>(),
    ) {
        let tampering = Tampering::ALL[which];
        let mut records = chain(length);
        let index = index.index(length);
        let expected = tampering.apply(&mut records, index);
        assert_verdict(&records, expected, &(tampering, index, length));
    }
}
