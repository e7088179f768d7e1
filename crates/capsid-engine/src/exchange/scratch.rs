//! The files that a foreign diff creates, and an empty folder to put them in. Nothing else of a diff is applied.
//!
//! Reading is pure; every path is checked before anything is written, and nothing is ever written through a link,
//! because the folder is new and no link is made in it.

use capsid_disk::files;
use capsid_model::{Problem, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// The most files of a diff.
const MAX_FILES: usize = 200;
/// The most bytes of all of them.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// The longest path, and the most folders in it.
const MAX_PATH_LEN: usize = 240;
const DEEPEST: usize = 12;

/// A file that a diff creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedFile {
    /// Its path below the folder.
    pub path: String,
    pub content: String,
}

/// What a diff creates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CreatedFiles {
    pub files: Vec<CreatedFile>,
    /// How many other files it touches: those are not here, so that part cannot be made again.
    pub missing: usize,
}

/// Why a diff is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffRefusal {
    /// It reaches outside its folder, or into what is not its own.
    Hostile,
    /// It holds more than is put anywhere.
    TooLarge,
}

/// Reads a unified diff as git writes it.
pub fn created(diff: &str) -> std::result::Result<CreatedFiles, DiffRefusal> {
    if diff.len() > 2 * MAX_BYTES {
        return Err(DiffRefusal::TooLarge);
    }
    let mut created = CreatedFiles::default();
    let mut names = BTreeSet::new();
    for section in sections(diff) {
        match section.new_file()? {
            None => created.missing += 1,
            Some(file) => {
                // A second file of the same name would be written over the first: no honest diff holds it.
                if !names.insert(file.path.clone()) {
                    return Err(DiffRefusal::Hostile);
                }
                created.files.push(file);
            }
        }
        let bytes: usize = created.files.iter().map(|file| file.content.len()).sum();
        if created.files.len() > MAX_FILES || bytes > MAX_BYTES {
            return Err(DiffRefusal::TooLarge);
        }
    }
    if diff.contains("... [TRUNCATED]") {
        created.missing += 1;
    }
    Ok(created)
}

/// Writes what a diff creates into an empty folder.
pub fn fill(folder: &Path, created: &CreatedFiles) -> Result<()> {
    for file in &created.files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| Problem::io("create", parent, &error))?;
        files::replace(&path, file.content.as_bytes())?;
    }
    Ok(())
}

/// One file of a diff.
#[derive(Default)]
struct DiffSection<'a> {
    head: Vec<&'a str>,
    body: Vec<&'a str>,
}

/// Splits a diff at its files. Lines of a hunk are counted, so that no content is taken for a header.
fn sections(diff: &str) -> Vec<DiffSection<'_>> {
    let mut sections: Vec<DiffSection<'_>> = Vec::new();
    let (mut old_left, mut new_left) = (0_usize, 0_usize);
    let mut in_hunks = false;
    for line in diff.split('\n') {
        if old_left > 0 || new_left > 0 {
            match line.as_bytes().first() {
                Some(b'+') => new_left = new_left.saturating_sub(1),
                Some(b'-') => old_left = old_left.saturating_sub(1),
                Some(b'\\') => {}
                _ => (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1)),
            }
            if let Some(section) = sections.last_mut() {
                section.body.push(line);
            }
            continue;
        }
        let begins = line.starts_with("diff --git ")
            || (line.starts_with("--- ") && (in_hunks || sections.is_empty()));
        if begins {
            sections.push(DiffSection::default());
            in_hunks = false;
        }
        let Some(section) = sections.last_mut() else { continue };
        if let Some((old, new)) = hunk(line) {
            (old_left, new_left) = (old, new);
            in_hunks = true;
            section.body.push(line);
        } else if line.starts_with('\\') && in_hunks {
            section.body.push(line);
        } else if !in_hunks {
            section.head.push(line);
        }
    }
    sections
}

/// How many old and new lines a hunk's header announces.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let ranges = line.strip_prefix("@@ -")?.split_once(" @@")?.0;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

impl DiffSection<'_> {
    fn starts(&self, prefix: &str) -> Option<&str> {
        self.head.iter().find_map(|line| line.strip_prefix(prefix))
    }

    /// The file it creates; none where it changes, moves or removes one, or is no text.
    fn new_file(&self) -> std::result::Result<Option<CreatedFile>, DiffRefusal> {
        for line in &self.head {
            check_names(line)?;
        }
        let mode = self.starts("new file mode ");
        if mode.is_some_and(|mode| !matches!(mode.trim(), "100644" | "100755" | "100664")) {
            // A link or a repository inside: neither is made.
            return Err(DiffRefusal::Hostile);
        }
        let from_nothing = self.starts("--- ").is_some_and(|old| old.trim_end() == "/dev/null");
        if !from_nothing {
            // An empty new file has no hunk and no names but in its first line.
            let empty = mode.is_some() && self.body.is_empty() && self.starts("index ").is_some();
            let name =
                self.starts("diff --git ").and_then(|names| names.split_once(" b/")).map(|(_, name)| name);
            let binary =
                self.head.iter().any(|line| line.starts_with("Binary ") || line.starts_with("GIT binary"));
            return match name.filter(|_| empty && !binary) {
                Some(name) => Ok(Some(CreatedFile { path: checked(name)?, content: String::new() })),
                None => Ok(None),
            };
        }
        let Some(new) = self.starts("+++ ") else { return Ok(None) };
        let new = new.trim_end_matches(['\r', '\t']);
        let Some(name) = new.strip_prefix("b/") else {
            return if new.starts_with('"') { Ok(None) } else { Err(DiffRefusal::Hostile) };
        };
        Ok(Some(CreatedFile { path: checked(name)?, content: self.content() }))
    }

    fn content(&self) -> String {
        let mut content = String::new();
        for (at, line) in self.body.iter().enumerate() {
            let Some(text) = line.strip_prefix('+') else { continue };
            content.push_str(text);
            let ends = self.body.get(at + 1).is_some_and(|next| next.starts_with('\\'));
            if !ends {
                content.push('\n');
            }
        }
        content
    }
}

/// Names in a header, also of files that are not created: none of them may lead outside.
fn check_names(line: &str) -> std::result::Result<(), DiffRefusal> {
    let named = ["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];
    let Some(name) = named.iter().find_map(|prefix| line.strip_prefix(prefix)) else { return Ok(()) };
    let name = name.trim_end_matches(['\r', '\t']).trim_matches('"');
    let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    if name == "/dev/null" { Ok(()) } else { checked(name).map(|_| ()) }
}

/// Whether a path stays below its folder and names nothing that belongs to git.
pub fn is_safe_path(path: &str) -> bool {
    checked(path).is_ok()
}

/// A path that stays below its folder and names nothing that belongs to git.
fn checked(name: &str) -> std::result::Result<String, DiffRefusal> {
    let parts: Vec<&str> = name.split('/').collect();
    let odd = |part: &str| {
        matches!(part, "" | "." | "..")
            || part.eq_ignore_ascii_case(".git")
            || part.chars().any(|c| c.is_control() || matches!(c, '\\' | ':'))
            || part.len() > 200
    };
    if name.len() > MAX_PATH_LEN || parts.len() > DEEPEST || parts.iter().any(|part| odd(part)) {
        return Err(DiffRefusal::Hostile);
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: &[&str]) -> String {
        let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{body}",
            lines.len()
        )
    }

    #[test]
    fn new_files_are_read_and_changed_ones_are_counted() {
        let diff = format!(
            "{}{}diff --git a/old.js b/old.js\nindex 1..2 100644\n--- a/old.js\n+++ b/old.js\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
            file("src/a.js", &["one", "--- a/x", "diff --git a/q b/q", ""]),
            "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n"
        );
        let read = created(&diff).unwrap();
        assert_eq!(read.missing, 1);
        assert_eq!(read.files.len(), 2);
        assert_eq!(read.files[0].content, "one\n--- a/x\ndiff --git a/q b/q\n\n");
        assert_eq!(read.files[1], CreatedFile { path: "empty".into(), content: String::new() });
        let cut = file("a", &["x"]).replace("+x\n", "+x\n\\ No newline at end of file\n");
        assert_eq!(created(&cut).unwrap().files[0].content, "x");
        assert_eq!(created("").unwrap(), CreatedFiles::default());
        assert_eq!(created("not a diff\n@@ -1 +1 @@\n").unwrap(), CreatedFiles::default());
        assert_eq!(created(&format!("{}\n... [TRUNCATED]", file("a", &["x"]))).unwrap().missing, 1);
    }

    #[test]
    fn a_hostile_path_refuses_the_whole_diff() {
        for path in [
            "../x",
            "a/../../x",
            "/etc/x",
            ".git/hooks/pre-commit",
            "a/.GIT/config",
            "a//b",
            "a/./b",
            "c:/x",
            "a\\..\\b",
        ] {
            assert_eq!(created(&file(path, &["x"])), Err(DiffRefusal::Hostile), "{path}");
        }
        let link = file("link", &["/etc/passwd"]).replace("100644", "120000");
        assert_eq!(created(&link), Err(DiffRefusal::Hostile));
        let module = file("sub", &["Subproject commit 1"]).replace("100644", "160000");
        assert_eq!(created(&module), Err(DiffRefusal::Hostile));
        let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to ../y\n";
        assert_eq!(created(renamed), Err(DiffRefusal::Hostile));
        let plain = "--- /dev/null\n+++ /etc/cron.d/x\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(created(plain), Err(DiffRefusal::Hostile));
        let twice = format!("{}{}", file("a", &["x"]), file("a", &["y"]));
        assert_eq!(created(&twice), Err(DiffRefusal::Hostile));
        assert_eq!(created(&file(&"d/".repeat(40), &["x"])), Err(DiffRefusal::Hostile));
    }

    #[test]
    fn what_is_huge_is_refused() {
        assert_eq!(created(&"+".repeat(5 * MAX_BYTES)), Err(DiffRefusal::TooLarge));
        let line = "x".repeat(1024);
        let big = file("big", &vec![line.as_str(); 2100]);
        assert_eq!(created(&big), Err(DiffRefusal::TooLarge));
        let many: String = (0..=MAX_FILES).map(|n| file(&format!("f{n}"), &["x"])).collect();
        assert_eq!(created(&many), Err(DiffRefusal::TooLarge));
        let overflowing = "--- /dev/null\n+++ b/a\n@@ -0,0 +1,18446744073709551615 @@\n+x\n@@ -0,0 +1,99999999999999999999999 @@\n";
        assert_eq!(created(overflowing).unwrap().files.len(), 1);
    }

    #[test]
    fn files_are_written_below_the_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        std::fs::create_dir(&work).unwrap();
        fill(&work, &created(&file("a/b/c.js", &["hello"])).unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(work.join("a/b/c.js")).unwrap(), "hello\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // A file where another one needs a folder is an error.
        let clash = CreatedFiles {
            files: vec![
                CreatedFile { path: "x".into(), content: String::new() },
                CreatedFile { path: "x/y".into(), content: String::new() },
            ],
            missing: 0,
        };
        assert!(fill(&work, &clash).is_err());
    }
}
