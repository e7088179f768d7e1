//! Cycle after cycle.

use super::*;
use capsid_model::json;

fn loop_command(desk: &ProgramRepo, options: &[&str], agent: &str) -> std::process::Command {
    let mut args = vec!["evolve", "--loop", "--no-sessions"];
    args.extend(options);
    args.extend(["--agent", agent]);
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20");
    command.env("EVOLVER_MAX_SLEEP_MS", "50");
    command
}

fn start_loop(desk: &ProgramRepo, options: &[&str], body: &str) -> Child {
    let agent = desk.agent(body);
    let mut with_log = vec!["--force", "--log", "app.log"];
    with_log.extend(options);
    loop_command(desk, &with_log, &agent).spawn().unwrap()
}

/// Runs a loop to its end.
fn run_loop(desk: &ProgramRepo, options: &[&str], body: &str) -> ProgramOutput {
    let agent = desk.agent(body);
    ProgramOutput::from_output(loop_command(desk, options, &agent).output().unwrap())
}

fn loop_record(desk: &ProgramRepo) -> Value {
    std::fs::read_to_string(desk.state_file("loop.json")).unwrap().parse().unwrap()
}

fn event_count(desk: &ProgramRepo) -> usize {
    if desk.repo.file("assets/gep/events.jsonl").exists() { store::events(&desk.repo).len() } else { 0 }
}

#[test]
fn a_loop_runs_as_many_cycles_as_asked() {
    let desk = desk();
    let child = start_loop(&desk, &["--max-cycles", "2"], "echo \"good $CAPSID_RUN_ID\" > state.txt");
    let ran = ProgramOutput::from_output(child.wait_with_output().unwrap());
    assert_status(0, &ran);
    assert_eq!(store::events(&desk.repo).len(), 2);
}

#[test]
fn a_loop_ends_cleanly_on_sigterm_and_only_one_runs() {
    let desk = desk();
    let child = start_loop(&desk, &[], "echo \"good $CAPSID_RUN_ID\" > state.txt; sleep 0.2");
    until("the first cycle", || event_count(&desk) > 0);
    let second = ProgramOutput::from_output(start_loop(&desk, &[], "true").wait_with_output().unwrap());
    assert_status(1, &second);
    assert_eq!(second.code(), "store_locked");
    let pid = i32::try_from(child.id()).unwrap();
    assert!(second.stderr.contains(&format!("process {pid}")), "{second}");
    desk.agent("echo \"good $CAPSID_RUN_ID\" > state.txt");
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    let ran = ProgramOutput::from_output(child.wait_with_output().unwrap());
    assert_status(0, &ran);
    assert_eq!(desk.repo.read("memory/evolution/loop.lock"), "");
    assert!(!desk.state_file("solidify_journal.json").exists());
    let third = start_loop(&desk, &["--max-cycles", "1"], GOOD);
    assert_status(0, &ProgramOutput::from_output(third.wait_with_output().unwrap()));
}

#[test]
fn the_loop_calls_no_agent_with_nothing_to_do() {
    let desk = desk();
    desk.repo.write("app.log", "server started\nrequest served in 3 ms\n");
    for options in [&[][..], &["--log", "app.log"], &["--force", "--log", "app.log"]] {
        let agent = desk.agent("touch called; echo good > state.txt");
        let running = LoggedChild::start(loop_command(&desk, options, &agent));
        running.wait_for("nothing to do", 3);
        let ran = running.stop();
        assert_status(0, &ran);
        assert!(ran.stderr.contains("20 agent calls and 120 min left today"), "{ran}");
    }
    assert_eq!(event_count(&desk), 0);
    assert!(!desk.repo.file("called").exists());
    assert!(!desk.repo.file("memory/evolution/evolution_solidify_state.json").exists(), "a run was begun");
}

#[test]
fn the_loop_innovates_only_if_its_owner_lets_it() {
    let desk = desk();
    desk.repo.write("app.log", "server started\n");
    desk.repo.write("capsid.toml", "[loop]\ninnovate = true\n");
    let ran = run_loop(&desk, &["--max-cycles", "1"], GOOD);
    assert_status(0, &ran);
    assert_eq!(event_count(&desk), 1);
}

#[test]
fn a_loop_until_clean_ends_when_no_live_problem_is_left() {
    let desk = desk();
    let ran = run_loop(&desk, &["--until-clean", "--log", "app.log"], GOOD);
    assert_status(0, &ran);
    assert!(ran.stderr.contains("no live problem is left"), "{ran}");
    assert_eq!(event_count(&desk), 1);
    desk.repo.write("quiet.log", "server started\n");
    let quiet = run_loop(&desk, &["--until-clean", "--log", "quiet.log"], GOOD);
    assert_status(0, &quiet);
    assert_eq!(event_count(&desk), 1);
}

#[test]
fn the_budget_per_day_stops_agent_calls() {
    let desk = desk();
    desk.repo.write("capsid.toml", "[loop]\nagent_calls_per_day = 1\n");
    let options = ["--exit-on-budget", "--force", "--log", "app.log"];
    let ran = run_loop(&desk, &options, "echo bad > state.txt");
    assert_status(1, &ran);
    assert_eq!(ran.code(), "budget_used_up");
    assert!(ran.stderr.contains("0 agent calls") && ran.stderr.contains("agent_calls_per_day"), "{ran}");
    assert_eq!(event_count(&desk), 1);
    assert_eq!(loop_record(&desk)["spending"]["agent_calls"], 1);
    // Without the option the loop stays, and begins no run for a problem that nobody can work on.
    let agent = desk.agent(GOOD);
    let running = LoggedChild::start(loop_command(&desk, &["--force", "--log", "app.log"], &agent));
    running.wait_for("[budget_used_up]", 1);
    running.wait_for("next look in", 4);
    let ran = running.stop();
    assert_status(0, &ran);
    assert_eq!(ran.stderr.matches("[budget_used_up]").count(), 1, "{ran}");
    assert_eq!(event_count(&desk), 1);
    // A new day has a budget of its own.
    let mut record = loop_record(&desk);
    record["spending"]["date"] = "2001-02-03".into();
    std::fs::write(desk.state_file("loop.json"), record.to_string()).unwrap();
    let next = run_loop(&desk, &["--force", "--log", "app.log", "--max-cycles", "1"], GOOD);
    assert_status(0, &next);
    assert_eq!(event_count(&desk), 2);
}

#[test]
fn the_loop_stops_after_repeated_failures_with_advice() {
    let desk = desk();
    // Another gene may be chosen after two failures; the check decides about every one.
    desk.repo.write("capsid.toml", "[validation]\ncommands = [\"node check.js\"]\n");
    let agent = desk.agent(BAD);
    let running = LoggedChild::start(loop_command(&desk, &["--force", "--log", "app.log"], &agent));
    running.wait_for("is suspended until", 1);
    running.wait_for("next look in", 6);
    let ran = running.stop();
    assert_status(0, &ran);
    assert_eq!(event_count(&desk), 3, "{ran}");
    assert!(ran.stderr.contains("after 3 failed attempts"), "{ran}");
    let status = desk.program.expect(0, &desk.repo, &["status", "--json"]).json();
    let suspended = &status["loop"]["suspended"][0];
    assert!(suspended["problem"].as_str().unwrap().contains("x is not a function"), "{status}");
    assert!(suspended["until"].as_str().unwrap().contains('T'), "{status}");
    let id = suspended["id"].as_str().unwrap();
    assert!(ran.stderr.contains(&format!("capsid loop resume {id}")), "{ran}");
    let unknown = desk.program.run(&desk.repo, &["loop", "resume", "nothing"]);
    assert_status(1, &unknown);
    assert_eq!(unknown.code(), "not_found");
    desk.program.expect(0, &desk.repo, &["loop", "resume", &id[..6]]);
    let status = desk.program.expect(0, &desk.repo, &["status", "--json"]).json();
    assert_eq!(status["loop"]["suspended"], json!([]));
    // What was resumed is worked on again.
    let next = run_loop(&desk, &["--force", "--log", "app.log", "--max-cycles", "1"], GOOD);
    assert_status(0, &next);
    assert_eq!(event_count(&desk), 4, "{next}");
}

#[test]
fn five_host_failures_in_a_row_end_the_loop_with_advice() {
    let desk = desk();
    let ran = run_loop(&desk, &["--force", "--log", "app.log"], "exit 3");
    assert_status(1, &ran);
    assert_eq!(ran.code(), "agent_failed");
    assert!(ran.stderr.contains("5 host failures") && ran.stderr.contains("status 3"), "{ran}");
    assert!(ran.stderr.contains("fix:"), "{ran}");
    assert_eq!(event_count(&desk), 5);
    assert_eq!(loop_record(&desk)["attempts"], json!({}), "the problem is not charged for the machine");
}

#[test]
fn a_run_whose_agent_was_killed_with_the_loop_is_dropped_by_the_next_loop() {
    let desk = desk();
    let mut child = start_loop(&desk, &[], "echo bad > state.txt; sleep 600");
    until("the agent works", || {
        desk.state_file("loop.json").exists() && loop_record(&desk)["run_id"].is_string()
    });
    let run = loop_record(&desk)["run_id"].as_str().unwrap().to_owned();
    let folder = desk.state_file("runs").join(&run);
    until("the run has its agent", || {
        std::fs::read_to_string(folder.join("run.json")).is_ok_and(|text| text.contains("\"working\""))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = run_loop(&desk, &["--log", "app.log", "--max-cycles", "1"], GOOD);
    assert_status(0, &ran);
    assert!(ran.stderr.contains(&format!("dropped {run}: its agent was killed")), "{ran}");
    assert_eq!(event_count(&desk), 1);
    assert_eq!(desk.repo.read("state.txt"), "good\n");
    assert!(loop_record(&desk).get("run_id").is_none());
}

#[test]
fn a_frozen_change_of_a_killed_loop_is_finished_by_the_next_loop() {
    let desk = desk();
    // An agent that is stopped leaves a frozen change, as a kill between the agent and its evaluation does.
    let child = start_loop(&desk, &[], "echo good > state.txt; sleep 600");
    until("the agent works", || {
        desk.state_file("loop.json").exists() && loop_record(&desk)["run_id"].is_string()
    });
    let run = loop_record(&desk)["run_id"].as_str().unwrap().to_owned();
    let folder = desk.state_file("runs").join(&run);
    until("the agent changed the file", || {
        std::fs::read_to_string(folder.join("layers/tree/upper/state.txt")).is_ok_and(|text| text == "good\n")
    });
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_status(0, &ProgramOutput::from_output(child.wait_with_output().unwrap()));
    // The change of an agent that its owner stopped waits for the owner.
    let agent = desk.agent(GOOD);
    let running = LoggedChild::start(loop_command(&desk, &["--log", "app.log"], &agent));
    running.wait_for(&format!("{run} waits to be finished"), 2);
    assert_status(0, &running.stop());
    assert_eq!(event_count(&desk), 0);
    // One that nobody stopped is the loop's own to finish.
    let mut record = loop_record(&desk);
    record["run_id"] = run.as_str().into();
    std::fs::write(desk.state_file("loop.json"), record.to_string()).unwrap();
    let facts = folder.join("agent.json");
    let mut told: Value = std::fs::read_to_string(&facts).unwrap().parse().unwrap();
    told["failure"] = Value::Null;
    std::fs::write(&facts, told.to_string()).unwrap();
    let ran = run_loop(&desk, &["--log", "app.log", "--max-cycles", "1"], "echo bad > state.txt");
    assert_status(0, &ran);
    assert!(ran.stderr.contains(&format!("finished {run}, which a killed loop left")), "{ran}");
    assert_eq!(desk.repo.read("state.txt"), "good\n");
    assert_eq!(event_count(&desk), 1);
}
