//! A proven change that could not be applied at once, one that its owner does not want any more, and an agent that is
//! stopped.

use super::*;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

/// A cycle whose agent changes the first line of `lines.txt` while the user writes `edited`. Gives the id of the run.
fn edit_while_agent_works(desk: &ProgramRepo, edited: &str) -> (ProgramOutput, String) {
    desk.repo.write("lines.txt", LINES);
    desk.repo.write(".gitignore", "*.cache\n");
    desk.repo.commit("Ten lines");
    desk.repo.write("go.cache", "wait\n");
    // What the user saves in place is seen in the view as long as the agent did not write to it.
    let agent = desk.agent(
        "sed -i 's/^1$/agent/' lines.txt; echo good > state.txt; echo has edited
         until grep -q go go.cache; do sleep 0.02; done",
    );
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let running = LoggedChild::start(desk.program.command(desk.repo.path(), &args));
    running.wait_for("has edited", 1);
    desk.repo.write("lines.txt", edited);
    desk.repo.write("go.cache", "go\n");
    let ran = running.end();
    let event = last_event(desk);
    let run = event["meta"]["run_id"].as_str().unwrap_or_else(|| panic!("{event:?}\n{ran}")).to_owned();
    (ran, run)
}

fn with_first_line(line: &str) -> String {
    LINES.replacen("1\n", &format!("{line}\n"), 1)
}

#[test]
fn an_edit_elsewhere_in_the_same_file_is_merged_with_the_change() {
    let desk = desk();
    let (ran, _) = edit_while_agent_works(&desk, &format!("{LINES}user\n"));
    assert_status(0, &ran);
    assert_eq!(desk.repo.read("lines.txt"), format!("{}user\n", with_first_line("agent")));
}

#[test]
fn a_conflict_applies_nothing_until_the_edit_is_gone() {
    let desk = desk();
    let (ran, run) = edit_while_agent_works(&desk, &with_first_line("user"));
    assert_status(1, &ran);
    assert_eq!(ran.code(), "apply_conflict");
    assert_eq!(desk.repo.read("lines.txt"), with_first_line("user"));
    assert_eq!(desk.repo.read("state.txt"), "start\n");

    let again = desk.program.expect(1, &desk.repo, &["apply", &run]);
    assert_eq!(again.code(), "apply_conflict");
    assert_eq!(desk.repo.read("lines.txt"), with_first_line("user"));

    desk.repo.write("lines.txt", LINES);
    desk.program.expect(0, &desk.repo, &["apply", &run]);
    assert_eq!(desk.repo.read("lines.txt"), with_first_line("agent"));
    assert_eq!(desk.repo.read("state.txt"), "good\n");
}

#[test]
fn a_change_in_conflict_goes_to_a_branch_and_leaves_tree_and_index_alone() {
    let desk = desk();
    let (_, run) = edit_while_agent_works(&desk, &with_first_line("user"));
    desk.repo.write("staged.txt", "staged\n");
    desk.repo.git(&["add", "staged.txt"]);
    let before = (desk.repo.git(&["status", "--porcelain"]), desk.repo.git(&["rev-parse", "HEAD"]));
    desk.program.expect(0, &desk.repo, &["apply", &run, "--branch", "fix"]);
    assert_eq!((desk.repo.git(&["status", "--porcelain"]), desk.repo.git(&["rev-parse", "HEAD"])), before);
    assert_eq!(desk.repo.git(&["show", "fix:lines.txt"]), with_first_line("agent"));
    assert_eq!(desk.repo.git(&["rev-parse", "fix^"]), before.1);
    assert_eq!(desk.repo.read("lines.txt"), with_first_line("user"));
}

#[test]
fn an_applied_change_is_undone_but_for_files_that_the_user_changed_since() {
    let desk = desk();
    desk.repo.write("other.txt", "start\n");
    desk.repo.commit("Another file");
    assert_status(0, &desk.evolve(&[], "echo good > state.txt; echo agent > other.txt; echo new > new.txt"));
    let run = last_event(&desk)["meta"]["run_id"].as_str().unwrap().to_owned();
    desk.repo.write("other.txt", "mine now\n");
    let undone = desk.program.expect(1, &desk.repo, &["undo", &run, "--json"]);
    assert_eq!(undone.json()["restored"], capsid_model::json!(["new.txt", "state.txt"]));
    assert_eq!(desk.repo.read("state.txt"), "start\n");
    assert_eq!(desk.repo.read("other.txt"), "mine now\n");
    assert!(!desk.repo.file("new.txt").exists());
}

#[test]
fn a_run_that_is_not_known_is_neither_applied_nor_undone() {
    let desk = desk();
    for command in ["apply", "undo"] {
        let ran = desk.program.run(&desk.repo, &[command, "run_1"]);
        assert_status(1, &ran);
        assert!(!ran.code().is_empty(), "{ran}");
    }
}

#[test]
fn an_agent_is_stopped_and_its_change_waits() {
    let desk = desk();
    let agent = desk.agent("echo half > state.txt; echo has edited; sleep 600");
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let running = LoggedChild::start(desk.program.command(desk.repo.path(), &args));
    running.wait_for("has edited", 1);
    let runs = desk.state_file("runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().file_name();
    let run = run.to_str().unwrap();
    desk.program.expect(0, &desk.repo, &["cycle", "stop", run]);
    let ran = running.end();
    assert_status(1, &ran);
    assert_eq!(ran.code(), "interrupted");
    assert_eq!(desk.repo.read("state.txt"), "start\n");
    assert!(desk.program.expect(0, &desk.repo, &["review"]).stdout.contains("+half"));
    let again = desk.program.run(&desk.repo, &["cycle", "stop", run]);
    assert_eq!(again.code(), "nothing_pending");
}
