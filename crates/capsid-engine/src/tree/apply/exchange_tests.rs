//! Somebody saves a file in the very instant in which it is exchanged.

use super::exchange::{Exchange, FileResult};
use super::operation::{Expected, Operation, OperationKind};
use super::prepare::prepare;
use crate::tree::private_tree::beneath::open_root;
use crate::tree::private_tree::file_state::{FileState, inspect};
use capsid_testkit::rounds::{rounds, seeded_rng};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Barrier;

/// How an editor saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Saving {
    ByRename,
    InPlace,
}

fn write(path: &Path, text: &str) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn save(folder: &Path, saving: Saving, text: &str) {
    match saving {
        Saving::ByRename => {
            write(&folder.join("file.tmp"), text);
            std::fs::rename(folder.join("file.tmp"), folder.join("file")).unwrap();
        }
        Saving::InPlace => write(&folder.join("file"), text),
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn spin(steps: u32) {
    for _ in 0..steps {
        std::hint::spin_loop();
    }
}

fn operation(root: &rustix::fd::OwnedFd, kind: OperationKind, source: &Path) -> Operation {
    let now = inspect(root, b"file").unwrap();
    let result = match kind {
        OperationKind::Delete => FileState::Absent,
        _ => FileState::from_bytes(b"new\n", 0o100_644),
    };
    let mut operation = Operation {
        kind,
        name: b"file".to_vec(),
        temporary: b".file.capsid-1".to_vec(),
        expected: Some(Expected { identity: now.identity.unwrap(), state: now.state }),
        result,
        mode: 0o644,
        source: Some(source.into()),
        attributes_from_source: false,
        replaced: "000000".to_owned(),
        prepared: None,
    };
    operation.prepared = prepare(root, &operation).unwrap();
    operation
}

#[test]
fn an_edit_that_is_saved_in_the_instant_of_the_exchange_is_never_lost() {
    let mut random = seeded_rng();
    let mut seen: BTreeMap<(Saving, OperationKind, bool), usize> = BTreeMap::new();
    let mut put_back = 0;
    let folder = tempfile::tempdir().unwrap();
    for round in 0..rounds(400, 50_000) {
        let tree = folder.path().join(format!("tree{round}"));
        let replaced = folder.path().join(format!("replaced{round}"));
        std::fs::create_dir(&tree).unwrap();
        std::fs::create_dir(&replaced).unwrap();
        write(&tree.join("file"), "base\n");
        write(&replaced.join("source"), "new\n");
        let root = open_root(&tree).unwrap();
        let kind = if random.u8(..4) == 0 { OperationKind::Delete } else { OperationKind::Change };
        let step = operation(&root, kind, &replaced.join("source"));
        std::fs::remove_file(replaced.join("source")).unwrap();
        let saving = if random.bool() { Saving::ByRename } else { Saving::InPlace };
        let (edits, pauses) = (random.usize(1..4), [random.u32(..3_000), random.u32(..3_000)]);
        let start = Barrier::new(2);
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                spin(pauses[0]);
                for edit in 1..=edits {
                    save(&tree, saving, &format!("edit {edit}\n"));
                }
            });
            start.wait();
            spin(pauses[1]);
            let mut exchange =
                Exchange { root, replaced: open_root(&replaced).unwrap(), touched: BTreeSet::new() };
            exchange.execute(&step).unwrap()
        });
        *seen.entry((saving, kind, result == FileResult::Applied)).or_default() += 1;
        put_back += usize::from(names_in(&replaced).iter().any(|name| name.contains('.')));
        let last = format!("edit {edits}\n");
        let now = std::fs::read_to_string(tree.join("file")).unwrap_or_default();
        let rescued = || {
            std::fs::read_dir(&replaced)
                .unwrap()
                .any(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap() == last)
        };
        match saving {
            Saving::ByRename => assert_eq!(now, last, "round {round}: {kind:?} {result:?}"),
            // A program that had the file open before the exchange writes to the replaced file.
            Saving::InPlace => {
                assert!(now == last || rescued(), "round {round}: {kind:?} {result:?} {now:?}");
            }
        }
        assert!(!tree.join(".file.capsid-1").exists(), "round {round}");
        std::fs::remove_dir_all(&tree).unwrap();
        std::fs::remove_dir_all(&replaced).unwrap();
    }
    println!("exchanged back in {put_back} rounds; (saving, operation, applied): {seen:?}");
    assert!(
        seen.keys().any(|key| key.2) && seen.keys().any(|key| !key.2),
        "both sides won sometimes: {seen:?}"
    );
}
