use super::*;

fn known(command: &str) -> Reproduction {
    Reproduction {
        command: command.into(),
        source: CommandSource::Log,
        preparation: vec!["npm run build".into()],
        runs: Vec::new(),
        tests: None,
        flaky: None,
        output: String::new(),
        is_reproduced: true,
    }
}

#[test]
fn the_reproduction_runs_first_and_each_command_once() {
    let owner = ["npm run build".to_owned(), "npm test".to_owned()];
    assert_eq!(all_commands(Some(&known("npm test")), &owner), owner);
    assert_eq!(all_commands(Some(&known("node x.js")), &owner), ["node x.js", "npm run build", "npm test"]);
    assert_eq!(all_commands(None, &owner), owner);
}

#[test]
fn a_check_that_the_change_adds_is_no_old_check() {
    let pair = |name: &str, before: Option<&str>| ChangePair {
        name: name.as_bytes().to_vec(),
        before: before.map(|text| (0o100_644, text.as_bytes().to_vec())),
        after: Some((0o100_644, Vec::new())),
    };
    let pairs = [pair("retry.test.js", None), pair("shop.test.js", Some("old"))];
    assert!(runs_new_file("node ./retry.test.js", &pairs));
    assert!(!runs_new_file("node shop.test.js", &pairs) && !runs_new_file("npm test", &pairs));
}

#[test]
fn a_command_that_can_fail_decides() {
    let owner = ["node --version".to_owned(), "npm test".to_owned()];
    assert_eq!(deciding_command(None, &owner).unwrap().command, "npm test");
    assert_eq!(deciding_command(Some(&known("node x.js")), &owner).unwrap().command, "node x.js");
    assert_eq!(deciding_command(None, &[]), None);
}
