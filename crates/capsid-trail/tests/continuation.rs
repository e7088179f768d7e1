//! A hook loses nothing: where a chain must not go on, the session is sealed into the next one.

use capsid_model::exact::{ExactJson, parse};
use capsid_model::{Code, Time};
use capsid_seal::chain::{ChainReader, ChainWriter};
use capsid_seal::{Sealer, SigningKey, StoredRecord, TrailHome};
use capsid_testkit::transcript;
use capsid_trail::continuation::HookSeal;
use capsid_trail::session_sealer::{ChainPath, SessionSealer};
use capsid_transcript::session_paths::source_of;
use capsid_transcript::{Tool, TranscriptSource};
use std::path::Path;

const SESSION: &str = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";

struct HookedHome {
    folder: tempfile::TempDir,
    home: TrailHome,
    sealer: Sealer,
}

impl HookedHome {
    fn new(seed: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = TrailHome::at(folder.path().join("trail"));
        Self { folder, home, sealer: Sealer::new(SigningKey::from_seed(&[seed; 32])) }
    }

    fn source(&self, turns: usize) -> TranscriptSource {
        let path = self.folder.path().join(format!("{SESSION}.jsonl"));
        std::fs::write(&path, transcript::claude_code(SESSION, turns)).unwrap();
        source_of(Tool::ClaudeCode, &path, SESSION).unwrap()
    }

    fn hook(&self, turns: usize) -> HookSeal {
        let new_id = capsid_trail::new_id;
        let session_sealer = SessionSealer {
            home: &self.home,
            sealer: &self.sealer,
            clock: &Time(0),
            new_id: &new_id,
            redact: true,
        };
        let sealed = session_sealer.seal_or_divert(&self.source(turns), true).unwrap();
        session_sealer.finish("claude-code", &sealed.session).unwrap();
        sealed
    }

    fn chain(&self, session: &str) -> ChainPath {
        ChainPath::resolve(&self.home, "claude-code", session).unwrap()
    }

    fn records(&self, session: &str) -> Vec<StoredRecord> {
        let reader = ChainReader::open(&self.chain(session).database).unwrap();
        reader.records(None).map(Result::unwrap).collect()
    }
}

fn carry(from: &HookedHome, to: &Path) {
    let records = from.records(SESSION).into_iter().map(Ok);
    ChainWriter::open(to).unwrap().import(None, records).unwrap();
}

#[test]
fn a_hook_that_meets_a_strangers_chain_seals_the_whole_session_into_the_next_one() {
    let (stranger, desk) = (HookedHome::new(1), HookedHome::new(2));
    stranger.hook(1);
    let foreign = desk.chain(SESSION).database;
    carry(&stranger, &foreign);
    let before = desk.records(SESSION);
    let sealed = desk.hook(2);
    assert_eq!(sealed.session, format!("{SESSION}+1"));
    assert_eq!(sealed.diverted.unwrap().code, Code::ChainNotOwn);
    assert_eq!(desk.records(SESSION), before, "the stranger's chain stays as it is");

    let records = desk.records(&sealed.session);
    let contents: Vec<ExactJson> = records.iter().map(|one| parse(&one.canonical).unwrap()).collect();
    let continues = contents[0].at(&["context", "environment", "continues"]).unwrap();
    assert_eq!(continues.text("session"), Some(SESSION));
    assert_eq!(continues.text("head"), Some(before.last().unwrap().seal.hash.as_str()));
    assert_eq!(continues.get("count").and_then(ExactJson::as_i64), Some(before.len() as i64));
    assert_eq!(continues.text("reason"), Some("chain_not_own"));
    for content in &contents {
        let session = content.at(&["context", "session_id"]).and_then(ExactJson::as_str);
        assert_eq!(session, Some(sealed.session.as_str()), "a record names the chain it is in");
    }
    let own = HookedHome::new(2);
    own.hook(2);
    assert_eq!(records.len(), own.records(SESSION).len(), "nothing is lost");

    // The session goes on there, and the note stands once.
    let again = desk.hook(3);
    assert_eq!((again.session, again.diverted), (sealed.session.clone(), None));
    let notes = desk.records(&sealed.session);
    assert!(notes.len() > records.len());
    assert_eq!(notes.iter().filter(|one| one.canonical.contains("\"continues\"")).count(), 1);
}

#[test]
fn a_hook_that_meets_a_broken_chain_and_then_another_goes_on_behind_both() {
    let desk = HookedHome::new(1);
    desk.hook(1);
    let spoil = |session: &str| {
        let file = desk.chain(session).database;
        std::fs::write(&file, "no database").unwrap();
    };
    for (spoilt, next) in [(SESSION.to_owned(), "+1"), (format!("{SESSION}+1"), "+2")] {
        spoil(&spoilt);
        let sealed = desk.hook(1);
        assert_eq!(sealed.session, format!("{SESSION}{next}"));
        assert_eq!(sealed.diverted.unwrap().code, Code::ChainUnreadable);
        let first = desk.records(&sealed.session).remove(0).canonical;
        let continues = format!(
            r#""continues":{{"count":0,"head":null,"reason":"chain_unreadable","session":"{spoilt}"}}"#
        );
        assert!(first.contains(&continues), "{first}");
    }
}
