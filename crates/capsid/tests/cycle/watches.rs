//! `[loop] watch`: commands whose output is a log.

use super::*;

/// A test that fails with an error of Node once `state.txt` holds `broken`.
const WATCHED: &str = "const text = require('fs').readFileSync('state.txt', 'utf8');\n\
    if (text.includes('broken')) { const order = {}; order.total(); }\n";

fn watching() -> ProgramRepo {
    let desk = desk();
    desk.repo.write("watched.js", WATCHED);
    desk.repo.write("capsid.toml", "[loop]\nwatch = [\"node watched.js\"]\n");
    desk.repo.commit("Watch a command");
    desk
}

fn loop_command(desk: &ProgramRepo, options: &[&str], body: &str) -> std::process::Command {
    let agent = desk.agent(body);
    let mut args = vec!["evolve", "--loop", "--no-sessions"];
    args.extend(options);
    args.extend(["--agent", &agent]);
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20").env("EVOLVER_MAX_SLEEP_MS", "50");
    command
}

#[test]
fn a_watched_command_that_fails_is_a_problem_that_the_loop_solves() {
    let desk = watching();
    let running = LoggedChild::start(loop_command(&desk, &["--until-clean"], "echo fixed > state.txt"));
    let ran = running.end();
    assert_status(0, &ran);
    assert!(ran.stderr.contains("the watched commands pass"), "{ran}");
    assert!(!desk.repo.file("assets/gep/events.jsonl").exists() || store::events(&desk.repo).is_empty());
    desk.repo.write("state.txt", "broken\n");
    let ran = LoggedChild::start(loop_command(&desk, &["--until-clean"], "echo fixed > state.txt")).end();
    assert_status(0, &ran);
    assert_eq!(desk.repo.read("state.txt"), "fixed\n");
    assert_eq!(store::events(&desk.repo).len(), 1);
    let signals = last_event(&desk)["signals"].to_string();
    assert!(signals.contains("order.total is not a function"), "{signals}");
}

#[test]
fn a_problem_that_came_back_after_an_apply_is_reported_as_regressed() {
    let desk = watching();
    // `check.js` passes, so the change is accepted; the watched command shows that the problem is still there.
    desk.repo.write("state.txt", "broken\n");
    desk.repo.write(
        "app.log",
        "TypeError: order.total is not a function\n    at total (/srv/app/watched.js:2:50)\n",
    );
    let options = ["--force", "--log", "app.log", "--max-cycles", "1"];
    let ran = LoggedChild::start(loop_command(&desk, &options, "echo still broken > state.txt")).end();
    assert_status(0, &ran);
    assert!(ran.stderr.contains("regressed:"), "{ran}");
    assert_eq!(store::list(&desk.repo, "capsules")[0]["success_streak"], 0);
    let event = last_event(&desk);
    assert_eq!(event["meta"]["regressed"], true);
    assert_eq!(event["outcome"]["status"], "failed");
}

#[test]
fn a_watched_command_that_the_gate_refuses_is_reported_once() {
    let desk = desk();
    desk.repo.write("app.log", "server started\n");
    desk.repo.write("capsid.toml", "[loop]\nwatch = [\"curl example.com\"]\n");
    let running = LoggedChild::start(loop_command(&desk, &["--log", "app.log"], GOOD));
    running.wait_for("[command_refused]", 1);
    running.wait_for("next look in", 4);
    let ran = running.stop();
    assert_status(0, &ran);
    assert_eq!(ran.stderr.matches("[command_refused]").count(), 1, "{ran}");
}
