use super::*;
use proptest::prelude::*;

const PACKAGE: &str = "{\n    \"name\": \"shop\",\n    \"scripts\": {\"test\": \"jest\"},\n    \"dependencies\": {\"a\": \"1\"}\n}\n";

const CARGO: &str = "# The shop.\n[package]\nname = \"shop\" # short\nversion = \"0.1.0\"\n\n[dependencies]\nserde = \"1\"\n\n[lints.rust]\nunsafe_code = \"forbid\"\n";

const PYPROJECT: &str = "[project]\nname = \"shop\"\ndependencies = [\"a\"]\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n\n[tool.poetry.dependencies]\nb = \"1\"\n";

fn split(kind: ManifestKind, old: &str, edits: &[(&str, &str)]) -> (ManifestSplit, String) {
    let mut new = old.to_owned();
    for (from, to) in edits {
        assert!(new.contains(from), "{from}");
        new = new.replacen(from, to, 1);
    }
    (split_manifest(kind, old, &new), new)
}

#[test]
fn a_change_of_dependencies_alone_is_source() {
    let cases = [
        (ManifestKind::PackageJson, PACKAGE, ("\"1\"", "\"2\"")),
        (ManifestKind::CargoToml, CARGO, ("serde = \"1\"", "serde = \"2\"\ntoml = \"1\"")),
        (ManifestKind::PyprojectToml, PYPROJECT, ("[\"a\"]", "[\"a\", \"c\"]")),
        (ManifestKind::PyprojectToml, PYPROJECT, ("b = \"1\"", "b = \"2\"")),
    ];
    for (kind, old, edit) in cases {
        let (split, new) = split(kind, old, &[edit]);
        assert_eq!((split.has_source_change, split.has_check_change), (true, false), "{edit:?}");
        assert_eq!((split.source_only, split.check_only), (new, old.to_owned()));
    }
}

#[test]
fn a_change_of_scripts_or_test_settings_alone_is_a_check() {
    let cases = [
        (ManifestKind::PackageJson, PACKAGE, ("\"jest\"", "\"true\"")),
        (ManifestKind::CargoToml, CARGO, ("forbid", "allow")),
        (ManifestKind::CargoToml, CARGO, ("version", "autotests = false\nversion")),
        (ManifestKind::CargoToml, CARGO, ("[dependencies]", "[lib]\ntest = false\n\n[dependencies]")),
        (ManifestKind::CargoToml, CARGO, ("[dependencies]", "[[test]]\nname = \"it\"\n\n[dependencies]")),
        (ManifestKind::PyprojectToml, PYPROJECT, ("[\"tests\"]", "[\"none\"]")),
        (
            ManifestKind::PyprojectToml,
            PYPROJECT,
            ("[tool.poetry", "[tool.mypy]\nstrict = false\n\n[tool.poetry"),
        ),
    ];
    for (kind, old, edit) in cases {
        let (split, new) = split(kind, old, &[edit]);
        assert_eq!((split.has_source_change, split.has_check_change), (false, true), "{edit:?}");
        assert_eq!((split.source_only, split.check_only), (old.to_owned(), new));
    }
}

#[test]
fn a_change_of_both_parts_becomes_two_texts() {
    let (split_json, _) =
        split(ManifestKind::PackageJson, PACKAGE, &[("\"jest\"", "\"true\""), ("\"1\"", "\"2\"")]);
    assert!(split_json.source_only.contains("\"jest\"") && split_json.source_only.contains("\"a\": \"2\""));
    assert!(split_json.check_only.contains("\"true\"") && split_json.check_only.contains("\"a\": \"1\""));
    assert!(split_json.source_only.starts_with("{\n    \"name\"") && split_json.source_only.ends_with("}\n"));

    let (split_cargo, _) =
        split(ManifestKind::CargoToml, CARGO, &[("serde = \"1\"", "serde = \"2\""), ("forbid", "allow")]);
    assert_eq!(split_cargo.source_only, CARGO.replace("serde = \"1\"", "serde = \"2\""));
    assert_eq!(split_cargo.check_only, CARGO.replace("forbid", "allow"));

    let edits = [("[\"a\"]", "[\"c\"]"), ("[\"tests\"]", "[\"none\"]"), ("b = \"1\"", "b = \"2\"")];
    let (split_python, _) = split(ManifestKind::PyprojectToml, PYPROJECT, &edits);
    assert_eq!(split_python.check_only, PYPROJECT.replace("[\"tests\"]", "[\"none\"]"));
    assert!(split_python.source_only.contains("testpaths = [\"tests\"]"));
}

#[test]
fn a_new_member_of_a_mixed_table_goes_to_its_own_part() {
    let new = format!("{CARGO}\n[lib]\npath = \"lib.rs\"\ntest = false\n");
    let split = split_manifest(ManifestKind::CargoToml, CARGO, &new);
    assert!(split.has_source_change && split.has_check_change);
    assert!(split.source_only.contains("path = \"lib.rs\"") && !split.source_only.contains("test = false"));
    assert!(split.check_only.contains("test = false") && !split.check_only.contains("lib.rs"));
    let back = split_manifest(ManifestKind::CargoToml, &new, CARGO);
    assert!(!back.source_only.contains("lib.rs") && back.source_only.contains("test = false"));
}

#[test]
fn a_manifest_that_cannot_be_parsed_is_a_check_file_as_a_whole() {
    for (kind, old, new) in [
        (ManifestKind::PackageJson, PACKAGE, "{"),
        (ManifestKind::PackageJson, PACKAGE, "[1]"),
        (ManifestKind::CargoToml, "[package", CARGO),
    ] {
        let split = split_manifest(kind, old, new);
        assert!(split.has_check_change && !split.has_source_change);
        assert_eq!((split.source_only.as_str(), split.check_only.as_str()), (old, new));
    }
}

#[test]
fn comments_and_a_new_manifest_are_split_too() {
    let (split, new) = split(ManifestKind::CargoToml, CARGO, &[("# short", "# shorter")]);
    assert_eq!((split.has_source_change, split.has_check_change), (true, false));
    assert_eq!(split.source_only, new);
    let created = split_manifest(ManifestKind::PackageJson, "", PACKAGE);
    assert!(created.source_only.contains("dependencies") && !created.source_only.contains("scripts"));
    assert!(created.check_only.contains("scripts") && !created.check_only.contains("dependencies"));
    let same = split_manifest(ManifestKind::CargoToml, CARGO, CARGO);
    assert!(!same.has_source_change && !same.has_check_change);
}

#[test]
fn the_name_of_a_file_tells_its_kind() {
    assert_eq!(ManifestKind::from_path("web\\package.json"), Some(ManifestKind::PackageJson));
    assert_eq!(ManifestKind::from_path("./pyproject.toml"), Some(ManifestKind::PyprojectToml));
    assert_eq!(ManifestKind::from_path("Cargo.toml"), Some(ManifestKind::CargoToml));
    assert_eq!(ManifestKind::from_path("Cargo.lock"), None);
}

fn toml_text() -> impl Strategy<Value = String> {
    let section = prop_oneof![
        Just("[dependencies]"),
        Just("[dev-dependencies.a]"),
        Just("[lints.rust]"),
        Just("[profile.dev]"),
        Just("[lib]\ntest = false"),
        Just("[lib.x]"),
        Just("[[test]]"),
        Just("[package]"),
        Just("[workspace.lints.clippy]"),
        Just("[workspace.dependencies]"),
        Just("lib = { test = true, path = \"a\" }"),
    ];
    let member = prop_oneof![Just("a = 1"), Just("b = \"x\" # y"), Just("c.d = [1]"), Just("")];
    prop::collection::vec((section, member), 0..6)
        .prop_map(|parts| parts.iter().map(|(section, member)| format!("{section}\n{member}\n")).collect())
}

proptest! {
    #[test]
    fn both_parts_together_are_the_new_manifest(old in toml_text(), new in toml_text()) {
        let parse = |text: &str| text.parse::<DocumentMut>().map(|document| plain_table(document.as_table()));
        if let (Ok(_), Ok(plain_new)) = (parse(&old), parse(&new)) {
            let split = split_manifest(ManifestKind::CargoToml, &old, &new);
            let again = split_manifest(ManifestKind::CargoToml, &split.source_only, &new);
            prop_assert!(parse(&split.source_only).is_ok() && parse(&split.check_only).is_ok());
            prop_assert_eq!(parse(&again.check_only).unwrap(), plain_new);
        }
    }

    #[test]
    fn no_text_panics_the_split(old in "(?s).{0,80}", new in "(?s).{0,80}") {
        for kind in [ManifestKind::PackageJson, ManifestKind::PyprojectToml, ManifestKind::CargoToml] {
            split_manifest(kind, &old, &new);
        }
    }
}
