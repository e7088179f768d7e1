//! Many random files, in memory.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../tests/install/settings.rs"]
mod settings;

use super::settings_file::SettingsFile;
use super::{InstallOutcome, Result, claude_code, cursor};
use serde_json::{Value, json};
use settings::{Writer, claude_entry, cursor_entry, foreign, seeds};

const FILES: u64 = 1000;

/// One of the tools that keep their hooks in JSON.
struct Kind {
    events: [&'static str; 2],
    entry: fn(&mut Writer, usize) -> String,
    line: &'static str,
    with_hook: fn(&SettingsFile, &str, &mut InstallOutcome) -> Result<String>,
    without_hook: fn(&SettingsFile, &mut InstallOutcome) -> Result<String>,
}

const CLAUDE_CODE: Kind = Kind {
    events: ["Stop", "SessionEnd"],
    entry: claude_entry,
    line: "capsid trail hook claude-code",
    with_hook: |file, line, installed| claude_code::SEAL.add(file, line, installed),
    without_hook: |file, installed| claude_code::SEAL.remove(file, file.text(), installed),
};

const CURSOR: Kind = Kind {
    events: ["stop", "sessionEnd"],
    entry: cursor_entry,
    line: "capsid trail hook cursor",
    with_hook: |file, line, installed| cursor::with_hook(&cursor::SEAL, file, line, installed),
    without_hook: |file, installed| cursor::without_hook(&cursor::SEAL, file, installed),
};

impl Kind {
    fn add(&self, text: &str) -> String {
        (self.with_hook)(&SettingsFile::of_text(text), self.line, &mut InstallOutcome::new(Vec::new()))
            .unwrap()
    }

    fn remove(&self, text: &str) -> String {
        (self.without_hook)(&SettingsFile::of_text(text), &mut InstallOutcome::new(Vec::new())).unwrap()
    }
}

fn each_file(kind: &Kind, check: &dyn Fn(&str, u64)) {
    for seed in seeds(FILES) {
        let text = Writer::new(seed).file(&kind.events, &kind.entry);
        // The byte order mark is the file's and not the text's.
        check(text.trim_start_matches('\u{feff}'), seed);
    }
}

#[test]
fn what_is_added_is_added_once_and_comes_out_to_the_byte() {
    for kind in [CLAUDE_CODE, CURSOR] {
        each_file(&kind, &|original, seed| {
            let installed = kind.add(original);
            assert!(installed.matches(kind.line).count() == 2, "seed {seed}:\n{installed}");
            assert_eq!(kind.add(&installed), installed, "seed {seed}");
            assert_eq!(kind.remove(&installed), original, "seed {seed}, between:\n{installed}");
        });
    }
}

#[test]
fn what_others_add_later_stays() {
    for kind in [CLAUDE_CODE, CURSOR] {
        each_file(&kind, &|original, seed| {
            let Ok(mut value) = serde_json::from_str::<Value>(&kind.add(original)) else { return };
            let theirs = json!({ "command": "later" });
            for event in kind.events {
                let list = value["hooks"][event].as_array_mut().unwrap();
                list.insert(0, theirs.clone());
                list.push(theirs.clone());
            }
            let text = match seed % 2 {
                0 => serde_json::to_string_pretty(&value).unwrap(),
                _ => value.to_string(),
            };
            let after = kind.remove(&text);
            assert!(!after.contains(kind.line), "seed {seed}");
            assert_eq!(foreign(&after), foreign(&text), "seed {seed}:\n{text}\n--\n{after}");
            let value: Value = serde_json::from_str(&after).unwrap();
            assert_eq!(value["hooks"][kind.events[0]][0], theirs);
        });
    }
}

#[test]
fn a_file_full_of_hooks_takes_no_more_than_its_size() {
    let entry = r#"{"command":"x"}"#;
    let text = format!(r#"{{"version":1,"hooks":{{"stop":[{}]}}}}"#, vec![entry; 20_000].join(","));
    let installed = CURSOR.add(&text);
    assert_eq!(CURSOR.remove(&installed), text);
}

#[test]
fn a_file_full_of_our_own_hook_is_refused() {
    let entry = r#"{"command":"capsid trail hook cursor"}"#;
    let text = format!(r#"{{"hooks":{{"stop":[{}]}}}}"#, vec![entry; 150].join(","));
    let refused = (CURSOR.without_hook)(&SettingsFile::of_text(&text), &mut InstallOutcome::new(Vec::new()));
    assert!(refused.is_err());
}
