use super::*;
use capsid_model::gate::{CommandPolicy, check as check_gate};
use proptest::prelude::*;

fn narrow(tool: &str, family: &str, test: Option<&str>, place: Option<&str>) -> Option<String> {
    narrow_commands(&FailingCheck { tool, family, test, place }).pop()
}

#[test]
fn each_tool_has_its_narrow_command() {
    let table = [
        ("cargo-test", "rust", "tests::stops", "lib.rs", "cargo test tests::stops"),
        ("cargo-test", "rust", "src/lib.rs - shop::total (line 3)", "lib.rs", "cargo test shop::total"),
        (
            "pytest",
            "python",
            "tests/test_a.py::test_b[1-x]",
            "test_a.py",
            "pytest 'tests/test_a.py::test_b[1-x]'",
        ),
        (
            "unittest",
            "python",
            "test_ages.Ages.test_a",
            "test_ages.py",
            "python3 -m unittest test_ages.Ages.test_a",
        ),
        ("go-test", "go", "TestLeft", "stock/stock_test.go", "go test ./stock -run '^TestLeft$'"),
        ("go-test", "go", "TestA/sub_1", "a_test.go", "go test ./... -run '^TestA$/^sub_1$'"),
        (
            "jest",
            "js",
            "a.test.js › cart › adds (1)",
            "src/a.test.js",
            "npx jest src/a.test.js -t 'cart adds \\(1\\)'",
        ),
        ("vitest", "js", "a.test.js > b > c", "a.test.js", "npx vitest run a.test.js -t 'b c'"),
        (
            "mocha",
            "js",
            "hours counts it's pause",
            "test/h.js",
            "npx mocha test/h.js --fgrep 'hours counts it'\\''s pause'",
        ),
        ("node-test", "js", "lowers", "s.test.js", "node --test '--test-name-pattern=^lowers$' s.test.js"),
        (
            "rspec",
            "ruby",
            "Cart#total adds",
            "cart_spec.rb",
            "bundle exec rspec cart_spec.rb --example 'Cart#total adds'",
        ),
        ("junit", "java", "InvoiceTest.rounds", "InvoiceTest.java", "mvn test '-Dtest=InvoiceTest#rounds'"),
        (
            "dotnet-test",
            "dotnet",
            "Shop.T.Adds",
            "T.cs",
            "dotnet test --filter FullyQualifiedName=Shop.T.Adds",
        ),
        (
            "phpunit",
            "php",
            "Shop\\CartTest::testA",
            "CartTest.php",
            "vendor/bin/phpunit --filter '^CartTest::testA$'",
        ),
    ];
    for (tool, family, test, place, command) in table {
        assert_eq!(narrow(tool, family, Some(test), Some(place)).as_deref(), Some(command));
    }
}

#[test]
fn checkers_need_no_test() {
    assert_eq!(narrow("tsc", "tsc", None, Some("a.ts")).as_deref(), Some("npx tsc"));
    assert_eq!(
        narrow("eslint", "eslint", None, Some("my app/a.js")).as_deref(),
        Some("npx eslint 'my app/a.js'")
    );
    assert_eq!(narrow("eslint", "eslint", None, None), None);
    assert_eq!(narrow("postgresql", "postgresql", None, None), None);
}

#[test]
fn a_name_that_reads_as_an_option_gives_no_command() {
    assert_eq!(narrow("pytest", "python", Some("--pyargs"), None), None);
    assert_eq!(narrow("eslint", "eslint", None, Some("-c")), None);
    assert_eq!(narrow("pytest", "python", Some("a\nb"), None), None);
}

#[test]
fn quoted_words_reach_the_program_unchanged() {
    let policy = CommandPolicy { programs: vec!["pytest".to_owned()], inline_code: false };
    let test = "test_a.py::b[it's; $rm | * \"y\" \\ z]";
    let command = narrow("pytest", "python", Some(test), None).unwrap();
    assert_eq!(check_gate(&command, &policy).unwrap(), ["pytest", test]);
    assert_eq!(join_argv(&["a b", "", "c'd"]), "'a b' '' 'c'\\''d'");
}

/// Reads quotes as a POSIX shell does.
fn split_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_open) = (Vec::new(), None::<String>, false);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                is_open = !is_open;
                word.get_or_insert_default();
            }
            ' ' if !is_open => words.extend(word.take()),
            '\\' if !is_open => word.get_or_insert_default().push(chars.next().unwrap()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

proptest! {
    #[test]
    fn joined_words_split_into_the_same_words(argv in prop::collection::vec("\\PC{0,12}", 1..5)) {
        prop_assert_eq!(split_words(&join_argv(&argv)), argv);
    }

    #[test]
    fn no_name_panics_the_narrowing(test in "(?s).{0,40}", place in "(?s).{0,20}", tool in 0_usize..14) {
        let tools = ["cargo-test", "pytest", "unittest", "go-test", "jest", "vitest", "mocha", "node-test", "rspec",
            "phpunit", "dotnet-test", "junit", "bats", "eslint"];
        narrow(tools[tool], "java", Some(&test), Some(&place));
    }
}
