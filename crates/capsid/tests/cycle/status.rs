//! `capsid status`: what is pending, what was learned, what the loop does.

use super::*;
use capsid_model::json;
use capsid_testkit::program::TestProgram;
use capsid_testkit::test_repo::TestRepo;

fn status(desk: &ProgramRepo) -> Value {
    desk.program.expect(0, &desk.repo, &["status", "--json"]).json()
}

#[test]
fn a_repository_without_a_store_has_a_status() {
    let program = TestProgram::at(env!("CARGO_BIN_EXE_capsid"));
    let repo = TestRepo::new();
    repo.write("a.txt", "a\n");
    repo.commit("Begin");
    let before = repo.fingerprint();
    let ran = program.expect(0, &repo, &["status"]);
    assert!(ran.stdout.contains("no store yet") && ran.stdout.contains("capsid init"), "{ran}");
    let ran = program.expect(0, &repo, &["status", "--json"]).json();
    assert_eq!(
        (&ran["has_store"], &ran["pending"], &ran["learned"]),
        (&json!(false), &json!([]), &json!([]))
    );
    assert_eq!(repo.fingerprint(), before);
    assert!(!program.state_dir(repo.path()).exists());
}

#[test]
fn status_names_the_pending_run_with_its_problem_and_what_to_do() {
    let desk = desk();
    desk.prepare(&[]);
    let told = status(&desk);
    let run = &told["pending"][0];
    assert_eq!(run["status"], "prepared", "{told}");
    assert!(run["problem"].as_str().unwrap().contains("x is not a function"), "{told}");
    assert!(run["advice"].as_str().unwrap().contains("capsid solidify"), "{told}");
    let shown = desk.program.expect(0, &desk.repo, &["status"]).stdout;
    assert!(
        shown.contains(run["run_id"].as_str().unwrap()) && shown.contains("x is not a function"),
        "{shown}"
    );
}

#[test]
fn status_shows_what_was_learned_and_what_failed() {
    let desk = desk();
    assert_status(1, &desk.evolve(&[], BAD));
    assert_status(0, &desk.evolve(&["--force"], GOOD));
    let told = status(&desk);
    assert_eq!(told["pending"], json!([]));
    let (learned, failed) = (&told["learned"][0], &told["failed"][0]);
    assert!(!learned["title"].as_str().unwrap().is_empty(), "{told}");
    assert!(learned["problem"].as_str().unwrap().contains("x is not a function"), "{told}");
    let grades = [json!("proven here"), json!("passes"), json!("not proven")];
    assert!(grades.contains(&learned["grade"]), "{told}");
    assert!(failed["problem"].as_str().unwrap().contains("x is not a function"), "{told}");
    assert!(!failed["reason"].as_str().unwrap().is_empty(), "{told}");
    let shown = desk.program.expect(0, &desk.repo, &["status"]).stdout;
    for part in ["Pending", "Learned", "Loop", "streak", "not running", "20 agent calls"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn status_changes_nothing_on_disk() {
    let desk = desk();
    assert_status(0, &desk.evolve(&[], GOOD));
    desk.prepare(&["--force"]);
    let private = desk.program.state_dir(desk.repo.path());
    let files = || {
        let mut all = Vec::new();
        let mut folders = vec![private.clone(), desk.repo.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let meta = entry.path().symlink_metadata().unwrap();
                if meta.is_dir() {
                    folders.push(entry.path());
                }
                all.push((entry.path(), meta.modified().unwrap(), meta.len()));
            }
        }
        all.sort();
        all
    };
    let before = files();
    desk.program.expect(0, &desk.repo, &["status"]);
    desk.program.expect(0, &desk.repo, &["status", "--json"]);
    assert_eq!(files(), before);
}

#[test]
fn status_shows_a_running_loop() {
    let desk = desk();
    desk.repo.write("app.log", "server started\n");
    let agent = desk.agent(GOOD);
    let args = ["evolve", "--loop", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let running = LoggedChild::start(desk.program.command(desk.repo.path(), &args));
    running.wait_for("nothing to do", 1);
    let told = status(&desk);
    assert_eq!(told["loop"]["is_running"], true, "{told}");
    assert!(told["loop"]["process"].as_u64().unwrap() > 0, "{told}");
    assert_status(0, &running.stop());
    assert_eq!(status(&desk)["loop"]["is_running"], false);
}
