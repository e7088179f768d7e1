//! Which chains belong to the repository that a command is called in.

use super::chains::all;
use crate::output::{self, DIM, paint};
use capsid_model::exact::{ExactJson, parse};
use capsid_model::{Problem, Result};
use capsid_seal::TrailHome;
use capsid_seal::sources::ChainSource;
use std::path::{Path, PathBuf};

/// How many records of a chain are searched for a folder. The tools that name one do so in the first.
const SEARCHED: usize = 200;

/// Chains of a home, and what was left out.
pub(super) struct SelectedChains {
    pub chains: Vec<ChainSource>,
    /// The repository, if only its chains were selected.
    pub repository: Option<PathBuf>,
    /// How many chains belong to other repositories.
    pub others: usize,
    /// How many chains name no folder.
    pub nowhere: usize,
}

impl SelectedChains {
    /// The chains of the repository that `folder` is in; every chain outside of a repository, or with `everything`.
    ///
    /// The meta-chain names every session, so it comes only where nothing is left out. A chain that cannot be read stays:
    /// nobody knows where it belongs, and a problem must not be hidden.
    pub fn select(home: &TrailHome, folder: &Path, everything: bool) -> Result<Self> {
        let chains = all(home)?;
        let repository = match everything {
            true => None,
            false => {
                let real = folder.canonicalize().map_err(|error| Problem::io("open", folder, &error))?;
                repository_of(&real)
            }
        };
        let mut selected = Self { chains, repository: repository.clone(), others: 0, nowhere: 0 };
        let Some(repository) = repository else { return Ok(selected) };
        let (mut others, mut nowhere) = (0, 0);
        selected.chains.retain(|chain| match folder_of(chain) {
            _ if chain.is_meta => true,
            Ok(Some(folder)) => {
                let is_here = repository_of(&folder).as_ref() == Some(&repository);
                others += usize::from(!is_here);
                is_here
            }
            Ok(None) => {
                nowhere += 1;
                false
            }
            Err(_) => true,
        });
        (selected.others, selected.nowhere) = (others, nowhere);
        if selected.left_out() > 0 {
            selected.chains.retain(|chain| !chain.is_meta);
        }
        Ok(selected)
    }

    /// How many chains are missing.
    pub fn left_out(&self) -> usize {
        self.others + self.nowhere
    }

    /// Says on stderr what was left out.
    pub fn print_left_out(&self) {
        if self.left_out() == 0 {
            return;
        }
        let others = (self.others > 0).then(|| format!("{} of other repositories", self.others));
        let nowhere = (self.nowhere > 0).then(|| format!("{} that name no folder", self.nowhere));
        let parts: Vec<String> = [others, nowhere].into_iter().flatten().collect();
        output::talk(format_args!(
            "{} chains left out: {}; `--all` takes them all",
            paint(DIM, "note:"),
            parts.join(", ")
        ));
    }
}

/// The folder of the nearest repository around a folder, which need not exist any more.
fn repository_of(folder: &Path) -> Option<PathBuf> {
    let real = folder.canonicalize();
    let folder = real.as_deref().unwrap_or(folder);
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    root.canonicalize().ok()
}

/// The first folder that the records of a chain name.
fn folder_of(chain: &ChainSource) -> Result<Option<PathBuf>> {
    for stored in chain.records()?.take(SEARCHED) {
        let canonical = stored?.canonical;
        // A text that is no record is found by `verify`; it names no folder.
        if let Some(folder) = parse(&canonical).ok().as_ref().and_then(folder_in) {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Agents name the folder they work in, Cursor names its workspace, and the engine its repository.
fn folder_in(content: &ExactJson) -> Option<PathBuf> {
    let environment = content.at(&["context", "environment"])?;
    let text = |name: &str| environment.text(name).filter(|text| !text.is_empty());
    let workspace = || environment.get("workspace_roots")?.as_array()?.first()?.as_str();
    text("cwd").or_else(|| text("repository")).or_else(workspace).map(PathBuf::from)
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
