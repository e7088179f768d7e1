//! The way back to the state an event left, walked with git.

use capsid_engine::store::events::EventLog;
use capsid_engine::view::lineage::lineage;
use capsid_model::hash::sha256_hex;
use capsid_model::json;
use capsid_testkit::test_repo::TestRepo;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cycles in a repository, with their log and patches beside it.
struct Cycles {
    repo: TestRepo,
    outside: tempfile::TempDir,
    last: Option<String>,
}

impl Cycles {
    fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("poem.txt", "one\ntwo\nthree\n");
        repo.commit("A poem");
        Self { repo, outside: tempfile::tempdir().unwrap(), last: None }
    }

    fn log(&self) -> EventLog {
        EventLog::at(self.outside.path().join("events.jsonl"))
    }

    fn patch_file(&self, hash: &str) -> PathBuf {
        self.outside.path().join(format!("{hash}.patch"))
    }

    /// The tree of the files as they stand; the index is as before afterwards.
    fn tree(&self) -> String {
        self.repo.git(&["add", "-A"]);
        let tree = self.repo.git(&["write-tree"]).trim().to_owned();
        self.repo.git(&["reset", "-q"]);
        tree
    }

    /// A cycle that writes the poem anew and succeeds.
    fn cycle(&mut self, id: &str, poem: &str) {
        let before = self.tree();
        self.repo.write("poem.txt", poem);
        let after = self.tree();
        let patch = self.repo.git(&["diff-tree", "-r", "-p", &before, &after]);
        let hash = sha256_hex(patch.as_bytes());
        std::fs::write(self.patch_file(&hash), patch).unwrap();
        let event = json!({"type": "EvolutionEvent", "id": id, "parent": self.last, "outcome": {"status": "success"},
            "meta": {"git": {"head": self.repo.git(&["rev-parse", "HEAD"]).trim(), "patch_sha256": hash,
                "tree_before": before, "tree_after": after}}});
        self.log().append(&[event.as_object().cloned().unwrap()]).unwrap();
        self.last = Some(id.to_owned());
    }

    /// Walks the way back in a clean clone and gives the poem found there.
    fn walk_back(&self, id: &str) -> String {
        let traced = lineage(&self.log(), id).unwrap().unwrap();
        assert!(!traced.unrecorded_edits());
        let clone = tempfile::tempdir().unwrap();
        self.repo.git(&["clone", "-q", ".", clone.path().to_str().unwrap()]);
        for command in traced.path_to_root(&|hash| self.patch_file(hash)) {
            run(&command, clone.path());
        }
        std::fs::read_to_string(clone.path().join("poem.txt")).unwrap()
    }
}

fn run(command: &str, folder: &Path) {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_way_back_works_after_the_user_undid_a_cycle() {
    let mut cycles = Cycles::new();
    cycles.cycle("evt_1", "ONE\ntwo\nthree\n");
    cycles.repo.git(&["checkout", "-q", "--", "."]);
    cycles.cycle("evt_2", "1\ntwo\nthree\n");
    cycles.cycle("evt_3", "1\n2\nthree\n");
    assert_eq!(cycles.walk_back("evt_1"), "ONE\ntwo\nthree\n");
    assert_eq!(cycles.walk_back("evt_2"), "1\ntwo\nthree\n");
    assert_eq!(cycles.walk_back("evt_3"), "1\n2\nthree\n");
}

#[test]
fn edits_between_cycles_are_told() {
    let mut cycles = Cycles::new();
    cycles.cycle("evt_1", "ONE\ntwo\nthree\n");
    cycles.repo.write("poem.txt", "ONE\ntwo\nthree\nfour\n");
    cycles.cycle("evt_2", "ONE\n2\nthree\nfour\n");
    let traced = lineage(&cycles.log(), "evt_2").unwrap().unwrap();
    assert_eq!(traced.patches().len(), 1);
    assert!(traced.unrecorded_edits());
}
