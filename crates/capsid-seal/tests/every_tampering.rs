//! Every change of a chain gets the right verdict at the right place, in the database and in the bundle.
//!
//! What no seal covers, and may change unseen: `signed_at`, `signature_pq` where no key is known for it, the number
//! of a row (`rowid_pk`), whether a column holds a text as text or as bytes, how many digits of the signer's key stand
//! in `signed_by` (16 or more), and the end of a chain. The last one shows in the meta-chain and in what a bundle says
//! about its chains. Nothing else passes.

use crate::peer;
use crate::scene::{Field, Finding, Scene};
#[allow(dead_code)]
use crate::store;
use crate::store::sealer;
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::meta::{self, ConversationStatus};
use capsid_seal::sources::open_any;
use capsid_seal::verify::VerifyFailureClass;
use capsid_seal::{ChainLink, RecordColumns, Sealer, SigningKey, StoredRecord, TrailHome};
use capsid_testkit::rounds::{rounds, size};
use fastrand::Rng;

/// One byte replaced, removed or put in, in a few ways.
fn edits(rng: &mut Rng, was: &[u8], at: usize) -> Vec<Vec<u8>> {
    let byte = was[at];
    let mut bits: Vec<u8> = (0..8).map(|bit| byte ^ (1 << bit)).collect();
    rng.shuffle(&mut bits);
    bits.truncate(size(1, 8));
    let other = byte.wrapping_add(rng.u8(1..));
    let put = |replaced: &[u8]| [&was[..at], replaced, &was[at + 1..]].concat();
    let mut edits: Vec<Vec<u8>> = bits.into_iter().chain([other]).map(|new| put(&[new])).collect();
    edits.extend([put(&[]), put(&[rng.u8(..), byte])]);
    edits.retain(|edit| edit != was);
    edits
}

/// What an edit of a record's field has to come to. `now` is what the field became.
fn expected(chain: &[StoredRecord], index: usize, field: Field, now: &[u8]) -> Finding {
    let at = |class| Finding::Broken(class, index as u64);
    match field {
        Field::Canonical => at(VerifyFailureClass::Hash),
        Field::Hash if now.len() == 64 && now.iter().all(u8::is_ascii_hexdigit) => {
            at(VerifyFailureClass::Hash)
        }
        Field::Hash => at(VerifyFailureClass::Malformed),
        Field::Signature => at(VerifyFailureClass::Signature),
        Field::SignedBy => match now.len() >= 16 && sealer().public().hex().as_bytes().starts_with(now) {
            true => Finding::Valid(chain.len() as u64),
            false => at(VerifyFailureClass::UnknownSigner),
        },
        Field::Id | Field::PreviousHash => at(VerifyFailureClass::Column),
        Field::Sequence => sequence_column(chain.len() as u64, index as u64, now),
        Field::SignedAt | Field::SignaturePq => Finding::Valid(chain.len() as u64),
    }
}

/// Records are read in the order of the column, so one with a smaller column is read too early.
fn sequence_column(length: u64, index: u64, now: &[u8]) -> Finding {
    let space = |c: char| c == '\u{b}' || c.is_ascii_whitespace();
    let number = std::str::from_utf8(now).ok().and_then(|text| text.trim_matches(space).parse::<f64>().ok());
    match number {
        Some(same) if same == index as f64 => Finding::Valid(length),
        Some(less) if less < index as f64 => {
            Finding::Broken(VerifyFailureClass::Column, if less < 0.0 { 0 } else { less as u64 + 1 })
        }
        _ => Finding::Broken(VerifyFailureClass::Column, index),
    }
}

/// Tries one edit in the database and in the bundle, one of them with signatures checked together.
fn try_edit(scene: &Scene, index: usize, field: Field, now: &[u8], batch: bool, seed: &str) {
    let right = expected(&scene.chain, index, field, now);
    let context = || format!("{seed} {field:?} of {index} is now {:?}", String::from_utf8_lossy(now));
    let finding = scene.with_field(index, field, now, || scene.judge_rows(batch));
    assert_eq!(finding, right, "in the database: {}", context());
    if field.in_bundle() {
        let finding = scene.judge_bundle_with(index, field, now, !batch);
        match std::str::from_utf8(now) {
            Ok(_) => assert_eq!(finding, right, "in the bundle: {}", context()),
            Err(_) => assert_eq!(finding, Finding::Unreadable, "JSON is UTF-8: {}", context()),
        }
    }
}

#[test]
fn every_byte_of_a_short_chain_counts() {
    let (mut rng, seed) = peer::seeded();
    let scene = Scene::new(5);
    for index in 0..5 {
        for field in Field::ALL {
            let was = field.bytes(&scene.chain[index]);
            for at in 0..was.len() {
                for now in edits(&mut rng, &was, at) {
                    try_edit(&scene, index, field, &now, rng.bool(), &seed);
                }
            }
        }
    }
}

#[test]
fn any_byte_of_a_long_chain_counts() {
    let (mut rng, seed) = peer::seeded();
    let scene = Scene::new(50);
    for _ in 0..rounds(500, 40_000) {
        let index = rng.usize(..50);
        let sizes = Field::ALL.map(|field| field.bytes(&scene.chain[index]).len());
        let mut at = rng.usize(..sizes.iter().sum::<usize>());
        let field = Field::ALL.into_iter().zip(sizes).find(|(_, size)| {
            let here = at < *size;
            at -= if here { 0 } else { *size };
            here
        });
        let field = field.unwrap().0;
        let was = field.bytes(&scene.chain[index]);
        let mut ways = edits(&mut rng, &was, at);
        let now = ways.swap_remove(rng.usize(..ways.len()));
        try_edit(&scene, index, field, &now, rng.bool(), &seed);
    }
}

#[test]
fn a_field_that_is_emptied_or_of_another_kind_is_noticed() {
    let scene = Scene::new(5);
    let fill = |column: &str, value: &str, index: usize| {
        scene.with_sql(index, column, value, || [false, true].map(|batch| scene.judge_database(batch)))
    };
    for index in 0..5 {
        let broken = |class| Finding::Broken(class, index as u64);
        for (column, value, class) in [
            ("canonical", "''", VerifyFailureClass::Hash),
            ("canonical", "x'00'", VerifyFailureClass::Hash),
            ("hash", "''", VerifyFailureClass::Malformed),
            ("hash", "upper(hash)", VerifyFailureClass::Hash),
            ("signature", "''", VerifyFailureClass::Signature),
            ("signature", "upper(signature)", VerifyFailureClass::Signature),
            ("signature", "7", VerifyFailureClass::Signature),
            ("signed_by", "''", VerifyFailureClass::UnknownSigner),
            ("signed_by", "upper(signed_by)", VerifyFailureClass::UnknownSigner),
            ("signed_by", "substr(signed_by, 1, 15)", VerifyFailureClass::UnknownSigner),
            ("id", "''", VerifyFailureClass::Column),
            ("id", "upper(id)", VerifyFailureClass::Column),
            ("previous_hash", "''", VerifyFailureClass::Column),
            ("previous_hash", "iif(sequence, NULL, hash)", VerifyFailureClass::Column),
        ] {
            let findings = fill(column, value, index);
            assert_eq!(findings, [broken(class), broken(class)], "{column} = {value} at {index}");
        }
        for (column, value) in [
            ("signed_at", "NULL"),
            ("signed_at", "'yesterday'"),
            ("signature_pq", "'5e'"),
            ("signature_pq", "x'ff'"),
            ("rowid_pk", "1000 - rowid_pk"),
            ("canonical", "CAST(canonical AS BLOB)"),
            ("hash", "CAST(hash AS BLOB)"),
        ] {
            let findings = fill(column, value, index);
            assert_eq!(findings, [Finding::Valid(5), Finding::Valid(5)], "{column} = {value} at {index}");
        }
        for batch in [false, true] {
            try_edit(&scene, index, Field::SignaturePq, b"5e", batch, "");
            try_edit(&scene, index, Field::SignedAt, b"", batch, "");
        }
        for (value, at) in [("-1", 0), ("10", index), ("'x'", index), ("x'30'", index), ("0.5", index.min(1))]
        {
            let column = Finding::Broken(VerifyFailureClass::Column, at as u64);
            assert_eq!(fill("sequence", value, index), [column; 2], "sequence = {value} at {index}");
        }
        // A record that was given to another tenant is missing here, and has no beginning there.
        let away = match index {
            4 => Finding::Valid(4),
            _ => broken(VerifyFailureClass::Missing),
        };
        assert_eq!(fill("tenant_id", "'elsewhere'", index), [away; 2]);
    }
}

/// What a list of records comes to, each given as the place it had.
fn order(indices: &[usize]) -> Finding {
    match indices.iter().enumerate().find(|(at, index)| at != *index) {
        None => Finding::Valid(indices.len() as u64),
        Some((at, index)) if index > &at && !indices.contains(&at) => {
            Finding::Broken(VerifyFailureClass::Missing, at as u64)
        }
        Some((at, _)) => Finding::Broken(VerifyFailureClass::Link, at as u64),
    }
}

#[test]
fn records_removed_moved_or_repeated_are_noticed() {
    let scene = Scene::new(5);
    let mut lists: Vec<Vec<usize>> = Vec::new();
    // Every choice of records that stay, every swap, and every record once more at every place.
    lists.extend((0_usize..32).map(|mask| (0..5).filter(|index| mask & (1 << index) != 0).collect()));
    for (a, b) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
        let mut swapped: Vec<usize> = (0..5).collect();
        swapped.swap(a, b);
        lists.push(swapped);
        let mut repeated: Vec<usize> = (0..5).collect();
        repeated.insert(b, a);
        lists.push(repeated);
    }
    lists.extend((0..5).map(|a| [0, 1, 2, 3, 4, a].to_vec()));
    for list in lists {
        let records: Vec<StoredRecord> = list.iter().map(|index| scene.chain[*index].clone()).collect();
        for batch in [false, true] {
            assert_eq!(scene.judge_bundle_of(&records, batch), order(&list), "bundle of {list:?}");
            // A table has no order but that of the column, so there only what is sorted shows as it is.
            let mut sorted = list.clone();
            sorted.sort_unstable();
            let finding = scene.with_rows(&records, || scene.judge_database(batch));
            assert_eq!(finding, order(&sorted), "rows {list:?}");
            let findings = [false, true].map(|relinked| {
                scene.with_rows(&renumbered(&records, relinked), || scene.judge_database(batch))
            });
            let right = match order(&list) {
                Finding::Broken(_, at) => Finding::Broken(VerifyFailureClass::Column, at),
                valid => valid,
            };
            assert_eq!(findings, [right, right], "columns numbered anew: {list:?}");
        }
    }
}

/// The same records with columns as if they were a chain.
fn renumbered(records: &[StoredRecord], relinked: bool) -> Vec<StoredRecord> {
    let mut previous: Option<String> = None;
    let reseal = |(sequence, stored): (i64, &StoredRecord)| {
        let mut stored = stored.clone();
        let columns = stored.columns.as_mut().unwrap();
        columns.sequence = sequence;
        if relinked {
            columns.previous_hash = previous.clone();
        }
        previous = Some(stored.seal.hash.clone());
        stored
    };
    (0..).zip(records).map(reseal).collect()
}

#[test]
fn an_end_that_was_cut_off_shows_outside_the_chain() {
    let scene = Scene::new(5);
    for length in 0..=5 {
        let records = &scene.chain[..length];
        let options = meta::MetaVerifyOptions { deep: true, signatures: true, pinned: None };
        let report = scene.with_rows(records, || {
            meta::verify_meta(&TrailHome::at(&scene.home), &scene.keys, &options).unwrap()
        });
        let status = match length {
            0 => ConversationStatus::Missing,
            5 => ConversationStatus::Intact,
            _ => ConversationStatus::Truncated,
        };
        assert_eq!(report.conversations[0].status, status, "{length} of 5");
        assert_eq!(report.is_ok(), length == 5);

        assert_eq!(scene.judge_bundle_of(records, false), Finding::Valid(length as u64));
        let source = &open_any(&scene.bundle).unwrap().chains[0];
        let head = records.last().map(|stored| stored.seal.hash.as_str());
        let contradiction = source.claim.as_ref().unwrap().contradiction(length as u64, head);
        assert_eq!(contradiction.is_none(), length == 5, "{contradiction:?}");
    }
}

/// A record with other content and hash. Its signature stays what it was.
fn rewritten(stored: &StoredRecord, from: &str, to: &str) -> StoredRecord {
    let mut stored = stored.clone();
    assert!(stored.canonical.contains(from));
    stored.canonical = stored.canonical.replace(from, to);
    stored.seal.hash = capsid_seal::hash::sha3_hex(stored.canonical.as_bytes());
    stored
}

/// The chain with record `index` edited and all that follows linked again.
fn rebuilt(chain: &[StoredRecord], index: usize) -> Vec<StoredRecord> {
    let mut chain = chain.to_vec();
    chain[index] = rewritten(&chain[index], "do k", "did k");
    for at in index + 1..chain.len() {
        let (old, new) = (chain[at].columns.clone().unwrap(), chain[at - 1].seal.hash.clone());
        chain[at] = rewritten(&chain[at], old.previous_hash.as_ref().unwrap(), &new);
        chain[at].columns = Some(RecordColumns { previous_hash: Some(new), ..old });
    }
    chain
}

fn signed(mut chain: Vec<StoredRecord>, from: usize, key: &SigningKey, name: &str) -> Vec<StoredRecord> {
    for stored in &mut chain[from..] {
        stored.seal.signature = key.sign(&stored.seal.hash);
        name.clone_into(&mut stored.seal.signed_by);
    }
    chain
}

/// The same finding in both stores and both modes.
fn judge_everywhere(scene: &Scene, records: &[StoredRecord]) -> Finding {
    let findings = [false, true].map(|batch| {
        let in_database = scene.with_rows(records, || scene.judge_database(batch));
        let in_bundle = scene.judge_bundle_of(records, batch);
        assert_eq!(in_database, in_bundle);
        in_database
    });
    assert_eq!(findings[0], findings[1]);
    findings[0]
}

#[test]
fn another_key_cannot_sign_in_the_place_of_the_right_one() {
    let mut scene = Scene::new(5);
    let foreign = SigningKey::from_seed(&[9; 32]);
    let (own_name, foreign_name) = (sealer().public().fingerprint(), foreign.public().fingerprint());
    for index in 0..5 {
        let at = |class| Finding::Broken(class, index as u64);
        let one = |name: &str| {
            let mut chain = scene.chain.clone();
            chain[index] = signed(vec![chain[index].clone()], 0, &foreign, name).remove(0);
            chain
        };
        assert_eq!(judge_everywhere(&scene, &one(&foreign_name)), at(VerifyFailureClass::UnknownSigner));
        assert_eq!(judge_everywhere(&scene, &one(&own_name)), at(VerifyFailureClass::Signature));
        let rebuilt = rebuilt(&scene.chain, index);
        assert_eq!(judge_everywhere(&scene, &rebuilt), at(VerifyFailureClass::Signature));
        let forged = signed(rebuilt.clone(), index, &foreign, &foreign_name);
        assert_eq!(judge_everywhere(&scene, &forged), at(VerifyFailureClass::UnknownSigner));
        let claimed = signed(rebuilt, index, &foreign, &own_name);
        assert_eq!(judge_everywhere(&scene, &claimed), at(VerifyFailureClass::Signature));

        let mut rehashed = scene.chain.clone();
        rehashed[index] = rewritten(&rehashed[index], "do k", "did k");
        assert_eq!(judge_everywhere(&scene, &rehashed), at(VerifyFailureClass::Signature));
        let unsigned = scene.with_rows(&rehashed, || scene.judge_hashes());
        let right = match index {
            4 => Finding::Valid(5),
            _ => Finding::Broken(VerifyFailureClass::Link, index as u64 + 1),
        };
        assert_eq!(unsigned, right, "without signatures only the next link shows it");
    }
    // A key that is known may sign; who did is in the verdict.
    scene.keys.add(foreign.public(), KeyOrigin::Known);
    let forged = signed(rebuilt(&scene.chain, 2), 2, &foreign, &foreign_name);
    assert_eq!(judge_everywhere(&scene, &forged), Finding::Valid(5));
    assert_eq!(scene.with_rows(&forged, || scene.signers()), [(own_name, 2), (foreign_name, 3)]);
}

#[test]
fn a_bundle_cannot_give_a_key_another_keys_name() {
    let mut scene = Scene::new(5);
    let foreign = SigningKey::from_seed(&[9; 32]);
    let own_name = sealer().public().fingerprint();
    let forged = signed(rebuilt(&scene.chain, 0), 0, &foreign, &own_name);
    let index = std::fs::read_to_string(scene.bundle.join("index.json")).unwrap();
    let swapped = index.replace(&sealer().public().hex(), &foreign.public().hex());
    std::fs::write(scene.bundle.join("index.json"), swapped).unwrap();
    scene.keys = KeySet::default();
    let sources = open_any(&scene.bundle).unwrap();
    assert!(sources.keys.is_empty() && sources.refused_keys.len() == 2, "{:?}", sources.refused_keys);
    let finding = scene.judge_bundle_of(&forged, false);
    assert_eq!(finding, Finding::Broken(VerifyFailureClass::UnknownSigner, 0));
}

#[test]
fn half_a_character_does_not_pass_for_the_one_that_stands_for_it() {
    let scene = Scene::new(5);
    let record = store::record("\u{fffd}");
    let first = sealer().seal(&record, &ChainLink::default(), store::NOW).unwrap();
    for (field, class) in
        [(Field::Canonical, VerifyFailureClass::Hash), (Field::Id, VerifyFailureClass::Column)]
    {
        let was = String::from_utf8(field.bytes(&first)).unwrap();
        let (before, after) = was.split_once('\u{fffd}').unwrap();
        for half in [&b"\xef\xbf"[..], b"\xff", b"\xef"] {
            let now = [before.as_bytes(), half, after.as_bytes()].concat();
            let finding = scene.with_rows(std::slice::from_ref(&first), || {
                scene.with_field(0, field, &now, || scene.judge_database(false))
            });
            assert_eq!(finding, Finding::Broken(class, 0), "{field:?} {half:?}");
        }
    }
}

#[test]
fn a_first_record_that_follows_another_is_noticed() {
    let scene = Scene::new(5);
    let link = ChainLink { sequence: 0, previous_hash: Some("0".repeat(64)) };
    let first = Sealer::seal(&sealer(), &store::record("k0000"), &link, store::NOW).unwrap();
    assert_eq!(judge_everywhere(&scene, &[first]), Finding::Broken(VerifyFailureClass::Link, 0));
}

#[test]
fn no_byte_of_a_bundles_file_changes_what_was_sealed() {
    let (mut rng, seed) = peer::seeded();
    let scene = Scene::new(12);
    let file = scene.chain_file();
    let bytes = std::fs::read(&file).unwrap();
    let mut held = 0;
    for round in 0..rounds(500, 40_000) {
        let at = rng.usize(..bytes.len());
        let mut now = bytes.clone();
        now[at] = if rng.bool() { now[at] ^ (1 << rng.u8(..8)) } else { now[at].wrapping_add(rng.u8(1..)) };
        std::fs::write(&file, &now).unwrap();
        if let Finding::Valid(length) = scene.judge_bundle(round % 2 == 0) {
            held += 1;
            assert_eq!(
                (length, scene.bundle_texts()),
                (12, scene.texts()),
                "{seed} byte {at} is {}",
                now[at]
            );
        }
    }
    assert!(held > 0, "{seed} what is not sealed may change");
}

#[test]
fn no_byte_of_a_database_file_changes_what_was_sealed() {
    let (mut rng, seed) = peer::seeded();
    let scene = Scene::new(20);
    let bytes = std::fs::read(&scene.database).unwrap();
    let options = meta::MetaVerifyOptions { deep: true, signatures: true, pinned: None };
    let (mut held, mut cut) = (0, 0);
    for round in 0..rounds(500, 10_000) {
        let at = rng.usize(..bytes.len());
        let mut now = bytes.clone();
        now[at] = if rng.bool() { now[at] ^ (1 << rng.u8(..8)) } else { now[at].wrapping_add(rng.u8(1..)) };
        std::fs::write(&scene.database, &now).unwrap();
        let Finding::Valid(length) = scene.judge_database(round % 2 == 0) else { continue };
        let texts = scene.database_texts();
        let context = || format!("{seed} byte {at} is {} and was {}", now[at], bytes[at]);
        assert!(scene.texts().starts_with(&texts) && texts.len() as u64 == length, "{}", context());
        held += usize::from(length == 20);
        if length < 20 {
            // The file's own index can lose its end too; that shows where any lost end shows.
            cut += 1;
            let report = meta::verify_meta(&TrailHome::at(&scene.home), &scene.keys, &options);
            assert!(report.is_err() || !report.unwrap().is_ok(), "{}", context());
        }
    }
    println!("{held} changes touched nothing that was sealed, {cut} cut the end off");
    assert!(held > 0, "{seed} free space and numbers of rows may change");
}
