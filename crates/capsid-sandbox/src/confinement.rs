//! What a confined program may reach.

use capsid_model::{Problem, Result};
use std::path::{Path, PathBuf};

/// What a confined program sees at the repository's own path: the tree, read-only layers over it, and a layer for its
/// writes.
#[derive(Debug, Clone)]
pub struct PrivateTree {
    /// The real path; the overlay is mounted here.
    pub root: PathBuf,
    /// Read-only layers above the tree, topmost first; never inside of it.
    pub layers: Vec<PathBuf>,
    /// Where writes go.
    pub writes: WriteLayer,
    /// A common git directory outside of the root, which gets an overlay of its own.
    pub git_dir: Option<GitDirLayer>,
}

/// Where the writes of a confined program go.
#[derive(Debug, Clone)]
pub enum WriteLayer {
    /// `upper` and `work` are made in this folder. Commands one after the other may use the same one.
    Folder(PathBuf),
    /// Memory that is gone with the command.
    Memory { bytes: u64, inodes: u64 },
}

/// The git directory of a worktree or a submodule.
#[derive(Debug, Clone)]
pub struct GitDirLayer {
    /// The real path.
    pub path: PathBuf,
    /// The folder in which its `upper` and `work` are made.
    pub writes: PathBuf,
}

/// The files a confined program works on.
#[derive(Debug, Clone)]
pub enum ConfinedTree {
    /// A private view of a repository.
    Private(PrivateTree),
    /// This folder itself, writable: a scratch folder or a copy.
    Folder(PathBuf),
}

impl ConfinedTree {
    /// The path at which the program sees it.
    pub fn root(&self) -> &Path {
        match self {
            Self::Private(tree) => &tree.root,
            Self::Folder(folder) => folder,
        }
    }

    /// The same with real paths.
    pub(crate) fn resolved(&self) -> Result<Self> {
        Ok(match self {
            Self::Private(tree) => {
                Self::Private(PrivateTree { root: real_path(&tree.root)?, ..tree.clone() })
            }
            Self::Folder(folder) => Self::Folder(real_path(folder)?),
        })
    }
}

fn real_path(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| Problem::io("open", path, &error))
}

/// Whose command it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationProfile {
    /// A command that the owner of this machine has accepted.
    #[default]
    Validation,
    /// A stranger's command.
    Untrusted,
}

impl ValidationProfile {
    /// The word that goes into reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Untrusted => "untrusted",
        }
    }
}

/// What a validation command may reach.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// Its files, and the folder it starts in.
    pub tree: ConfinedTree,
    /// Whose command it is.
    pub profile: ValidationProfile,
    /// Further paths that may be read.
    pub extra_read: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
}

impl Confinement {
    /// Only a folder, all of it writable, without network.
    pub fn to(folder: impl Into<PathBuf>) -> Self {
        Self {
            tree: ConfinedTree::Folder(folder.into()),
            profile: ValidationProfile::Validation,
            extra_read: Vec::new(),
            network: false,
        }
    }

    /// The path at which the command sees its files.
    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// The same with real paths; a stranger's command never has the network.
    pub(crate) fn resolved(&self) -> Result<Self> {
        let network = self.network && self.profile == ValidationProfile::Validation;
        Ok(Self { tree: self.tree.resolved()?, network, ..self.clone() })
    }
}
