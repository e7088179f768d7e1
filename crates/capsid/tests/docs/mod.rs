//! The documents: what is generated is current, what is written is short and whole, and every command in it works.

mod generated;
mod page;
mod pages;
mod picture;
mod runner;
mod texts;

use std::path::{Path, PathBuf};

/// The folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whether this run rewrites what it would otherwise compare.
fn is_update() -> bool {
    std::env::var_os("CAPSID_UPDATE_DOCS").is_some()
}

/// Every Markdown page: the README and the files below `docs`, by their paths from the folder of the project.
fn all_pages() -> Vec<String> {
    fn collect(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, root, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let root = root();
    let mut found = vec!["README.md".to_owned()];
    collect(&root.join("docs"), &root, &mut found);
    found.sort();
    found
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}
