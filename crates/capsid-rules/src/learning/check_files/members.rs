//! Which members of a manifest are source and which are checks.

use super::{MANIFESTS, normalize_path};

/// A manifest that is split by member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestKind {
    PackageJson,
    PyprojectToml,
    CargoToml,
}

impl ManifestKind {
    /// The kind of the manifest at a path.
    pub fn from_path(path: &str) -> Option<Self> {
        let path = normalize_path(path);
        let name = path.rsplit('/').next()?;
        let at = MANIFESTS.iter().position(|manifest| *manifest == name)?;
        [Self::PackageJson, Self::PyprojectToml, Self::CargoToml].get(at).copied()
    }
}

/// What a member of a manifest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberRole {
    Source,
    Check,
    /// A table whose members differ.
    Mixed,
}

/// Members of `package.json` that are source; all others, such as `scripts` and `jest`, are checks.
const PACKAGE_JSON_SOURCE: [&str; 40] = [
    "name",
    "version",
    "private",
    "description",
    "keywords",
    "homepage",
    "bugs",
    "license",
    "author",
    "contributors",
    "maintainers",
    "funding",
    "repository",
    "files",
    "main",
    "module",
    "browser",
    "exports",
    "imports",
    "type",
    "types",
    "typings",
    "typesVersions",
    "bin",
    "man",
    "directories",
    "sideEffects",
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "optionalDependencies",
    "bundledDependencies",
    "bundleDependencies",
    "overrides",
    "resolutions",
    "pnpm",
    "packageManager",
    "engines",
    "publishConfig",
];

/// Tools of `pyproject.toml` that build or install; all others, such as `pytest`, check.
const PYPROJECT_SOURCE_TOOLS: [&str; 8] =
    ["poetry", "uv", "setuptools", "setuptools_scm", "setuptools-scm", "flit", "maturin", "scikit-build"];

impl MemberRole {
    pub(super) fn in_package_json(name: &str) -> Self {
        if PACKAGE_JSON_SOURCE.contains(&name) { Self::Source } else { Self::Check }
    }

    pub(super) fn in_toml(kind: ManifestKind, path: &[String]) -> Self {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match kind {
            ManifestKind::PackageJson => Self::Check,
            ManifestKind::PyprojectToml => Self::in_pyproject(&path),
            ManifestKind::CargoToml => Self::in_cargo(&path),
        }
    }

    fn in_pyproject(path: &[&str]) -> Self {
        match path {
            ["project" | "build-system" | "dependency-groups", ..] => Self::Source,
            ["tool"] | ["tool", "pdm" | "hatch"] => Self::Mixed,
            ["tool", "pdm", "scripts"] | ["tool", "hatch", "envs"] => Self::Check,
            ["tool", "pdm" | "hatch", ..] => Self::Source,
            ["tool", tool, ..] if PYPROJECT_SOURCE_TOOLS.contains(tool) => Self::Source,
            _ => Self::Check,
        }
    }

    fn in_cargo(path: &[&str]) -> Self {
        match path {
            ["package" | "workspace" | "lib"] => Self::Mixed,
            ["package", "autotests" | "autobenches" | "autoexamples"] => Self::Check,
            ["workspace", "lints" | "exclude" | "default-members"] => Self::Check,
            ["lib", "test" | "doctest" | "bench" | "harness"] => Self::Check,
            ["test" | "bench" | "profile" | "lints", ..] => Self::Check,
            _ => Self::Source,
        }
    }
}
