//! Signals outside of a repository.

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
        let signals = ran.json()["signals"].clone();
        assert!(signals.as_array().unwrap().contains(&json!("log_error")), "{ran}");
        if option == "--log" {
            assert_eq!(signals, inside["signals"]);
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
