//! A trail's home: `chains/<tool>/<session>.db` and `meta.db`; older ones have `chains/<session>.db`.

use super::{ChainSource, ChainSources, RecordsLocation, SourceKind, database};
use crate::chain::no_chain;
use capsid_model::{Problem, Result};
use std::path::{Path, PathBuf};

/// The tool whose chains were in `chains/` itself before there were others.
const FIRST_TOOL: &str = "claude-code";

/// All chains of a home, the meta-chain last. A folder of databases counts too.
pub(super) fn sources(folder: &Path) -> Result<ChainSources> {
    let (chains, meta) = (folder.join("chains"), folder.join("meta.db"));
    let is_home = chains.is_dir() || meta.is_file();
    let root = if is_home { &chains } else { folder };
    let paths = if root.is_dir() { databases_in(root)? } else { Vec::new() };
    if !is_home && paths.is_empty() {
        return Err(no_chain(folder, "it is neither a bundle nor a trail's home"));
    }
    let mut chains: Vec<ChainSource> = paths.iter().flat_map(|file| one(file)).collect();
    if meta.is_file() {
        chains.extend(one(&meta).into_iter().map(|source| ChainSource { is_meta: true, ..source }));
    }
    Ok(ChainSources {
        kind: SourceKind::Home,
        folder: Some(folder.to_owned()),
        ..ChainSources::from_chains(chains)
    })
}

/// The chain files of a folder such as `chains`; none where it cannot be read.
pub(crate) fn chain_files(chains: &Path) -> Vec<PathBuf> {
    databases_in(chains).unwrap_or_default()
}

fn databases_in(root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in sorted(root)? {
        if entry.is_dir() {
            paths.extend(sorted(&entry)?.into_iter().filter(|file| is_database(file)));
        } else if is_database(&entry) {
            paths.push(entry);
        }
    }
    Ok(paths)
}

/// One bad file does not hide the others.
fn one(file: &Path) -> Vec<ChainSource> {
    let (tool, session) = names(file);
    database(file, tool.clone(), session.clone()).unwrap_or_else(|problem| {
        let location = RecordsLocation::Unreadable(file.to_owned(), problem);
        vec![ChainSource { tool, session, ..ChainSource::at(location, SourceKind::Database) }]
    })
}

/// The tool and the session that a file's path names.
pub(crate) fn names(file: &Path) -> (Option<String>, Option<String>) {
    let text = |name: Option<&std::ffi::OsStr>| name.map(|name| name.to_string_lossy().into_owned());
    let session = text(file.file_stem());
    let above = file.parent().and_then(Path::file_name);
    let tool = match text(above) {
        Some(name) if name == "chains" => Some(FIRST_TOOL.to_owned()),
        other
            if file.parent().and_then(Path::parent).and_then(Path::file_name) == Some("chains".as_ref()) =>
        {
            other
        }
        _ => None,
    };
    (tool, session)
}

/// The folders in a folder, in order; none where it cannot be read.
pub(crate) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    sorted(folder).unwrap_or_default().into_iter().filter(|path| path.is_dir()).collect()
}

/// The files of a folder, and of the folders in it, whose names end so; in order.
pub(crate) fn files_with_ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let has_ending =
        |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(ending)) && path.is_file();
    let mut files = Vec::new();
    for entry in sorted(folder).unwrap_or_default() {
        if entry.is_dir() {
            files.extend(sorted(&entry).unwrap_or_default().into_iter().filter(has_ending));
        } else if has_ending(&entry) {
            files.push(entry);
        }
    }
    files
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "db") && path.is_file()
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Problem::io("list", folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
