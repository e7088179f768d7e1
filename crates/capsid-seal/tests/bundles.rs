//! The export bundle: what is written, to the byte, and what is believed of one that comes from elsewhere.

use crate::store::*;
use capsid_model::exact::{ExactJson, indented, parse, spaced};
use capsid_seal::bundle::{BundleExport, ChainClaim, ChainFacts, HeadSigner, OwnHeads, write};
use capsid_seal::chain::ChainWriter;
use capsid_seal::sources::{ChainSource, SourceKind, open_any};
use capsid_seal::{PublicKey, SigningKey};
use std::path::Path;

fn export(home: &Path, out: &Path, known: &[PublicKey]) -> capsid_seal::bundle::WrittenBundle {
    let sources = open_any(home).unwrap();
    let own = Some(sealer().public());
    write(
        out,
        &BundleExport {
            chains: &sources.chains,
            own,
            known,
            generated_at: "2026-02-07T16:20:54+01:00",
            heads: None,
        },
    )
    .unwrap()
}

fn json(path: &Path) -> ExactJson {
    parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_bundle_of_a_home_is_written_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("home"), folder.path().join("out"));
    home(&root, &[("codex", "s1", 3), ("cline", "s2", 5)]);
    std::fs::write(root.join("chains/cline/empty.db"), "").unwrap();
    std::fs::write(root.join("chains/cline/bad.db"), "x").unwrap();
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("mine.txt"), "keep me").unwrap();
    let other = SigningKey::from_seed(&[7; 32]).public();
    let written = export(&root, &out, &[other]);
    assert_eq!((written.chains, written.records, written.left_out.len()), (2, 8, 1));
    let files = ["cline-s2.json", "codex-s1.json", "index.json", "meta.json", "mine.txt"];
    assert_eq!(files_in(&out), files, "an empty chain is left out, and nothing else is touched");

    let text = std::fs::read_to_string(out.join("index.json")).unwrap();
    let index = parse(&text).unwrap();
    assert_eq!(text, indented(&index), "indented, non-ASCII as it is, no line break at the end");
    let names: Vec<&String> = index.as_object().unwrap().keys().collect();
    let expected = [
        "generated_at",
        "public_key",
        "fingerprint",
        "keys",
        "chain_count",
        "capsule_count",
        "meta",
        "chains",
    ];
    assert_eq!(names, expected);
    let listed = index.get("chains").unwrap().as_array().unwrap();
    assert_eq!(
        listed[0].text("id"),
        Some("cline-s2"),
        "of two that ended together the longer one comes first"
    );
    assert_eq!(listed[0].text("title"), Some("do k0000 ü🍐"));
    let keys: Vec<&String> = index.get("keys").unwrap().as_object().unwrap().keys().collect();
    assert_eq!(keys, [&other.fingerprint(), &sealer().public().fingerprint()]);

    let text = std::fs::read_to_string(out.join("codex-s1.json")).unwrap();
    let file = parse(&text).unwrap();
    assert_eq!(text, spaced(&file));
    let names: Vec<&String> = file.as_object().unwrap().keys().collect();
    let expected = [
        "id",
        "tool",
        "title",
        "length",
        "head_hash",
        "genesis_hash",
        "all_hashes_ok",
        "signed_by",
        "started_at",
        "ended_at",
        "capsules",
    ];
    assert_eq!(names, expected, "no path of this machine");
    assert!(!text.contains(&folder.path().to_string_lossy().into_owned()));
    let record = &file.get("capsules").unwrap().as_array().unwrap()[0];
    let names: Vec<&String> = record.as_object().unwrap().keys().collect();
    assert_eq!(names, ["hash", "signature", "signature_pq", "signed_at", "signed_by", "canonical"]);

    let sources = open_any(&out).unwrap();
    assert_eq!((sources.kind, sources.chains.len(), sources.keys.len()), (SourceKind::Bundle, 3, 2));
    assert!(sources.contradictions.is_empty() && sources.refused_keys.is_empty());
    for chain in &sources.chains {
        let verdict = verify(chain);
        assert!(verdict.valid, "{verdict:?}");
        let claim = chain.claim.as_ref().unwrap();
        let mut facts = ChainFacts::default();
        chain.records().unwrap().for_each(|stored| facts.record(&stored.unwrap().seal));
        assert_eq!((facts.length, &facts.head_hash), (verdict.length, &verdict.head));
        assert_eq!(claim.contradicted_by(&facts), None);
        for wrong in wrong_claims(claim) {
            assert!(wrong.contradicted_by(&facts).is_some(), "{wrong:?}");
        }
    }
    assert_eq!(sources.chains[1].session.as_deref(), Some("s1"));
    assert!(sources.chains[2].is_meta);
}

#[test]
fn the_sample_home_gives_the_sample_bundle_where_present() {
    let Some(sample) = shared("vectors/sealed") else { return };
    let folder = tempfile::tempdir().unwrap();
    let known = capsid_seal::keys::known::load(&sample.join("home-sample")).unwrap().keys;
    let sources = open_any(&sample.join("home-sample")).unwrap();
    let own = Some(sealer().public());
    let at = "2026-06-06T00:00:00+00:00";
    write(
        folder.path(),
        &BundleExport { chains: &sources.chains, own, known: &known, generated_at: at, heads: None },
    )
    .unwrap();
    let text = |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in files_in(&sample.join("bundle-sample")) {
        let theirs = text(&sample.join("bundle-sample"), &name);
        let mut expected = parse(&theirs).unwrap();
        if let ExactJson::Object(fields) = &mut expected {
            fields.shift_remove("db_path");
        }
        let expected = if name == "index.json" { indented(&expected) } else { spaced(&expected) };
        assert_eq!(text(folder.path(), &name), expected, "{name}");
    }
}

#[test]
fn tenants_and_odd_sessions_get_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("shared.db"), folder.path().join("out"));
    let mut writer = ChainWriter::open(&path).unwrap();
    let odd = ["../../x", "a/b", "a\\b", "con", "a\nb", "..", "plain", "PLAIN", ""];
    for tenant in odd {
        append(&mut writer, Some(tenant), &["a", "b"]).unwrap();
    }
    drop(writer);
    assert_eq!(export(&path, &out, &[]).chains, odd.len());
    assert_eq!(files_in(folder.path()), ["out", "shared.db"], "nothing outside the folder");
    assert_eq!(files_in(&out).len(), odd.len() + 1);
    let sources = open_any(&out).unwrap();
    assert!(sources.chains.iter().all(|chain| verify(chain).verified == 2));
}

#[test]
fn an_older_bundle_reads_too() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("home"), folder.path().join("out"));
    home(&root, &[("codex", "s1", 3)]);
    export(&root, &out, &[]);
    let ExactJson::Object(mut index) = json(&out.join("index.json")) else { panic!() };
    index.retain(|name, _| name != "keys" && name != "meta");
    index.insert("tools".into(), vec!["codex"].into());
    std::fs::write(out.join("index.json"), spaced(&ExactJson::Object(index))).unwrap();
    std::fs::remove_file(out.join("meta.json")).unwrap();
    let sources = open_any(&out.join("index.json")).unwrap();
    assert_eq!((sources.chains.len(), sources.keys.len()), (1, 1));
    assert_eq!(verify(&sources.chains[0]).verified, 3);
}

#[test]
fn a_bundle_is_not_believed_where_it_contradicts_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("home"), folder.path().join("out"));
    home(&root, &[("codex", "s1", 3), ("codex", "s2", 2)]);
    export(&root, &out, &[]);
    let ExactJson::Object(index) = json(&out.join("index.json")) else { panic!() };
    let own = sealer().public().hex();
    let edited = |edit: &dyn Fn(&mut capsid_model::exact::ExactFields)| {
        let mut index = index.clone();
        edit(&mut index);
        std::fs::write(out.join("index.json"), spaced(&ExactJson::Object(index))).unwrap();
        open_any(&out).unwrap()
    };

    let swapped = edited(&|index| {
        index
            .insert("keys".into(), parse(&format!("{{\"ffffffffffffffff\": \"{own}\", \"x\": 3}}")).unwrap());
    });
    assert_eq!((swapped.keys.len(), swapped.refused_keys.len()), (1, 2));
    let counted = edited(&|index| {
        index.insert("chain_count".into(), 3_i64.into());
        index.insert("capsule_count".into(), 6_i64.into());
    });
    assert_eq!(counted.contradictions.len(), 2);
    let outside = edited(&|index| {
        let entry =
            parse("{\"id\": \"../home/chains/codex/s1\", \"tool\": \"codex\", \"length\": 3}").unwrap();
        index.insert("chains".into(), ExactJson::Array(vec![entry, ExactJson::Null]));
    });
    assert!(outside.chains[..2].iter().all(|chain| chain.records().is_err() && !chain.is_missing()));

    std::fs::remove_file(out.join("codex-s1.json")).unwrap();
    std::fs::remove_file(out.join("meta.json")).unwrap();
    let lost = edited(&|_| ());
    let missing: Vec<bool> = lost.chains.iter().map(capsid_seal::sources::ChainSource::is_missing).collect();
    assert_eq!(missing, [true, false, true]);
    assert_eq!(lost.chains[0].records().unwrap_err().code, capsid_model::Code::FileNotFound);

    let ExactJson::Object(mut file) = json(&out.join("codex-s2.json")) else { panic!() };
    let Some(ExactJson::Array(records)) = file.get_mut("capsules") else { panic!() };
    records.pop();
    std::fs::write(out.join("codex-s2.json"), spaced(&ExactJson::Object(file))).unwrap();
    let cut = edited(&|_| ());
    let verdict = verify(&cut.chains[1]);
    assert!(verdict.valid, "the records alone cannot show it");
    let claim = cut.chains[1].claim.as_ref().unwrap();
    assert!(claim.contradiction(verdict.length, verdict.head.as_deref()).is_some());
}

#[test]
fn an_index_that_is_none_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    for bad in ["", "[]", "{", "{\"chains\": 3}", "null"] {
        std::fs::write(folder.path().join("index.json"), bad).unwrap();
        assert_eq!(open_any(folder.path()).unwrap_err().code, capsid_model::Code::ChainUnreadable, "{bad}");
    }
}

/// The claim with each of its members changed, one at a time.
fn wrong_claims(claim: &ChainClaim) -> Vec<ChainClaim> {
    let text = |value: &Option<String>| value.as_ref().map(|_| "something else".to_owned());
    let mut wrong = vec![
        ChainClaim { length: claim.length.map(|length| length + 1), ..claim.clone() },
        ChainClaim { head_hash: text(&claim.head_hash), ..claim.clone() },
        ChainClaim { genesis_hash: text(&claim.genesis_hash), ..claim.clone() },
        ChainClaim { all_hashes_ok: claim.all_hashes_ok.map(|_| false), ..claim.clone() },
        ChainClaim { signed_by: claim.signed_by.as_ref().map(|_| ["x".to_owned()].into()), ..claim.clone() },
        ChainClaim { started_at: text(&claim.started_at), ..claim.clone() },
        ChainClaim { ended_at: text(&claim.ended_at), ..claim.clone() },
    ];
    wrong.retain(|wrong| wrong != claim);
    assert!(wrong.len() >= 3, "{claim:?}");
    wrong
}

#[test]
fn heads_and_meta_of_an_earlier_export_do_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().join("home"), folder.path().join("out"));
    home(&root, &[("codex", "s1", 3), ("cline", "s2", 5)]);
    let mut chains = open_any(&root).unwrap().chains;
    let key = SigningKey::from_seed(&std::array::from_fn(|i| i as u8));
    let heads = OwnHeads { key, time: "2026-02-07T15:20:54Z".to_owned() };
    let own = Some(sealer().public());
    let write_chains = |chains: &[ChainSource], heads: Option<&dyn HeadSigner>| {
        let export =
            BundleExport { chains, own, known: &[], generated_at: "2026-02-07T16:20:54+01:00", heads };
        write(&out, &export).unwrap();
        files_in(&out)
    };
    let all = ["cline-s2.json", "codex-s1.json", "heads.json", "index.json", "meta.json"];
    assert_eq!(write_chains(&chains, Some(&heads)), all);
    chains.retain(|chain| chain.session.as_deref() == Some("s1"));
    assert_eq!(
        write_chains(&chains, Some(&heads)),
        ["cline-s2.json", "codex-s1.json", "heads.json", "index.json"]
    );
    assert_eq!(write_chains(&chains, None), ["cline-s2.json", "codex-s1.json", "index.json"]);
    // A file of that name that no export wrote stays.
    std::fs::write(out.join("meta.json"), "{\"mine\": true}").unwrap();
    assert!(write_chains(&chains, None).contains(&"meta.json".to_owned()));
}
