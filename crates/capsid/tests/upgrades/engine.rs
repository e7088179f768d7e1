//! An engine's store with a pending run.

use super::{User, tree, versions};
use crate::common::program;
use capsid_testkit::program::assert_status;
use capsid_testkit::repo::Repo;

#[test]
fn a_store_is_read_as_it_was_written() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        for command in
            [&["genes"][..], &["capsules"], &["events"], &["explain"], &["recall"], &["node", "publish"]]
        {
            user.sees(&version, command);
        }
        let doctor = user.run(&["doctor"]);
        assert!(
            doctor.stdout.contains("10 records, all verify") || doctor.stdout.contains("all verify"),
            "{doctor}"
        );
        for file in ["genes.json", "capsules.json", "events.jsonl", "failed_capsules.json"] {
            user.expect(0, &["asset", "verify", &format!("assets/gep/{file}")]);
        }
    }
}

#[test]
fn a_pending_run_is_finished() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        let run = user.read(".git/capsid/run.json");
        assert!(run.contains("\"run_id\""), "{run}");
        user.write("state.txt", "good, by hand\n");
        let finished = user.expect(0, &["solidify", "--json"]).json();
        assert_eq!(finished["event"]["outcome"]["status"], "success", "{finished:#}");
        let events = user.expect(0, &["events", "--limit", "0", "--json"]).json();
        assert_eq!(events["events"].as_array().unwrap().len(), 5, "{events:#}");
        user.expect(0, &["events", "verify"]);
        assert_eq!(user.read("state.txt"), "good, by hand\n");
        assert_others_are_untouched(&user);
    }
}

#[test]
fn a_pending_run_that_fails_is_rolled_back_to_its_snapshot() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        user.write("state.txt", "bad\n");
        user.write("new.txt", "made by the run\n");
        user.expect(1, &["solidify"]);
        assert_eq!(user.read("state.txt"), "good, reused\n");
        assert!(!user.repo.join("new.txt").exists());
        assert_others_are_untouched(&user);
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
        let (program, repo) = (program(), Repo::new());
        let user = User::restore(&version, "ada");
        assert_status(0, &program.run(&repo, &["init"]));
        let archive = user.home().join("store.gepx");
        let before = tree::files(&user.repo.join("assets")).len();
        let imported = program.run(&repo, &["archive", "import", "--memory", archive.to_str().unwrap()]);
        assert_status(0, &imported);
        let capsules = program.expect(0, &repo, &["capsules", "--json"]).json();
        assert_eq!(capsules["capsules"].as_array().unwrap().len(), 2, "{capsules:#}");
        assert_eq!(tree::files(&user.repo.join("assets")).len(), before);
    }
}
