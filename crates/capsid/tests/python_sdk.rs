//! The Python package's own tests, with the built program as their hub.
//!
//! Without Python these fail: a package that nobody tried is no promise.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python")
}

/// Python in the package's folder, with a home of its own and nothing of this machine's settings for hubs.
fn python(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("python3");
    for name in
        ["A2A_HUB_URL", "EVOMAP_HUB_URL", "A2A_NODE_ID", "A2A_NODE_SECRET", "CAPSID_CA_FILE", "PYTHONPATH"]
    {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(package())
        .env("HOME", home)
        .env("CAPSID_BIN", env!("CARGO_BIN_EXE_capsid"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 is needed; `scripts/setup test` installs it")
}

#[test]
fn the_python_package_works_with_the_built_hub() {
    let home = tempfile::tempdir().unwrap();
    let ran = python(home.path(), &["-m", "unittest", "discover", "-t", ".", "-s", "tests"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{said}");
    // A run that found no tests succeeds too.
    let count =
        said.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<usize>().ok());
    assert!(count.unwrap_or_default() >= 40, "{said}");
}
