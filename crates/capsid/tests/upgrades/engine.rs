//! An engine's store with a pending run.

use super::{User, versions};
use crate::common::program;
use capsid_testkit::program::assert_status;
use capsid_testkit::test_repo::TestRepo;

#[test]
fn a_store_is_read_as_it_was_written() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        for command in [&["genes"][..], &["capsules"], &["events"], &["explain"], &["recall"]] {
            user.sees(&version, command);
        }
        // A capsule of a time before proofs is not shared before it is proven.
        let offers = user.expect(0, &["node", "publish", "--dry-run", "--json"]).json();
        let reason = offers["offers"][0]["reasons"][0].as_str().unwrap_or_default();
        assert!(reason.starts_with("It carries no proof"), "{offers}");
        let doctor = user.run(&["doctor"]);
        assert!(doctor.stdout.contains("8 records, all verify"), "{doctor}");
        for file in ["genes.json", "capsules.json", "events.jsonl", "failed_capsules.json"] {
            user.expect(0, &["asset", "verify", &format!("assets/gep/{file}")]);
        }
    }
}

#[test]
fn a_pending_run_of_an_older_version_is_abandoned_with_its_change_in_the_tree_and_as_a_patch() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        let run = user.read(".git/capsid/run.json");
        let run: capsid_model::Value = run.parse().unwrap();
        user.write("state.txt", "good, by hand\n");
        user.write("new.txt", "made by the run\n");
        let refused = user.expect(1, &["solidify", "--json"]).json();
        assert_eq!(refused["error"]["code"], "nothing_pending", "{refused:#}");
        assert_eq!(user.read("state.txt"), "good, by hand\n");
        assert_eq!(user.read("new.txt"), "made by the run\n");
        assert_others_are_untouched(&user);
        let patch = user.read(&format!("memory/evolution/patches/{}.patch", run["run_id"].as_str().unwrap()));
        assert!(patch.contains("+good, by hand") && patch.contains("+made by the run"), "{patch}");
        assert!(!patch.contains("edited by hand before the run"), "{patch}");
        assert!(user.read(".git/capsid/MOVED.txt").contains("cycles"));
        let events = user.expect(0, &["events", "--limit", "0", "--json"]).json();
        assert_eq!(events["events"].as_array().unwrap().len(), 4, "{events:#}");
        user.expect(0, &["events", "verify"]);
    }
}

/// What the user had changed by hand before the run began.
fn assert_others_are_untouched(user: &User) {
    assert_eq!(user.read("notes.txt"), "edited by hand before the run\n");
    assert_eq!(user.read("untracked.txt"), "never committed\n");
}

#[test]
fn a_next_cycle_runs_on_an_older_store() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        user.write("app.log", "error: TimeoutError: upstream did not answer\n");
        let agent = ["--agent", "sh", "-c", "cat > /dev/null; echo good, next > state.txt"];
        let words = [&["evolve", "--force", "--offline", "--log", "app.log"][..], &agent].concat();
        user.expect(0, &words);
        assert_eq!(user.read("state.txt"), "good, next\n");
        user.expect(0, &["events", "verify"]);
    }
}

#[test]
fn an_archive_is_imported() {
    for version in versions() {
        let (program, repo) = (program(), TestRepo::new());
        let user = User::restore(&version, "ada");
        assert_status(0, &program.run(&repo, &["init"]));
        let archive = user.home().join("store.gepx");
        let imported =
            program.run(&repo, &["archive", "import", "--trust", "--memory", archive.to_str().unwrap()]);
        assert_status(0, &imported);
        let capsules = program.expect(0, &repo, &["capsules", "--json"]).json();
        assert_eq!(capsules["capsules"].as_array().unwrap().len(), 2, "{capsules:#}");
    }
}
