//! Cycle after cycle.

use super::*;

fn start_loop(desk: &ProgramRepo, options: &[&str], body: &str) -> Child {
    let agent = desk.agent(body);
    let mut args = vec!["evolve", "--loop", "--force", "--no-sessions", "--log", "app.log"];
    args.extend(options);
    args.extend(["--agent", &agent]);
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20");
    command.env("EVOLVER_MAX_SLEEP_MS", "50");
    command.spawn().unwrap()
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
    until("the first cycle", || {
        desk.repo.file("assets/gep/events.jsonl").exists() && !store::events(&desk.repo).is_empty()
    });
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
