//! Whether a patch that somebody else published may be tried here.

use super::check_files::is_check_file;
use super::check_files::manifest::ManifestKind;
use super::proof::ProofGrade;

/// Lock files by their name.
const LOCK_FILES: [&str; 18] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "Gemfile.lock",
    "composer.lock",
    "go.sum",
    "mix.lock",
    "packages.lock.json",
    "gradle.lockfile",
];

/// Files that declare dependencies, besides those that are split by member.
const OTHER_MANIFESTS: [&str; 10] = [
    "go.mod",
    "Gemfile",
    "composer.json",
    "requirements.txt",
    "Pipfile",
    "setup.py",
    "mix.exs",
    "Package.swift",
    "build.sbt",
    "flake.nix",
];

/// What is known about a patch of somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignPatch<'a> {
    /// Whether the hub promoted it.
    pub is_promoted: bool,
    /// Whether it was taken on trial: the owner lets candidates be tried that nobody has tried yet.
    pub is_on_trial: bool,
    /// The grade of its proof record; none if it carries none.
    pub grade: Option<ProofGrade>,
    /// Whether the hub names a counted pass of another owner.
    pub has_pass_of_others: bool,
    /// Whether it would run on an overlay without network.
    pub is_isolated: bool,
    /// The files that it touches.
    pub paths: &'a [String],
    /// Those of them that need a review by the owner's rules.
    pub review_paths: &'a [String],
}

/// Why a patch of somebody else is only shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForeignPatchRefusal {
    NotPromoted,
    NotProven,
    NoPassOfOthers,
    NotIsolated,
    /// It touches a file that decides what passes or what is installed.
    TouchesProtected(String),
}

/// Checks whether a patch of somebody else may be tried. `commands` are those that check the change.
pub fn check_foreign_patch<S: AsRef<str>>(
    patch: &ForeignPatch<'_>,
    commands: &[S],
) -> Result<(), ForeignPatchRefusal> {
    if !patch.is_promoted && !patch.is_on_trial {
        return Err(ForeignPatchRefusal::NotPromoted);
    }
    if !patch.grade.is_some_and(ProofGrade::is_proven) {
        return Err(ForeignPatchRefusal::NotProven);
    }
    if !patch.has_pass_of_others && !patch.is_on_trial {
        return Err(ForeignPatchRefusal::NoPassOfOthers);
    }
    if !patch.is_isolated {
        return Err(ForeignPatchRefusal::NotIsolated);
    }
    let is_protected = |path: &&String| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        is_check_file(path, commands)
            || ManifestKind::from_path(path).is_some()
            || LOCK_FILES.contains(&name)
            || OTHER_MANIFESTS.contains(&name)
    };
    let protected = patch.review_paths.first().or_else(|| patch.paths.iter().find(is_protected));
    protected.map_or(Ok(()), |path| Err(ForeignPatchRefusal::TouchesProtected(path.clone())))
}

impl std::fmt::Display for ForeignPatchRefusal {
    /// One sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotPromoted => f.write_str("The hub has not promoted it."),
            Self::NotProven => f.write_str("It carries no proof that a failing command passes with it."),
            Self::NoPassOfOthers => f.write_str("The hub names no pass of another owner."),
            Self::NotIsolated => f.write_str("It can be tried only on an overlay without network."),
            Self::TouchesProtected(path) => {
                write!(f, "It touches `{}`.", capsid_model::text::inert_line(path))
            }
        }
    }
}

#[cfg(test)]
#[path = "foreign_patch_tests.rs"]
mod tests;
