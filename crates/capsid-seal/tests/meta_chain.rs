//! The meta-chain: every conversation is intact, grown, truncated, altered, missing or unsealed.

use crate::store::*;
use capsid_seal::TrailHome;
use capsid_seal::chain::{ChainReader, ChainWriter, PendingRecord, checkpoint_of};
use capsid_seal::meta::{
    Conversation, ConversationStatus, MetaReport, MetaVerifyOptions, PinResult, PinnedHead, SharedChain,
    record_conversation, recorded, verify_meta,
};
use std::path::Path;

fn report(home: &Path, deep: bool, pinned: Option<PinnedHead>) -> MetaReport {
    verify_meta(&TrailHome::at(home), &keys(), &MetaVerifyOptions { signatures: true, deep, pinned }).unwrap()
}

/// The home with one database for all sessions.
fn sharing(root: &Path, db: &Path) -> TrailHome {
    let text = |path: &Path| Some(path.to_string_lossy().into_owned());
    let env = |name: &str| match name {
        "AGENT_CAPSULE_HOME" => text(root),
        "AGENT_CAPSULE_DB" => text(db),
        _ => None,
    };
    TrailHome::find(None, &env).unwrap()
}

fn statuses(report: &MetaReport) -> Vec<(&str, ConversationStatus)> {
    report.conversations.iter().map(|checked| (checked.session.as_str(), checked.status)).collect()
}

fn edit(path: &Path, sql: &str) {
    assert!(rusqlite::Connection::open(path).unwrap().execute(sql, []).unwrap() > 0, "{sql}");
}

#[test]
fn a_conversation_is_recorded_once_for_each_state() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    chain(&root.join("chains/codex/s.db"), 3);
    let first = record_in_meta(root, "codex", "s");
    assert_eq!((first.recorded, first.length), (true, 1));
    let again = record_in_meta(root, "codex", "s");
    assert_eq!((again.recorded, again.length, &again.head), (false, 1, &first.head));
    chain(&root.join("chains/codex/s.db"), 4);
    assert_eq!(statuses(&report(root, true, None)), [("s", ConversationStatus::Grown)]);
    assert_eq!(record_in_meta(root, "codex", "s").length, 2);
    assert_eq!(statuses(&report(root, true, None)), [("s", ConversationStatus::Intact)]);
    let keys = ChainReader::open(&root.join("meta.db")).unwrap().keys(None).unwrap();
    assert_eq!(keys.len(), 2);
    let listed: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    let expected = format!("{{\"done\": [{}]}}", listed.join(", "));
    assert_eq!(std::fs::read_to_string(checkpoint_of(&root.join("meta.db"))).unwrap(), expected);
}

#[test]
fn the_last_word_on_one_conversation_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    assert_eq!(recorded(root, "codex", "s").unwrap(), None);
    for (session, length) in [("s", 3), ("s", 4), ("other", 2)] {
        chain(&root.join(format!("chains/codex/{session}.db")), length);
        record_in_meta(root, "codex", session);
    }
    let head = ChainReader::open(&root.join("chains/codex/s.db")).unwrap().head(None).unwrap().unwrap();
    assert_eq!(recorded(root, "codex", "s").unwrap(), Some((4, head.seal.hash)));
    assert_eq!(recorded(root, "cline", "s").unwrap(), None);
}

#[test]
fn many_processes_record_at_once_and_none_is_lost() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || {
                    let session = format!("s{}", n % 4);
                    let head_hash = "ab".repeat(32);
                    let conversation = Conversation {
                        tool: "codex",
                        session: &session,
                        head_hash: &head_hash,
                        count: 1,
                        shared: None,
                    };
                    record_conversation(root, &conversation, &sealer(), &format!("id{n}"), NOW).unwrap();
                });
            }
        });
        assert_eq!(
            sound(&all(&root.join("meta.db"), None)).len(),
            0,
            "meta records have no key of ours inside"
        );
        assert_eq!(all(&root.join("meta.db"), None).len(), 4);
    }
}

#[test]
fn each_loss_gets_its_word() {
    let sessions = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &sessions.map(|session| ("codex", session, 4)));
    let path = |session: &str| root.join(format!("chains/codex/{session}.db"));
    chain(&path("unknown"), 2);
    std::fs::write(path("empty"), "").unwrap();
    let mut expected = sessions.map(|session| (session, ConversationStatus::Intact)).to_vec();
    expected.push(("unknown", ConversationStatus::Unsealed));
    assert_eq!(statuses(&report(root, true, None)), expected);
    assert!(report(root, true, None).is_ok());

    chain(&path("b"), 6);
    edit(&path("c"), "DELETE FROM capsules WHERE sequence = 3");
    std::fs::remove_file(path("d")).unwrap();
    edit(&path("e"), "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 3");
    edit(&path("f"), "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 1");
    edit(&path("g"), "DELETE FROM capsules");
    std::fs::write(path("h"), "nothing of the kind").unwrap();
    let mut expected = vec![
        ("a", ConversationStatus::Intact),
        ("b", ConversationStatus::Grown),
        ("c", ConversationStatus::Truncated),
        ("d", ConversationStatus::Missing),
        ("e", ConversationStatus::Altered),
        ("f", ConversationStatus::Intact),
        ("g", ConversationStatus::Missing),
        ("h", ConversationStatus::Altered),
        ("unknown", ConversationStatus::Unsealed),
    ];
    let shallow = report(root, false, None);
    assert_eq!(statuses(&shallow), expected, "only the ends are looked at");
    assert!(!shallow.is_ok());
    expected[5].1 = ConversationStatus::Altered;
    let deep = report(root, true, None);
    assert_eq!(statuses(&deep), expected);
    assert!(deep.conversations[5].detail.as_deref().unwrap().contains('1'));
}

#[test]
fn a_chain_that_was_rebuilt_is_altered() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "s", 3)]);
    let path = root.join("chains/codex/s.db");
    for count in [3, 5] {
        std::fs::remove_file(&path).unwrap();
        let mut writer = ChainWriter::open(&path).unwrap();
        let names: Vec<String> = (0..count).map(|n| format!("forged{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        append(&mut writer, None, &names).unwrap();
        drop(writer);
        for deep in [false, true] {
            assert_eq!(statuses(&report(root, deep, None)), [("s", ConversationStatus::Altered)]);
        }
    }
}

#[test]
fn a_pinned_head_shows_what_the_meta_chain_lost() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a", 1), ("codex", "b", 1)]);
    let pinned = report(root, false, None).head().unwrap();
    assert_eq!(pinned.length, 2);
    let pin = |root: &Path| {
        let report = report(root, false, Some(pinned.clone()));
        (report.pin.unwrap(), report.is_ok())
    };
    assert_eq!(pin(root), (PinResult::Head, true));
    home(root, &[("codex", "c", 1)]);
    assert_eq!(pin(root), (PinResult::Ancestor, true));
    let other = PinnedHead { hash: "0".repeat(64), ..pinned.clone() };
    assert_eq!(report(root, false, Some(other)).pin, Some(PinResult::Altered));
    edit(&root.join("meta.db"), "DELETE FROM capsules WHERE sequence > 0");
    std::fs::remove_file(root.join("chains/codex/b.db")).unwrap();
    std::fs::remove_file(root.join("chains/codex/c.db")).unwrap();
    assert_eq!(pin(root), (PinResult::Truncated, false));
    assert!(report(root, true, None).is_ok(), "without the pin nobody can tell");
    std::fs::remove_file(root.join("meta.db")).unwrap();
    assert_eq!(pin(root), (PinResult::Truncated, false));
    let absent = report(root, false, None);
    assert!(absent.chain.is_none() && absent.head().is_none());
    assert_eq!(statuses(&absent), [("a", ConversationStatus::Unsealed)]);
    assert!(!root.join("meta.db").exists(), "looking makes nothing");
}

#[test]
fn behind_a_break_nothing_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a", 1), ("codex", "b", 1), ("codex", "c", 1)]);
    edit(
        &root.join("meta.db"),
        "UPDATE capsules SET canonical = replace(canonical, 'b', 'B') WHERE sequence = 1",
    );
    let broken = report(root, true, None);
    let chain = broken.chain.as_ref().unwrap();
    assert_eq!((chain.valid, chain.broken_at), (false, Some(1)));
    assert!(!broken.is_ok() && broken.head().is_none());
    let expected = [
        ("a", ConversationStatus::Intact),
        ("b", ConversationStatus::Unproved),
        ("c", ConversationStatus::Unproved),
    ];
    assert_eq!(statuses(&broken), expected);
    assert!(broken.conversations[2].detail.as_deref().unwrap().contains("meta-chain is broken"));
    for (length, pin) in
        [(1, PinResult::Ancestor), (2, PinResult::Altered), (3, PinResult::Altered), (4, PinResult::Altered)]
    {
        let hash = all(&root.join("meta.db"), None)[(length as usize).min(3) - 1].seal.hash.clone();
        assert_eq!(report(root, false, Some(PinnedHead { length, hash })).pin, Some(pin), "{length}");
    }
}

#[test]
fn what_follows_the_recorded_head_must_be_the_chain_going_on() {
    for garbage in [
        "UPDATE capsules SET canonical = canonical || ' ' WHERE sequence = 4",
        "UPDATE capsules SET hash = 'x' WHERE sequence = 3",
        "UPDATE capsules SET previous_hash = NULL WHERE sequence = 4",
        "UPDATE capsules SET signature = '' WHERE sequence = 4",
        "UPDATE capsules SET sequence = 9 WHERE sequence = 4",
        "UPDATE capsules SET sequence = -1 WHERE sequence = 4",
        "UPDATE capsules SET sequence = 'four' WHERE sequence = 4",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        home(root, &[("codex", "s", 3)]);
        let path = root.join("chains/codex/s.db");
        chain(&path, 5);
        assert_eq!(statuses(&report(root, false, None)), [("s", ConversationStatus::Grown)]);
        edit(&path, garbage);
        for deep in [false, true] {
            assert_eq!(
                statuses(&report(root, deep, None)),
                [("s", ConversationStatus::Altered)],
                "{garbage} {deep}"
            );
        }
    }
}

#[test]
fn only_a_shorter_beginning_is_truncated_however_deep_one_looks() {
    for (removed, status) in [
        ("sequence > 2", ConversationStatus::Truncated),
        ("sequence > 0", ConversationStatus::Truncated),
        ("sequence = 0", ConversationStatus::Altered),
        ("sequence = 2", ConversationStatus::Altered),
        ("sequence IN (1, 4)", ConversationStatus::Altered),
        ("sequence < 4", ConversationStatus::Altered),
        ("sequence < 9", ConversationStatus::Missing),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        home(root, &[("codex", "s", 5)]);
        edit(&root.join("chains/codex/s.db"), &format!("DELETE FROM capsules WHERE {removed}"));
        for deep in [false, true] {
            assert_eq!(statuses(&report(root, deep, None)), [("s", status)], "{removed} {deep}");
        }
    }
}

#[test]
fn signatures_are_checked_of_what_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "s", 3)]);
    edit(&root.join("chains/codex/s.db"), "UPDATE capsules SET signature = '' WHERE sequence = 2");
    let status = |signatures| {
        let options = MetaVerifyOptions { signatures, ..MetaVerifyOptions::default() };
        verify_meta(&TrailHome::at(root), &keys(), &options).unwrap().conversations[0].status
    };
    assert_eq!((status(false), status(true)), (ConversationStatus::Intact, ConversationStatus::Altered));
}

#[test]
fn a_meta_chain_that_its_checkpoint_names_cannot_be_taken_away_unseen() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a", 1), ("codex", "b", 1)]);
    assert_eq!(report(root, false, None).lost, 0);
    edit(&root.join("meta.db"), "DELETE FROM capsules");
    let emptied = report(root, false, None);
    assert_eq!((emptied.lost, emptied.is_ok()), (2, false));
    std::fs::remove_file(root.join("meta.db")).unwrap();
    let absent = report(root, false, None);
    assert_eq!((absent.lost, absent.is_ok()), (2, false));
    std::fs::remove_file(checkpoint_of(&root.join("meta.db"))).unwrap();
    assert!(report(root, false, None).is_ok(), "a home without a meta-chain has lost none");
}

#[test]
fn a_chain_that_cannot_be_read_is_no_good_news() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    home(root, &[("codex", "a", 1)]);
    std::fs::write(root.join("chains/codex/b.db"), "nothing of the kind").unwrap();
    let found = report(root, false, None);
    assert_eq!(statuses(&found), [("a", ConversationStatus::Intact), ("b", ConversationStatus::Unreadable)]);
    assert!(!found.is_ok());
}

fn share(root: &Path, db: &Path) {
    let mut writer = ChainWriter::open(db).unwrap();
    for tenant in ["one", "two"] {
        let head = append(&mut writer, Some(tenant), &["a", "b"]).unwrap().head.unwrap();
        let shared = Some(SharedChain { db, tenant });
        let conversation =
            Conversation { tool: "codex", session: tenant, head_hash: &head, count: 2, shared };
        assert!(record_conversation(root, &conversation, &sealer(), tenant, NOW).unwrap().recorded);
    }
    append(&mut writer, Some("three"), &["a"]).unwrap();
}

#[test]
fn a_tenant_of_a_shared_database_is_compared_by_itself() {
    for inside in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        let db = if inside { root.join("stores/all.db") } else { folder.path().join("all.db") };
        share(&root, &db);
        let meta = all(&root.join("meta.db"), None);
        let sealed = if inside { r#""db":"stores/all.db""# } else { r#""db":"all.db""# };
        assert!(meta[0].canonical.contains(sealed), "no path of this machine: {}", meta[0].canonical);
        let look = |home: &TrailHome| {
            let options = MetaVerifyOptions { signatures: true, deep: true, pinned: None };
            let report = verify_meta(home, &keys(), &options).unwrap();
            report.conversations.iter().map(|one| (one.session.clone(), one.status)).collect::<Vec<_>>()
        };
        let named =
            |found: [(&str, ConversationStatus); 3]| found.map(|(name, status)| (name.to_owned(), status));
        let home = sharing(&root, &db);
        let unsealed = ("three", ConversationStatus::Unsealed);
        assert_eq!(
            look(&home),
            named([("one", ConversationStatus::Intact), ("two", ConversationStatus::Intact), unsealed])
        );
        let alone = if inside { ConversationStatus::Intact } else { ConversationStatus::Missing };
        assert_eq!(look(&TrailHome::at(&root))[0].1, alone, "who shares it must be told");
        edit(&db, "DELETE FROM capsules WHERE tenant_id = 'two'");
        assert_eq!(
            look(&home),
            named([("one", ConversationStatus::Intact), ("two", ConversationStatus::Missing), unsealed])
        );
    }
}

#[test]
fn a_whole_path_as_agent_capsule_records_it_is_read_and_may_have_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (root, db, moved) =
        (folder.path().join("home"), folder.path().join("all.db"), folder.path().join("moved/all.db"));
    let mut writer = ChainWriter::open(&db).unwrap();
    let head = append(&mut writer, Some("one"), &["a"]).unwrap().head.unwrap();
    drop(writer);
    let result = capsid_model::fields! {
        "kind": "conversation_seal", "tool": "codex", "session_id": "one", "head_hash": head.as_str(),
        "capsule_count": 1_i64, "db": db.to_string_lossy().into_owned(), "tenant_id": "one",
    };
    let outcome = capsid_model::fields! { "result": result };
    let record =
        capsid_seal::ActionRecord { id: "meta".into(), outcome, ..capsid_seal::ActionRecord::default() };
    let item = PendingRecord { key: "k".to_owned(), open: false, weight: 0, item: () };
    let mut meta = ChainWriter::open(&root.join("meta.db")).unwrap();
    meta.append(None, [item], |(): &(), _, link: &_| sealer().seal(&record, link, NOW)).unwrap();
    drop(meta);
    assert_eq!(statuses(&report(&root, true, None)), [("one", ConversationStatus::Intact)]);
    std::fs::create_dir(moved.parent().unwrap()).unwrap();
    std::fs::rename(&db, &moved).unwrap();
    assert_eq!(statuses(&report(&root, true, None)), [("one", ConversationStatus::Missing)]);
    let found = verify_meta(&sharing(&root, &moved), &keys(), &MetaVerifyOptions::default()).unwrap();
    assert_eq!(statuses(&found), [("one", ConversationStatus::Intact)]);
}

#[test]
fn names_that_lead_outside_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("home");
    chain(&folder.path().join("outside.db"), 1);
    let head = all(&folder.path().join("outside.db"), None)[0].seal.hash.clone();
    for session in ["../../../outside", "/etc/x", "a/../../../../outside"] {
        let conversation = Conversation { tool: "codex", session, head_hash: &head, count: 1, shared: None };
        record_conversation(&root, &conversation, &sealer(), session, NOW).unwrap();
    }
    assert!(
        report(&root, true, None)
            .conversations
            .iter()
            .all(|checked| checked.status == ConversationStatus::Missing)
    );
}

#[test]
fn the_sample_home_is_intact_and_goes_on_where_present() {
    let Some(sample) = shared("vectors/sealed/home-sample") else { return };
    let folder = tempfile::tempdir().unwrap();
    copy(&sample, folder.path());
    let full = report(folder.path(), true, None);
    assert!(full.is_ok());
    assert_eq!(full.conversations.len(), 4);
    assert!(
        full.conversations.iter().all(|checked| checked.status == ConversationStatus::Intact),
        "{full:?}"
    );
    assert_eq!(full.head().unwrap().hash, "b87c2a481ededc095decf8010d387a5a3e17e8e5693396a4edba5f142012b3b9");
    // What is recorded already is not recorded again, even without the checkpoint file.
    for name in ["meta.checkpoint.json", "meta.lock"] {
        let _ = std::fs::remove_file(folder.path().join(name));
    }
    assert!(!record_in_meta(folder.path(), "codex", "019e2f00-1111-7222-8333-444455556666").recorded);
    assert_eq!(report(folder.path(), true, None).head(), full.head());
    // Rebuilt with the same ids and times, the records are the same to the byte.
    let fresh = tempfile::tempdir().unwrap();
    let originals = all(&folder.path().join("meta.db"), None);
    for (stored, checked) in originals.iter().zip(&full.conversations) {
        let (count, head_hash) = checked.recorded.clone().unwrap();
        let conversation = Conversation {
            tool: &checked.tool,
            session: &checked.session,
            head_hash: &head_hash,
            count,
            shared: None,
        };
        let id = &stored.columns.as_ref().unwrap().id;
        let at = stored.seal.signed_at.as_ref().unwrap();
        record_conversation(fresh.path(), &conversation, &sealer(), id, at).unwrap();
    }
    assert_eq!(all(&fresh.path().join("meta.db"), None), originals);
}
