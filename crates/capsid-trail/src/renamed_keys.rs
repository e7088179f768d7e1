//! Actions that are in the chain under another key than the transcript gives them now.
//!
//! Cursor's messages may have been sealed from its text transcript before they were in its database. Cline counts its
//! messages, so the keys of all later messages change when it removes one.

use capsid_model::Result;
use capsid_seal::chain::ChainReader;
use capsid_transcript::{Action, Tool, TranscriptSource, cursor};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Knows what a chain holds under another key.
#[derive(Debug, Default)]
pub(crate) struct RenamedKeys {
    sealed: HashSet<String>,
    /// Cursor: the key of the line that holds a bubble's words.
    lines: HashMap<String, String>,
    /// Cline: how many actions of a moment are sealed, and how many of them were met.
    moments: HashMap<String, (usize, usize)>,
}

impl RenamedKeys {
    /// What the chain of a session holds.
    pub fn load(source: &TranscriptSource, database: &Path, tenant: Option<&str>) -> Result<Self> {
        if !matches!(source.tool, Tool::Cursor | Tool::Cline) || !database.exists() {
            return Ok(Self::default());
        }
        let keys = ChainReader::open(database)?.keys(tenant)?;
        let mut renamed = Self { sealed: keys.into_iter().collect(), ..Self::default() };
        match source.tool {
            Tool::Cursor if renamed.sealed.iter().any(|key| key.starts_with("line:")) => {
                renamed.lines = cursor::line_keys(source)?;
            }
            Tool::Cline => {
                for moment in renamed.sealed.iter().filter_map(|key| moment(key)) {
                    renamed.moments.entry(moment.to_owned()).or_default().0 += 1;
                }
            }
            _ => {}
        }
        Ok(renamed)
    }

    /// Whether the action is in the chain under another key.
    pub fn holds(&mut self, action: &Action) -> bool {
        let is_line = self.lines.get(&action.key).is_some_and(|line| self.sealed.contains(line));
        let counted = moment(&action.key).and_then(|moment| self.moments.get_mut(moment));
        let is_counted = counted.is_some_and(|(sealed, met)| {
            *met += 1;
            *met <= *sealed
        });
        !self.sealed.contains(&action.key) && (is_line || is_counted)
    }
}

/// The moment in a key such as `1780308000123:7`.
fn moment(key: &str) -> Option<&str> {
    let (moment, location) = key.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(moment) && is_number(location)).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(key: &str) -> Action {
        Action { key: key.to_owned(), ..Action::default() }
    }

    #[test]
    fn a_message_that_moved_up_is_still_the_same() {
        let sealed = ["1000:0", "2000:1", "2000:2", "3000:3"].map(str::to_owned);
        let mut renamed = RenamedKeys { sealed: sealed.into(), ..RenamedKeys::default() };
        renamed.moments = HashMap::from([
            ("1000".to_owned(), (1, 0)),
            ("2000".to_owned(), (2, 0)),
            ("3000".to_owned(), (1, 0)),
        ]);
        // The first message is gone, and a new one came at the end and one at a moment that was there.
        let now = ["2000:0", "2000:1", "3000:2", "3000:3", "4000:4"];
        let held: Vec<bool> = now.iter().map(|key| renamed.holds(&action(key))).collect();
        assert_eq!(held, [true, false, true, false, false], "2000:1 and 3000:3 are keys of the chain");
    }

    #[test]
    fn words_that_were_sealed_from_the_text_are_known() {
        let mut renamed = RenamedKeys { sealed: ["line:3".to_owned()].into(), ..RenamedKeys::default() };
        renamed.lines = HashMap::from([("b1".into(), "line:3".into()), ("b2".into(), "line:5".into())]);
        assert!(renamed.holds(&action("b1")));
        assert!(!renamed.holds(&action("b2")));
        assert!(!renamed.holds(&action("b3")));
    }
}
