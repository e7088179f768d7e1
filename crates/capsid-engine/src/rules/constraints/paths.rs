//! Lists of paths as genes and owners write them, matched so that no spelling slips through.

/// Paths, each with everything below it.
pub struct PathSet {
    entries: Vec<String>,
}

impl PathSet {
    /// Reads a list; a blank entry is ignored.
    pub fn new(list: &[String]) -> Self {
        let entries = list.iter().map(|entry| normal(entry));
        Self { entries: entries.filter(|entry| !entry.is_empty()).collect() }
    }

    /// Whether a path is one of them or under one of them.
    pub fn contains(&self, path: &str) -> bool {
        let path = normal(path);
        self.entries.iter().any(|entry| {
            path.strip_prefix(entry.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// Whether any part of a path is this name.
pub fn contains_part(path: &str, name: &str) -> bool {
    normal(path).split('/').any(|part| part == name)
}

/// Lower case, because some file systems ignore case; forward slashes; no `./` in front, no `/` behind.
fn normal(path: &str) -> String {
    let mut text = path.trim().replace('\\', "/").to_lowercase();
    while let Some(rest) = text.strip_prefix("./").or_else(|| text.strip_prefix('/')) {
        text = rest.to_owned();
    }
    text.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_holds_itself_and_what_is_under_it_in_any_spelling() {
        let list = ["./vendor/", " ", "Docs\\secret.md", "/"].map(str::to_owned);
        let paths = PathSet::new(&list);
        for path in ["vendor", "vendor/a/b", "VENDOR/x", "docs/Secret.md"] {
            assert!(paths.contains(path), "{path}");
        }
        for path in ["vendored", "src/vendor", "docs/secret.md.bak", "a"] {
            assert!(!paths.contains(path), "{path}");
        }
    }

    #[test]
    fn a_part_is_a_whole_name() {
        assert!(contains_part("a/Node_Modules/b", "node_modules"));
        assert!(!contains_part("a/.gitignore", ".git"));
    }
}
