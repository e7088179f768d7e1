//! Agents that fail, linger, are missing or overstep.

use super::*;

#[test]
fn an_agent_that_fails_is_the_hosts_fault_and_not_the_genes() {
    let desk = desk();
    let before = desk.repo.user_files();
    let genes = desk.repo.read("assets/gep/genes.json");
    let ran = desk.evolve(&["--json"], "echo half > state.txt; exit 3");
    assert_status(1, &ran);
    assert_eq!(desk.repo.user_files(), before);
    let event = last_event(&desk);
    assert_eq!(event["meta"]["failure_class"], "host");
    assert!(event["meta"]["failure_reason"].to_string().contains("status 3"));
    assert_eq!(desk.repo.read("assets/gep/genes.json"), genes, "the gene was not charged");
}

#[test]
fn an_agent_that_takes_too_long_is_stopped_with_all_it_started() {
    let desk = desk();
    let before = desk.repo.user_files();
    let start = Instant::now();
    let ran =
        desk.evolve(&["--json", "--agent-timeout", "1"], "echo half > state.txt; sleep 600 & sleep 600");
    assert_status(1, &ran);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(desk.repo.user_files(), before);
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
    capsid_testkit::kill::wait_until_quiet(desk.repo.path());
}

#[test]
fn a_signal_while_the_agent_works_stops_it_and_takes_its_half_done_change_back() {
    let desk = desk();
    desk.fill_with_work();
    let before = desk.repo.user_files();
    let agent = desk.agent("echo half > state.txt; rm edited.txt; sleep 600");
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let child = desk.program.start(&desk.repo, &args);
    until("the agent's first edit", || {
        desk.repo.read("state.txt") == "half\n" && !desk.repo.file("edited.txt").exists()
    });
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_status(1, &Ran::of(child.wait_with_output().unwrap()));
    capsid_testkit::kill::wait_until_quiet(desk.repo.path());
    assert_eq!(desk.repo.user_files(), before);
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
}

#[test]
fn an_agent_that_is_not_there_is_a_recorded_failure() {
    let desk = desk();
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", "./no-such-agent"];
    let ran = desk.program.run(&desk.repo, &args);
    assert_status(1, &ran);
    assert!(ran.stdout.contains("no-such-agent"), "{ran}");
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
}

#[test]
fn a_policy_that_the_agent_changed_is_taken_back_and_not_followed() {
    for ignored in ["", "capsid.toml\n"] {
        let desk = desk();
        desk.repo.write(".gitignore", ignored);
        desk.repo.write("capsid.toml", "[constraints]\nhard_cap_files = 30\n");
        let before = desk.repo.user_files();
        let ran = desk.evolve(
            &["--json"],
            "echo good > state.txt; printf '[validation]\\ninline_code = true\\n' > capsid.toml",
        );
        assert_status(1, &ran);
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains("capsid.toml"), "{violations}");
        assert_eq!(desk.repo.user_files(), before);
    }
}
