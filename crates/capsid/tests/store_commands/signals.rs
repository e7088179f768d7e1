//! The problem and the signals of a log, inside and outside of a repository.

use super::*;

#[test]
fn a_named_input_is_enough() {
    let desk = desk();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.log"), "error: TypeError: x is not a function\n").unwrap();
    let outside = |args: &[&str]| {
        ProgramOutput::from_output(desk.program.command(folder.path(), args).output().unwrap())
    };
    let inside = good(&desk, &["signals", "--no-sessions", "--log", "app.log", "--json"]).json();
    for option in ["--log", "--user", "--memory"] {
        let ran = outside(&["signals", "--no-sessions", option, "app.log", "--json"]);
        assert_status(0, &ran);
        let told = ran.json();
        // Notes are no logs: what they say about errors is no live problem.
        assert_eq!(told["problem"].is_object(), option == "--log", "{ran}");
        if option == "--log" {
            assert!(told["signals"].as_array().unwrap().contains(&json!("log_error")), "{ran}");
            assert_eq!(told["signals"], inside["signals"]);
        }
    }
    assert_eq!(outside(&["signals", "--log", "absent.log"]).status, 2);
    for args in [&["signals"][..], &["signals", "--no-sessions"], &["select", "--log", "app.log"]] {
        let ran = outside(args);
        assert_status(2, &ran);
        assert_eq!(ran.code(), "not_a_git_repository");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
}

#[test]
fn the_problem_of_a_log_comes_first() {
    let desk = desk();
    let error = "src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n";
    // Far more than the end of the log that requests are read from.
    desk.repo.write("build.log", format!("{error}{}", "npm timing compile\n".repeat(30_000)));
    let shown = good(&desk, &["signals", "--no-sessions", "--log", "build.log"]).stdout;
    assert!(shown.starts_with("problem  tsc TS2322  compile_error\n"), "{shown}");
    for part in
        ["order.ts:7", "seen   1 time", "build.log, line 1", "1 | src/order.ts(7,3): error", "\nlog_error\n"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let told = good(&desk, &["signals", "--no-sessions", "--log", "build.log", "--json"]).json();
    assert_eq!(told["problem"]["code"], "TS2322", "{told}");
    assert_eq!(told["signals"][2], "compile_error", "{told}");
    assert_eq!(told["also"], json!([]));
}

#[test]
fn a_log_without_a_problem_says_so_and_asks_for_a_command_or_a_signal() {
    let desk = desk();
    desk.repo.write("build.log", "Compiling\nwarning: slow\nok\n");
    let shown = good(&desk, &["signals", "--no-sessions", "--log", "build.log"]);
    assert_eq!(
        shown.stdout,
        "No problem found in build.log (3 lines; 1 warning). Name a command with `--repro` or a signal with `--signal`.\n"
    );
    let named = ["signals", "--no-sessions", "--log", "build.log", "--signal", "perf_bottleneck"];
    assert!(good(&desk, &named).stdout.ends_with("\nperf_bottleneck\n"));
}

#[test]
fn the_owners_matchers_are_rules_like_others_and_a_bad_one_is_named() {
    let desk = desk();
    let matcher = r#"{"owner": "protolint", "pattern": {"regexp": "^\\[(.+):(\\d+)\\] (.+)$", "file": 1, "line": 2, "message": 3}}"#;
    desk.repo.write("ci/matcher.json", matcher);
    desk.repo.write("capsid.toml", "[problems]\nmatchers = [\"ci/matcher.json\"]\n");
    desk.repo.write("lint.log", "[order.proto:7] Field must be lower case, error\n");
    let told = good(&desk, &["signals", "--no-sessions", "--log", "lint.log", "--json"]).json();
    assert_eq!(
        (&told["problem"]["tool"], &told["problem"]["line"]),
        (&json!("protolint"), &json!(7)),
        "{told}"
    );
    desk.repo.write("ci/matcher.json", matcher.replace("^", "(?<=a)"));
    let bad = desk.program.run(&desk.repo, &["signals", "--no-sessions", "--log", "lint.log"]);
    assert_eq!(bad.code(), "config_invalid", "{bad}");
    assert!(bad.stderr.contains("ci/matcher.json") && bad.stderr.contains("protolint"), "{bad}");
}
