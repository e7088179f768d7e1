//! The pages that are made from the code say what the code says.

#![allow(clippy::unwrap_used)]

use std::path::Path;

fn is_true(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        #[allow(clippy::disallowed_methods)]
        std::fs::write(&path, expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/{name} is out of date; run CAPSID_UPDATE_DOCS=1 cargo test -p capsid --test docs"
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

#[test]
fn the_argument_tree_is_sound() {
    use clap::CommandFactory;
    capsid::cli::Cli::command().debug_assert();
}
