use super::*;

fn pair(name: &str, before: Option<&str>, after: Option<&str>) -> ChangePair {
    let content = |text: Option<&str>| text.map(|text| (0o100_644, text.as_bytes().to_vec()));
    ChangePair { name: name.as_bytes().to_vec(), before: content(before), after: content(after) }
}

#[test]
fn tests_and_source_are_told_apart() {
    let pairs = [
        pair("src/slug.js", Some("a"), Some("b")),
        pair("test/slug.test.js", Some("t"), None),
        pair("test/new.test.js", None, Some("n")),
    ];
    let parts = ChangeParts::split(&pairs, &["npm test"]);
    assert_eq!(parts.check_files, ["test/slug.test.js", "test/new.test.js"]);
    assert!(parts.has_source);
    assert_eq!(parts.source_only[0].1, pairs[0].after);
    assert_eq!(parts.source_only[1].1, pairs[1].before);
    assert_eq!(parts.source_only[2].1, None);
    assert_eq!(parts.checks_only[0].1, pairs[0].before);
    assert_eq!(parts.checks_only[1].1, None);
}

#[test]
fn a_script_of_a_manifest_is_a_check_and_a_dependency_is_source() {
    let old = r#"{"scripts":{"test":"node t.js"},"dependencies":{"a":"1"}}"#;
    let cheat = pair("package.json", Some(old), Some(&old.replace("node t.js", "true")));
    let parts = ChangeParts::split(&[cheat], &["npm test"]);
    assert_eq!((parts.check_files.len(), parts.has_source), (1, false));
    let update = pair("package.json", Some(old), Some(&old.replace("\"1\"", "\"2\"")));
    let parts = ChangeParts::split(&[update], &["npm test"]);
    assert_eq!((parts.check_files.len(), parts.has_source), (0, true));
}
