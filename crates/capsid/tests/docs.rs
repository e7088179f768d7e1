//! The pages that are made from the code say what the code says.

use std::path::{Path, PathBuf};

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn is_true(name: &str, expected: &str) {
    let path = page(name);
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        #[allow(clippy::disallowed_methods)]
        std::fs::write(&path, expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/{name} is out of date; run CAPSID_UPDATE_DOCS=1 cargo test -p capsid --test program docs"
    );
}

#[test]
fn the_command_line_page_is_true() {
    is_true("cli.md", &capsid::reference::cli_page());
}

#[test]
fn the_errors_page_is_true() {
    is_true("errors.md", &capsid::reference::errors_page());
}

/// The part of a page between two marks is made from the list that the readers' test goes by.
#[test]
fn the_differences_on_the_trails_page_are_those_of_the_list() {
    const MARKS: [&str; 2] = ["<!-- differences:begin -->\n", "<!-- differences:end -->"];
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capsid-transcript/differences.json");
    let list: capsid_model::Value = std::fs::read_to_string(list).unwrap().parse().unwrap();
    let mut table = "| tool | record | where | why |\n|---|---|---|---|\n".to_owned();
    for entry in list.as_array().unwrap() {
        let cell = |name: &str| entry[name].as_str().unwrap();
        let place =
            if cell("path") == "*" { "the whole record".to_owned() } else { format!("`{}`", cell("path")) };
        let record =
            if cell("record") == "*" { "every record".to_owned() } else { format!("`{}`", cell("record")) };
        table += &format!("| {} | {record} | {place} | {} |\n", cell("tool"), cell("reason"));
    }
    let written = std::fs::read_to_string(page("trail.md")).unwrap();
    let (before, rest) = written.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    is_true("trail.md", &format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]));
}

#[test]
fn the_argument_tree_is_sound() {
    use clap::CommandFactory;
    capsid::cli::Cli::command().debug_assert();
}
