//! `strsim` from crates.io.

use super::peers::{cargo_environment, find_crate};
use super::story::{PackageCase, repair_twice};

#[test]
fn a_mistake_in_strsim_is_repaired_by_an_agent_once() {
    let folder = find_crate("strsim");
    // The examples of its documentation are left out: each is a program of its own to compile.
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap() + "\n[lib]\ndoctest = false\n";
    let file = |name: &'static str| (name, folder.join(name));
    repair_twice(&PackageCase {
        name: "strsim",
        files: vec![file("LICENSE"), file("src/lib.rs"), file("tests/lib.rs")],
        added: vec![("Cargo.toml", manifest), (".gitignore", "/target\nbuild.log\n".to_owned())],
        environment: cargo_environment(),
        policy: &[],
        suite: "cargo test",
        // Another test shows the same problem in the clone.
        tests: ["cargo test jaro_same", "cargo test jaro_winkler_same"],
        mistake: (
            "src/lib.rs",
            "    search_range = search_range.saturating_sub(1);",
            "    search_range -= 1;",
        ),
        unrelated: ("\nuse std::char;\n", "\n// Nothing but the standard library.\nuse std::char;\n"),
        repair: "s/search_range -= 1;/search_range = search_range.saturating_sub(1);/",
        note: "Let the search range of jaro end at zero\n\n\
            For texts of one character half of the length is zero, and one less than that is no usize.",
        problem: "attempt to subtract with overflow",
        level: "message",
    });
}
