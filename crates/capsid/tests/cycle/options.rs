//! What the user asks for: commit, review, rejection, a dry run.

use super::*;

#[test]
fn commit_takes_exactly_the_cycles_files() {
    let desk = desk();
    desk.fill_with_work();
    let ran = desk.evolve(
        &["--commit", "--json"],
        "echo good > state.txt; mkdir made; echo new > made/new.txt; git rm -q doomed.txt",
    );
    assert_status(0, &ran);
    let repo = &desk.repo;
    assert_eq!(ran.json()["commit"], repo.git(&["rev-parse", "HEAD"]).trim());
    let names = repo.git(&["show", "--name-status", "--format=", "--no-renames", "-z", "HEAD"]);
    assert_eq!(names, "D\0doomed.txt\0A\0made/new.txt\0M\0state.txt\0");
    let staged = repo.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "both.txt\nstaged.txt\n", "other staged edits stay staged");
    assert_eq!(
        repo.git(&["diff", "--name-only", "--", ":!assets"]),
        "both.txt\nedited.txt\n",
        "and unstaged ones unstaged"
    );
}

#[test]
fn commit_refuses_a_file_that_held_edits_of_the_users_own() {
    let desk = desk();
    desk.repo.write("state.txt", "mine\n");
    let head = desk.repo.git(&["rev-parse", "HEAD"]);
    let ran = desk.evolve(&["--commit", "--json"], "echo good >> state.txt");
    assert_status(1, &ran);
    assert_eq!(ran.json()["commit_problem"]["code"], "commit_refused");
    assert_eq!(ran.code(), "commit_refused");
    assert_eq!(desk.repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(desk.repo.read("state.txt"), "mine\ngood\n", "the change is kept");
    assert_eq!(last_event(&desk)["outcome"]["status"], "success");
}

#[test]
fn review_without_a_terminal_keeps_the_run_waiting_until_it_is_approved() {
    let desk = desk();
    let ran = desk.evolve(&["--review"], GOOD);
    assert_status(1, &ran);
    assert!(ran.stdout.contains("+good"), "{ran}");
    assert!(store::events(&desk.repo).is_empty());
    let waiting = desk.program.expect(0, &desk.repo, &["review", "--json"]).json();
    assert_eq!(waiting["gene"], "gene_repair");
    assert_eq!(waiting["blast_radius"]["files"], 1);
    let again = desk.evolve(&[], GOOD);
    assert_status(1, &again);
    assert_eq!(again.code(), "run_pending");
    desk.program.expect(0, &desk.repo, &["review", "--approve", "--json"]);
    assert_eq!(last_event(&desk)["outcome"]["status"], "success");
}

#[test]
fn a_rejected_run_is_taken_back_and_its_patch_is_kept() {
    let desk = desk();
    desk.fill_with_work();
    let before = desk.repo.user_files();
    assert_status(
        1,
        &desk.evolve(&["--review"], "echo good > state.txt; echo x >> edited.txt; rm -r untracked"),
    );
    let ran = desk.program.expect(0, &desk.repo, &["review", "--reject", "--json"]).json();
    assert_eq!(desk.repo.user_files(), before);
    let patch = std::fs::read_to_string(ran["patch"].as_str().unwrap()).unwrap();
    assert!(patch.contains("+good"), "{patch}");
    assert!(store::events(&desk.repo).is_empty());
    let nothing = desk.program.expect(1, &desk.repo, &["review", "--reject", "--json"]);
    assert_eq!(nothing.json()["error"]["code"], "nothing_pending");
}

#[test]
fn the_owner_may_change_the_policy_between_evolve_and_solidify() {
    let desk = desk();
    desk.prepare(&[]);
    desk.repo.write("state.txt", "good\n");
    desk.repo.write("capsid.toml", "[constraints]\nhard_cap_files = 30\n");
    let ran = desk.program.expect(2, &desk.repo, &["solidify"]);
    assert_eq!(ran.code(), "config_invalid");
    let ran = desk.program.run(&desk.repo, &["solidify", "--accept-config"]);
    assert_status(0, &ran);
}

#[test]
fn a_dry_run_writes_nothing_at_all() {
    let desk = desk();
    let everything = || {
        let mut print = desk.repo.fingerprint();
        let listing = desk.repo.path().join(".git");
        for entry in walk(&listing) {
            print.insert(
                entry.display().to_string(),
                std::fs::read(&entry).map_or(0, |b| b.len()).to_string(),
            );
        }
        print
    };
    let before = everything();
    let ran = desk.prepare(&["--dry-run", "--json"]);
    assert_eq!(ran.json()["dry_run"], true);
    assert!(ran.json()["prompt"].as_str().unwrap().contains("TypeError: x is not a function"));
    assert_eq!(everything(), before);
    desk.prepare(&[]);
    desk.repo.write("state.txt", "bad\n");
    let before = desk.repo.fingerprint();
    let ran = desk.program.expect(1, &desk.repo, &["solidify", "--dry-run", "--json"]);
    assert_eq!(ran.json()["dry_run"], true);
    assert_eq!(ran.json()["ok"], false);
    let mut after = desk.repo.fingerprint();
    after.retain(|name, _| !name.contains(".store.lock"));
    let mut before = before;
    before.retain(|name, _| !name.contains(".store.lock"));
    assert_eq!(after, before);
    desk.program.expect(1, &desk.repo, &["solidify"]);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}
