//! What a unified diff says about a change: its files, its functions, its lines.

use super::functions::{find_definition, find_in_header};

/// How many functions are remembered.
const MAX_FUNCTIONS: usize = 16;

/// The facts of a change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffFacts {
    /// Changed files in the order of the diff.
    pub files: Vec<String>,
    /// Functions and types with changed lines, in the order of the diff.
    pub functions: Vec<String>,
    pub added_lines: u64,
    pub removed_lines: u64,
    /// How many of the files are new.
    pub new_files: u64,
    /// How many of the files are deleted.
    pub deleted_files: u64,
}

impl DiffFacts {
    /// Reads a unified diff, as git writes it.
    pub fn parse(diff: &str) -> Self {
        let mut facts = Self::default();
        let (mut old_left, mut new_left) = (0_u64, 0_u64);
        let (mut function, mut old_file): (Option<&str>, &str) = (None, "");
        for line in diff.lines() {
            if old_left == 0 && new_left == 0 {
                if let Some((lengths, header)) = parse_hunk_header(line) {
                    (old_left, new_left) = lengths;
                    function = find_in_header(header);
                } else if let Some(file) = line.strip_prefix("--- ") {
                    old_file = file;
                } else if let Some(file) = line.strip_prefix("+++ ") {
                    facts.add_file(old_file, file);
                }
                continue;
            }
            let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            // A context line or a changed line may begin another function.
            if let Some(name) = find_definition(text) {
                function = Some(name);
            }
            match mark {
                "+" => {
                    new_left = new_left.saturating_sub(1);
                    facts.added_lines += 1;
                }
                "-" => {
                    old_left = old_left.saturating_sub(1);
                    facts.removed_lines += 1;
                }
                "\\" => continue,
                _ => {
                    (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
                    continue;
                }
            }
            if !text.trim().is_empty() {
                facts.add_function(function);
            }
        }
        facts
    }

    fn add_file(&mut self, old: &str, new: &str) {
        let is_deleted = new.starts_with("/dev/null");
        let is_new = old.starts_with("/dev/null");
        let (path, prefix) = if is_deleted { (old, "a/") } else { (new, "b/") };
        // git writes a tab behind a path with spaces, and quotes around one with odd characters.
        let path = path.split('\t').next().unwrap_or(path).trim_matches('"');
        self.files.push(path.strip_prefix(prefix).unwrap_or(path).to_owned());
        self.new_files += u64::from(is_new);
        self.deleted_files += u64::from(is_deleted);
    }

    fn add_function(&mut self, function: Option<&str>) {
        if let Some(name) = function
            && self.functions.len() < MAX_FUNCTIONS
            && self.functions.iter().all(|known| known != name)
        {
            self.functions.push(name.to_owned());
        }
    }
}

/// The lengths and the text behind `@@ -10,7 +10,12 @@`.
fn parse_hunk_header(line: &str) -> Option<((u64, u64), &str)> {
    let (ranges, header) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some(((length(old)?, length(new)?), header.trim_start()))
}
