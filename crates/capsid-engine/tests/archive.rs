//! Moving a store in an archive, and archives that no store should take.

use capsid_engine::archive::{ExistingFile, ManifestInput, export, open};
use capsid_engine::store::AssetStore;
use capsid_model::hash::sha256_hex;
use capsid_model::{Code, Object, Time, asset, json};
use flate2::{Compression, write::GzEncoder};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct ArchiveFixture {
    folder: TempDir,
    store: AssetStore,
}

impl ArchiveFixture {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = AssetStore::at(folder.path().join("assets"));
        Self { folder, store }
    }

    /// A store with a gene, a capsule, a report, an event and a line of memory.
    fn filled() -> Self {
        let fixture = Self::empty();
        fixture.store.create().unwrap();
        fixture.store.genes.upsert(&stamped(json!({"type": "Gene", "id": "g", "n": 1.0}))).unwrap();
        fixture.store.capsules.upsert(&stamped(json!({"type": "Capsule", "id": "c"}))).unwrap();
        let records = [
            stamped(json!({"type": "ValidationReport", "id": "vr_1"})),
            stamped(json!({"type": "EvolutionEvent", "id": "evt_1", "outcome": {"status": "success"}})),
        ];
        fixture.store.events.append(&records).unwrap();
        std::fs::write(fixture.graph(), "{\"id\":\"mge_1\"}\n").unwrap();
        fixture
    }

    fn graph(&self) -> PathBuf {
        self.folder.path().join("memory_graph.jsonl")
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("store.gepx")
    }

    fn export(&self, existing: ExistingFile) -> capsid_model::Result<Vec<String>> {
        let manifest = ManifestInput { now: Time(1_770_000_000_000), ..ManifestInput::default() };
        let folder = self.folder.path();
        export(&self.store, folder, folder, &self.archive(), &manifest, existing).map(|report| report.files)
    }

    fn import(&self, archive: &Path) -> capsid_model::Result<capsid_engine::archive::ImportReport> {
        open(archive)?.merge_into(&self.store, None)
    }

    fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let Ok(files) = std::fs::read_dir(&self.store.folder) else {
            return BTreeMap::new();
        };
        files.map(|f| f.unwrap().path()).map(|p| (p.clone(), std::fs::read(p).unwrap())).collect()
    }
}

fn stamped(value: capsid_model::Value) -> Object {
    let capsid_model::Value::Object(mut object) = value else {
        panic!("an asset is an object");
    };
    asset::stamp(&mut object);
    object
}

/// An archive of the given files, with their checksums.
fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut all = vec![("manifest.json", r#"{"gep_version":"1.0.0"}"#)];
    all.extend_from_slice(files);
    let sums: String =
        all.iter().map(|(name, content)| format!("{}  {name}\n", sha256_hex(content.as_bytes()))).collect();
    all.push(("checksum.sha256", &sums));
    raw(|tar| {
        for (name, content) in &all {
            add(tar, name, tar::EntryType::Regular, content.len() as u64, content.as_bytes());
        }
    })
}

fn raw(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut tar = Vec::new();
    fill(&mut tar);
    tar.extend([0; 1024]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&tar).unwrap();
    gzip.finish().unwrap()
}

/// Writes a header by hand, since a builder refuses the names that are tried here.
fn add(tar: &mut Vec<u8>, name: &str, kind: tar::EntryType, size: u64, content: &[u8]) {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    if kind.is_symlink() || kind.is_hard_link() {
        header.set_link_name("/etc/passwd").unwrap();
    }
    header.set_cksum();
    tar.extend(header.as_bytes());
    tar.extend(content);
    tar.resize(tar.len().next_multiple_of(512), 0);
}

/// A store that is not there yet and one that is: neither may change.
fn fixtures() -> [ArchiveFixture; 2] {
    [ArchiveFixture::empty(), ArchiveFixture::filled()]
}

fn assert_refused(fixtures: &[ArchiveFixture], bytes: &[u8], reason: &str) {
    for fixture in fixtures {
        let path = fixture.folder.path().join("bad.gepx");
        std::fs::write(&path, bytes).unwrap();
        let before = fixture.contents();
        let problem = fixture.import(&path).expect_err(reason);
        assert_eq!(problem.code, Code::ArchiveInvalid, "{reason}: {}", problem.message);
        assert_eq!(fixture.contents(), before, "{reason}");
    }
}

#[test]
fn a_store_comes_out_of_its_archive_as_it_went_in() {
    let from = ArchiveFixture::filled();
    let files = from.export(ExistingFile::Keep).unwrap();
    assert_eq!(
        files,
        [
            "manifest.json",
            "genes/genes.json",
            "genes/genes.jsonl",
            "capsules/capsules.json",
            "events/events.jsonl",
            "memory/memory_graph.jsonl",
            "checksum.sha256"
        ]
    );
    let to = ArchiveFixture::empty();
    let graph = to.graph();
    let content = open(&from.archive()).unwrap();
    let report = content.merge_into(&to.store, Some(&graph)).unwrap();
    assert_eq!((report.genes.added, report.capsules.added, report.events.added), (1, 1, 2));
    assert_eq!(report.memory.unwrap().added, 1);
    assert_eq!(content.manifest()["statistics"]["total_events"], 1);
    assert_eq!(content.manifest()["statistics"]["success_rate"], 1.0);
    let events = |fixture: &ArchiveFixture| std::fs::read(fixture.store.events.path()).unwrap();
    assert_eq!(events(&to), events(&from));
    for text in to.store.genes.texts().unwrap() {
        assert!(asset::verify_text(&text).unwrap().holds());
    }

    let before = to.contents();
    let again = to.import(&from.archive()).unwrap();
    assert_eq!((again.genes.unchanged, again.capsules.unchanged, again.events.unchanged), (1, 1, 2));
    assert_eq!((again.genes.added, again.events.added, again.memory), (0, 0, None));
    assert_eq!(to.contents(), before);
}

#[test]
fn an_archive_is_only_replaced_by_force() {
    let fixture = ArchiveFixture::filled();
    std::fs::write(fixture.archive(), "mine").unwrap();
    assert_eq!(fixture.export(ExistingFile::Keep).unwrap_err().code, Code::InputInvalid);
    assert_eq!(std::fs::read(fixture.archive()).unwrap(), b"mine");
    fixture.export(ExistingFile::Replace).unwrap();
    assert!(ArchiveFixture::empty().import(&fixture.archive()).is_ok());
    assert_eq!(ArchiveFixture::empty().export(ExistingFile::Keep).unwrap_err().code, Code::NotInitialised);
}

#[test]
fn local_assets_win_and_forged_ones_are_left_out() {
    let fixture = ArchiveFixture::filled();
    let genes = r#"{"genes":[
        {"type":"Gene","id":"g","other":true},
        {"type":"Gene","id":"forged","asset_id":"sha256:00"},
        {"type":"Capsule","id":"misplaced"},
        {"type":"Gene"}, 7,
        {"type":"Gene","id":"plain","odd":"\ud83d"}]}"#;
    let events = "{\"id\":\"evt_2\"}\nnot json\n{\"id\":\"evt_1\"}\n{\"id\":\"evt_3\",\"asset_id\":\"sha256:00\"}\n{\"id\":\"evt_2\"}\n{\"id\":\"evt_4\"}\n";
    let path = fixture.folder.path().join("other.gepx");
    std::fs::write(&path, packed(&[("genes/genes.json", genes), ("events/events.jsonl", events)])).unwrap();
    let report = fixture.import(&path).unwrap();
    let genes = &report.genes;
    assert_eq!((genes.added, genes.conflicts, genes.refused), (1, 1, 4), "{:?}", genes.notes);
    assert!(genes.notes[0].starts_with("`g` differs"), "{:?}", genes.notes);
    assert!(!fixture.store.genes.find("g").unwrap().unwrap().contains_key("other"));
    let texts = fixture.store.genes.texts().unwrap();
    assert!(texts.iter().any(|text| text.contains("\\ud83d")), "odd texts stay exact");
    let events = &report.events;
    assert_eq!((events.added, events.unchanged, events.refused), (2, 2, 2), "{:?}", events.notes);
    let log = std::fs::read_to_string(fixture.store.events.path()).unwrap();
    assert!(log.ends_with("{\"id\":\"evt_2\"}\n{\"id\":\"evt_4\"}\n"), "{log}");
}

#[test]
fn names_that_lead_elsewhere_and_links_are_refused() {
    let fixtures = fixtures();
    use tar::EntryType as Kind;
    for name in ["../genes.json", "/etc/passwd", "genes/../../x", "genes/genes.json/..", "x", "a\u{1b}b"] {
        assert_refused(&fixtures, &raw(|tar| add(tar, name, Kind::Regular, 1, b"x")), name);
    }
    for kind in [Kind::Symlink, Kind::Link, Kind::Fifo, Kind::Char, Kind::GNULongName, Kind::GNUSparse] {
        let bytes = raw(|tar| add(tar, "genes/genes.json", kind, 0, b""));
        assert_refused(&fixtures, &bytes, &format!("{kind:?}"));
    }
    assert_refused(&fixtures, &raw(|tar| add(tar, "..", Kind::Directory, 0, b"")), "a folder above");
}

#[test]
fn archives_beyond_all_measure_are_refused_before_they_are_read() {
    let fixtures = fixtures();
    use tar::EntryType as Kind;
    let huge = |name: &'static str| raw(move |tar| add(tar, name, Kind::Regular, 5 << 30, b""));
    assert_refused(&fixtures, &huge("events/events.jsonl"), "5 GiB of events");
    assert_refused(&fixtures, &raw(|tar| add(tar, "x", Kind::XHeader, 5 << 30, b"")), "5 GiB of extension");
    assert_refused(
        &fixtures,
        &raw(|tar| add(tar, "genes/genes.json", Kind::Regular, 1 << 30, b"")),
        "1 GiB of genes",
    );
    let many = raw(|tar| (0..1000).for_each(|_| add(tar, "genes/", Kind::Directory, 0, b"")));
    assert_refused(&fixtures, &many, "a thousand folders");
    let twice = raw(|tar| (0..2).for_each(|_| add(tar, "genes/genes.json", Kind::Regular, 0, b"")));
    assert_refused(&fixtures, &twice, "a name twice");
    let tail = raw(|tar| tar.resize(8 << 20, 0));
    assert_refused(&fixtures, &tail, "padding without end");
}

#[test]
fn what_does_not_match_its_checksum_or_has_none_is_refused() {
    let fixtures = fixtures();
    use tar::EntryType as Kind;
    let manifest = br#"{"gep_version":"1.0.0"}"#;
    let with = |sums: &str, genes: Option<&[u8]>| {
        raw(|tar| {
            add(tar, "manifest.json", Kind::Regular, manifest.len() as u64, manifest);
            if let Some(genes) = genes {
                add(tar, "genes/genes.json", Kind::Regular, genes.len() as u64, genes);
            }
            add(tar, "checksum.sha256", Kind::Regular, sums.len() as u64, sums.as_bytes());
        })
    };
    let sum = format!("{}  genes/genes.json\n", sha256_hex(b"{}"));
    assert_refused(&fixtures, &with(&sum, Some(b"{ }")), "other content");
    assert_refused(&fixtures, &with("", Some(b"{}")), "no checksum");
    assert_refused(&fixtures, &with(&sum, None), "a file that is not there");
    assert_refused(&fixtures, &with("rubbish\n", Some(b"{}")), "checksums that are none");
    assert_refused(&fixtures, &packed(&[("genes/genes.json", "[]")]), "no list of genes");
    assert_refused(&fixtures, &raw(|_| {}), "nothing");
    let future = r#"{"gep_version":"9.0.0"}"#;
    let bytes = raw(|tar| {
        add(tar, "manifest.json", Kind::Regular, future.len() as u64, future.as_bytes());
        add(tar, "checksum.sha256", Kind::Regular, 0, b"");
    });
    assert_refused(&fixtures, &bytes, "a version to come");
}

#[test]
fn an_archive_cut_or_changed_anywhere_is_refused() {
    let fixtures = fixtures();
    let fixture = ArchiveFixture::filled();
    fixture.export(ExistingFile::Keep).unwrap();
    let bytes = std::fs::read(fixture.archive()).unwrap();
    for end in (0..bytes.len()).step_by(bytes.len() / 40).chain([bytes.len() - 1]) {
        assert_refused(&fixtures, &bytes[..end], &format!("cut at {end} of {}", bytes.len()));
    }
    for at in (10..bytes.len()).step_by(bytes.len() / 40) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert_refused(&fixtures, &changed, &format!("changed at {at}"));
    }
    assert_refused(&fixtures, b"not an archive", "another file");
}

#[test]
fn archives_of_common_tools_are_read_too() {
    use tar::EntryType as Kind;
    let genes = r#"{"genes":[{"type":"Gene","id":"g"}]}"#;
    let sums = format!("{}  genes/genes.json\n", sha256_hex(genes.as_bytes()));
    let bytes = raw(|tar| {
        add(tar, "./", Kind::Directory, 0, b"");
        add(tar, "./PaxHeader", Kind::XHeader, 12, b"12 mtime=1.5");
        add(tar, "./genes/", Kind::Directory, 0, b"");
        add(tar, "./genes/genes.json", Kind::Regular, genes.len() as u64, genes.as_bytes());
        add(tar, "./checksum.sha256", Kind::Regular, sums.len() as u64, sums.as_bytes());
        add(tar, "./manifest.json", Kind::Regular, 23, br#"{"gep_version":"1.0.0"}"#);
    });
    let fixture = ArchiveFixture::empty();
    let path = fixture.folder.path().join("other.gepx");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(fixture.import(&path).unwrap().genes.added, 1);
}
