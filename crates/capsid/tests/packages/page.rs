//! The page that shows a story: what was printed, without what differs from run to run.

use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What a run prints, with stable words for paths, ids and times.
pub struct StablePrint {
    pub text: String,
    paths: Vec<(String, String)>,
    ids: BTreeMap<String, String>,
    in_block: bool,
}

impl StablePrint {
    /// `paths` are those of this run, and the words that stand for them.
    pub fn new(paths: &[(&Path, &str)]) -> Self {
        let paths = paths.iter().map(|(path, word)| (path.display().to_string(), (*word).to_owned()));
        Self { text: String::new(), paths: paths.collect(), ids: BTreeMap::new(), in_block: false }
    }

    pub fn add_text(&mut self, text: &str) {
        self.end_block();
        self.text += &format!("\n{text}");
    }

    /// A command and what it printed. Commands without anything between them share a block.
    pub fn add_command(&mut self, command: &str, printed: &str) {
        if !self.in_block {
            self.text += "\n```console\n";
            self.in_block = true;
        }
        let shown = self.stabilize(&format!("$ {command}\n{printed}"));
        self.text += &shown;
    }

    pub fn end_block(&mut self) {
        if std::mem::take(&mut self.in_block) {
            self.text += "```\n";
        }
    }

    fn stabilize(&mut self, printed: &str) -> String {
        let mut text = printed.to_owned();
        for (path, word) in &self.paths {
            text = text.replace(path, word);
        }
        // As long as the real ones, so that columns stay columns.
        let ids = &mut self.ids;
        text = replace(&text, r"\b(run|evt|capsule|vr)_\d{13}\b", |found| {
            let next = ids.len() + 1;
            ids.entry(found[0].to_owned()).or_insert_with(|| format!("{}_{next:013}", &found[1])).clone()
        });
        for (pattern, word) in [
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-01-01 00:00:00"),
            (r"(?P<exit>exit \d+), [\d.]+ s\)", "${exit}, <n> s)"),
            (r"\b[0-9a-f]{16}\b", "<key>"),
            (r"(?P<chain>chain capsid/\S+)-[0-9a-f]{12}", "${chain}-<id>"),
            (r"wrote \d+ file\(s\)(?P<rest>.*?) \(\d+\)", "wrote <n> file(s)${rest} (<n>)"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, word).into_owned();
        }
        text
    }
}

fn replace(text: &str, pattern: &str, replacement: impl FnMut(&Captures<'_>) -> String) -> String {
    Regex::new(pattern).unwrap().replace_all(text, replacement).into_owned()
}

/// Panics unless the section of the page between the marks of a name is this text. With `CAPSID_UPDATE_DOCS` it is
/// written first. Tests of other sections may write at the same time, so the file is locked.
pub fn compare_section(name: &str, expected: &str) {
    const PAGE: &str = "docs/explanation/repair-twice.md";
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let lock = File::open(&path).unwrap();
    lock.lock().unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    let marks = [format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->")];
    let (before, rest) = written.split_once(&marks[0]).unwrap();
    let (section, after) = rest.split_once(&marks[1]).unwrap();
    if section == expected {
        return;
    }
    assert!(
        std::env::var_os("CAPSID_UPDATE_DOCS").is_some(),
        "{PAGE} is out of date; run CAPSID_UPDATE_DOCS=1 cargo nextest run --workspace -E 'test(/^packages::/)'\n\
         --- the page\n{section}\n--- this run\n{expected}"
    );
    std::fs::write(&path, format!("{before}{}{expected}{}{after}", marks[0], marks[1])).unwrap();
}
