//! Which files decide whether a change passes: tests, settings of test runners and compilers, CI files, and input
//! files that a command names.
//!
//! `package.json`, `pyproject.toml` and `Cargo.toml` are neither source nor check files as a whole:
//! [`manifest`] splits them by member.

pub mod manifest;
mod members;
mod named;

use named::names_input_file;

/// Folders whose files are all checks, in lower case.
const CHECK_FOLDERS: [&str; 9] =
    ["test", "tests", "spec", "specs", "__tests__", "__snapshots__", "__mocks__", "e2e", "testdata"];

/// Folders of CI systems.
const CI_FOLDERS: [&str; 7] =
    [".github/workflows", ".github/actions", ".circleci", ".buildkite", ".woodpecker", ".gitea", ".forgejo"];

/// Settings files by their whole name, in lower case.
const SETTINGS: [&str; 57] = [
    "makefile",
    "gnumakefile",
    "justfile",
    ".justfile",
    "rakefile",
    "taskfile.yml",
    "taskfile.yaml",
    "tox.ini",
    "pytest.ini",
    ".pytest.ini",
    "conftest.py",
    "noxfile.py",
    "sitecustomize.py",
    "usercustomize.py",
    "setup.cfg",
    "mypy.ini",
    ".mypy.ini",
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    "pyrightconfig.json",
    "phpunit.xml",
    "phpunit.xml.dist",
    "phpunit.dist.xml",
    "phpstan.neon",
    ".rspec",
    ".rubocop.yml",
    ".golangci.yml",
    ".golangci.yaml",
    "pom.xml",
    "gradle.properties",
    "clippy.toml",
    ".clippy.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "nextest.toml",
    ".eslintignore",
    "biome.json",
    "biome.jsonc",
    "jsconfig.json",
    ".taprc",
    // Settings of package managers can replace the shell that runs scripts.
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "bunfig.toml",
    "deno.json",
    "deno.jsonc",
    "turbo.json",
    "nx.json",
    ".pre-commit-config.yaml",
    // CI files outside folders of their own.
    ".gitlab-ci.yml",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
];

/// Settings files by the start of their name, in lower case.
const SETTINGS_PREFIXES: [&str; 8] = [
    ".mocharc",
    "tsconfig",
    ".eslintrc",
    ".stylelintrc",
    "build.gradle",
    "settings.gradle",
    ".nycrc",
    ".babelrc",
];

/// Files by the end of their name, in lower case.
const CHECK_SUFFIXES: [&str; 7] =
    [".bats", ".snap", ".snap.new", ".ambr", ".runsettings", "_spec.rb", ".feature"];

/// Manifests that are split by member, by their whole name.
const MANIFESTS: [&str; 3] = ["package.json", "pyproject.toml", "Cargo.toml"];

/// Whether a file of the repository is a check file. `commands` are those that check the change.
///
/// A manifest that is split by member is none, unless it lies in a folder of tests.
pub fn is_check_file<S: AsRef<str>>(path: &str, commands: &[S]) -> bool {
    let path = normalize_path(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    if is_in_check_folder(folder) {
        return true;
    }
    if MANIFESTS.contains(&name) {
        return false;
    }
    is_test_name(name)
        || is_settings_name(folder, name)
        || commands.iter().any(|command| names_input_file(command.as_ref(), &path))
}

/// A path with `/` between its parts and without `./` in front.
fn normalize_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

fn is_in_check_folder(folder: &str) -> bool {
    let folder = folder.to_lowercase();
    let is_check = |part: &str| {
        // `Shop.Tests` is how .NET names a project of tests.
        CHECK_FOLDERS.contains(&part) || part.ends_with(".tests") || part.ends_with(".test")
    };
    let is_ci =
        |ci: &str| folder.strip_prefix(ci).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    folder.split('/').any(is_check) || CI_FOLDERS.iter().any(|ci| is_ci(ci))
}

fn is_test_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    if CHECK_SUFFIXES.iter().any(|suffix| lower.ends_with(suffix)) {
        return true;
    }
    let Some((stem, extension)) = lower.split_once('.') else { return false };
    let is_script =
        matches!(lower.rsplit('.').next(), Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx"));
    // The case tells `CartTest.java` from `latest.java`.
    let camel = name.split('.').next().unwrap_or(name);
    let has_camel_suffix = ["Test", "Tests", "TestCase", "Spec", "IT"]
        .iter()
        .any(|suffix| camel.ends_with(suffix) && camel != *suffix);
    let is_camel_language =
        matches!(extension, "java" | "kt" | "scala" | "groovy" | "cs" | "fs" | "vb" | "swift" | "php");
    ["test", "tests"].contains(&stem)
        || [".test.", ".spec.", "_test.", "_tests."].iter().any(|mark| lower.contains(mark))
        || (stem.starts_with("test_")
            && matches!(extension, "py" | "rb" | "c" | "cpp" | "cc" | "sh" | "rs" | "lua"))
        || (is_script && (stem.starts_with("test-") || stem.ends_with("-test")))
        || (is_camel_language && has_camel_suffix)
}

fn is_settings_name(folder: &str, name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_cargo_config =
        (folder == ".cargo" || folder.ends_with("/.cargo")) && (lower == "config" || lower == "config.toml");
    SETTINGS.contains(&lower.as_str())
        || SETTINGS_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
        || lower.find(".config.").is_some_and(|at| at > 0)
        || is_cargo_config
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: [&str; 0] = [];

    #[test]
    fn tests_settings_and_ci_files_are_check_files() {
        for path in [
            "tests/it.rs",
            "crates/a/tests/data/input.bin",
            "src/test/java/A.java",
            "spec/cart_spec.rb",
            "web/__tests__/a.js",
            "e2e/login.ts",
            "Shop.Tests/Cart.cs",
            "src/cart.test.js",
            "src/cart.spec.ts",
            "stock/stock_test.go",
            "src/rate_tests.rs",
            "src/tests.rs",
            "shop/test_price.py",
            "app/CartTest.java",
            "lib/cart_spec.rb",
            "check.bats",
            "src/snapshots/a.snap",
            "Makefile",
            "justfile",
            "tox.ini",
            "pytest.ini",
            "pkg/conftest.py",
            "jest.config.js",
            ".mocharc.yml",
            ".cargo/config.toml",
            "tsconfig.build.json",
            ".eslintrc.cjs",
            ".eslintignore",
            "phpunit.xml",
            ".rspec",
            ".npmrc",
            "build.gradle.kts",
            "pom.xml",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            "./tests/it.rs",
            "tests\\it.rs",
            "tests/fixtures/package.json",
        ] {
            assert!(is_check_file(path, &NONE), "{path}");
        }
    }

    #[test]
    fn source_documents_and_manifests_are_no_check_files() {
        for path in [
            "src/lib.rs",
            "src/latest.java",
            "src/contest.py",
            "src/attest.js",
            "testing.md",
            "src/config.rs",
            "config.toml",
            "README.md",
            "package.json",
            "web/pyproject.toml",
            "Cargo.toml",
            "src/greatest_common.py",
            "",
        ] {
            assert!(!is_check_file(path, &NONE), "{path}");
        }
    }

    #[test]
    fn an_input_file_that_a_command_names_is_a_check_file() {
        let commands = ["python main.py < data/input.txt", "diff out.txt expected/a.txt"];
        assert!(is_check_file("data/input.txt", &commands));
        assert!(is_check_file("./expected/a.txt", &commands));
        assert!(!is_check_file("main.py", &commands));
        assert!(!is_check_file("data/other.txt", &commands));
        assert!(!is_check_file("package.json", &["node check.js package.json"]));
    }

    proptest! {
        #[test]
        fn no_path_panics_the_rules(path in "(?s).{0,60}", command in "(?s).{0,60}") {
            is_check_file(&path, &[command]);
        }
    }
}
