//! `capsid hub fsck`, `backup` and `restore`, through the built program, beside a store that a hub holds.

use crate::common::program;
use capsid_model::time::Time;
use capsid_store::backup::dump;
use capsid_store::work::tasks;
use capsid_store::work::tasks::NewTask;
use capsid_store::{Store, StoreOptions, nodes};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use std::path::Path;

const NOW: Time = Time(1_770_000_000_000);

/// A hub's database that stays open, as under a hub that runs, and the program beside it.
struct OpenHub {
    folder: tempfile::TempDir,
    store: Store,
    program: TestProgram,
}

impl OpenHub {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path().join("hub"), None), NOW).unwrap();
        for node in ["node_a", "node_b"] {
            store.write_now(move |tx| nodes::lock_or_register(tx, node, 500_000, NOW)).unwrap();
        }
        Self { folder, store, program: program() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    #[track_caller]
    fn hub(&self, status: i32, words: &[&str], data: &str) -> ProgramOutput {
        let data = self.path(data);
        let args = [&["hub"], words, &["--data", &data]].concat();
        let ran = self.program.run_with_input_in(self.folder.path(), &args, "");
        assert_status(status, &ran);
        ran
    }

    fn tamper(&self, sql: &'static str) {
        self.store.write_now(move |tx| tx.run(sql, &[])).unwrap();
    }
}

fn dumped(folder: &Path) -> String {
    let store = Store::open(&StoreOptions::new(folder, None), NOW).unwrap();
    store.read_now(dump::dump).unwrap()
}

#[test]
fn fsck_tells_what_is_wrong_and_mends_what_it_can() {
    let desk = OpenHub::new();
    let clean = desk.hub(0, &["fsck"], "hub");
    assert!(clean.stdout.contains("ok 0 assets, 0 bundles, 2 nodes"), "{clean}");
    desk.tamper("UPDATE nodes SET total_published = 3 WHERE node_id = 'node_a'");
    let wrong = desk.hub(1, &["fsck", "--json"], "hub").json();
    assert_eq!(wrong["ok"], false);
    let finding = &wrong["findings"][0];
    assert_eq!(
        (finding["code"].as_str(), finding["subject"].as_str()),
        (Some("total_wrong"), Some("node_a"))
    );
    assert!(finding["fix"].as_str().unwrap().contains("--repair"));
    let mended = desk.hub(0, &["fsck", "--repair"], "hub");
    assert!(mended.stdout.contains("mended 0 assets, 1 nodes and 0 owners"), "{mended}");
    // The database itself refuses what does not add up, so this does.
    desk.tamper(
        "UPDATE accounts SET balance = balance + CASE account WHEN 'mint' THEN -1 ELSE 1 END
         WHERE account IN ('mint', 'node:node_a')",
    );
    let lost = desk.hub(1, &["fsck", "--repair"], "hub");
    assert!(lost.stdout.contains("balance_wrong") && lost.stdout.contains("hub restore"), "{lost}");
}

#[test]
fn the_graph_is_made_again_when_no_hub_runs() {
    let desk = OpenHub::new();
    let task = NewTask {
        task_id: "task_1".to_owned(),
        asker: "node:node_a".to_owned(),
        title: "Mend the upload".to_owned(),
        signals: "upload_failed,slow".to_owned(),
        expires_at: NOW.0 + 1_000,
        ..NewTask::default()
    };
    desk.store.write_now(move |tx| tasks::add(tx, &task, NOW)).unwrap();
    let before = desk.store.read_now(dump::dump).unwrap();
    desk.store.follow_all(NOW).unwrap();
    desk.store.write_index(|tx| tx.run("DELETE FROM edges", &[])).unwrap();
    let wrong = desk.hub(1, &["fsck"], "hub");
    assert!(wrong.stdout.contains("graph_differs") && wrong.stdout.contains("--rebuild-graph"), "{wrong}");
    let busy = desk.hub(1, &["fsck", "--rebuild-graph"], "hub");
    assert!(busy.stderr.contains("Another hub already uses"), "{busy}");
    let OpenHub { folder, store, program } = desk;
    drop(store);
    let data = folder.path().join("hub").display().to_string();
    let rebuild = |more: &[&str]| {
        let args = [&["hub", "fsck", "--rebuild-graph", "--data", &data], more].concat();
        let ran = program.run_with_input_in(folder.path(), &args, "");
        assert_status(0, &ran);
        ran
    };
    let rebuilt = rebuild(&[]);
    assert!(
        rebuilt
            .stdout
            .contains("rebuilt the graph from 1 assets, reports and tasks: 3 things and 2 relations"),
        "{rebuilt}"
    );
    assert_eq!(rebuild(&["--json"]).json()["rebuilt_graph"]["relations"], 2);
    assert_eq!(dumped(&folder.path().join("hub")), before);
}

#[test]
fn a_backup_comes_back_and_never_over_anything() {
    let desk = OpenHub::new();
    let out = desk.path("hub.backup");
    let told = desk.hub(0, &["backup", &out, "--json"], "hub").json();
    assert!(told["bytes"].as_u64().unwrap() > 0);
    let again = desk.hub(2, &["backup", &out], "hub");
    assert!(again.stderr.contains("is there already"), "{again}");
    desk.hub(0, &["restore", &out], "new");
    assert_eq!(dumped(&desk.folder.path().join("new")), desk.store.read_now(dump::dump).unwrap());
    let refused = desk.hub(2, &["restore", &out], "new");
    assert!(refused.stderr.contains("already holds a hub"), "{refused}");
    let missing = desk.hub(2, &["restore", &desk.path("nothing")], "other");
    assert!(missing.stderr.contains("There is no backup"), "{missing}");
}
