//! The picture of the README: what `capsid demo` prints of a change that is applied and of one that is dropped.

use super::{is_update, root};
use anstyle_svg::Term;
use regex::Regex;

const PICTURE: &str = "docs/images/first-minute.svg";

/// The lines of the demo that the picture shows, by their beginnings and in their order.
const LINES: [&str; 16] = [
    "Cycle 1",
    "$ sh test.sh",
    "  error: average.sh",
    "  agent: average.sh",
    "success",
    "  change      1 file",
    "  validation  passed",
    "  capsule  ",
    "  applied",
    "Cycle 3",
    "$ sh report.sh",
    "  agent: done",
    "failed",
    "  validation  failed",
    "  reason      constraint",
    "  dropped",
];

/// The colours of a terminal, and those of the pages in their place.
const COLOURS: [(&str, &str); 6] = [
    ("#000000", "#131416"),
    ("#AAAAAA", "#eceae6"),
    ("#00AAAA", "#5cc9bb"),
    ("#00AA00", "#7fd08f"),
    ("#AA0000", "#ff9c92"),
    ("opacity: 0.4", "opacity: 0.65"),
];

#[test]
fn the_picture_of_the_readme_is_what_the_demo_prints() {
    let program = crate::common::program();
    let output = program.command(program.home(), &["--color", "always", "demo"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let colour = Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    let mut lines = printed.lines();
    let mut shown = "\u{1b}[2m$\u{1b}[0m \u{1b}[1mcapsid demo\u{1b}[0m\n".to_owned();
    for start in LINES {
        let line = lines.find(|line| colour.replace_all(line, "").starts_with(start));
        let line = line.unwrap_or_else(|| panic!("the demo prints no `{start}` there:\n{printed}"));
        if start.starts_with("Cycle") {
            shown.push('\n');
        }
        shown += &format!("{}\n", stable(line));
    }
    let svg = COLOURS.iter().fold(Term::new().render_svg(&shown), |svg, (from, to)| svg.replace(from, to));
    let path = root().join(PICTURE);
    if is_update() {
        std::fs::write(&path, &svg).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == svg, "{PICTURE} is out of date; run scripts/picture");
    assert!(!svg.replace("http://www.w3.org/2000/svg", "").contains("://"), "the picture loads something");
}

/// A line without what differs from run to run, of the same length.
fn stable(line: &str) -> String {
    let id = Regex::new(r"(run|evt|capsule)_\d{13}").unwrap();
    id.replace_all(line, "${1}_1770477654236").into_owned()
}
