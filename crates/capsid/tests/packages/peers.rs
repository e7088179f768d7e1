//! Where `scripts/setup test` put the packages, and what their tools need.

use capsid_model::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A path in `tests/peers`.
pub fn peer_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers").join(name)
}

/// The file of a Python module, which is not loaded, and the folder of the Python that it is installed for.
pub fn find_python_module(module: &str) -> (PathBuf, PathBuf) {
    let python = peer_path("python/.venv/bin/python");
    let code =
        "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).origin); print(sys.base_prefix)";
    let printed = print_of(Command::new(python).args(["-I", "-c", code, module]));
    let (file, prefix) = printed.trim_end().split_once('\n').unwrap();
    (file.into(), prefix.into())
}

/// The folder of a crate that cargo fetched.
pub fn find_crate(name: &str) -> PathBuf {
    let manifest = peer_path("rust/Cargo.toml");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--manifest-path"])
        .arg(manifest);
    let metadata: Value = print_of(&mut cargo).parse().unwrap();
    let found =
        metadata["packages"].as_array().unwrap().iter().find(|package| package["name"] == json!(name));
    let manifest = Path::new(found.unwrap()["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().to_owned()
}

/// The folders of cargo and rustup, which the home of a test does not have.
pub fn cargo_environment() -> Vec<(&'static str, OsString)> {
    let home = std::env::home_dir().unwrap();
    [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]
        .into_iter()
        .map(|(name, usual)| (name, std::env::var_os(name).unwrap_or_else(|| home.join(usual).into())))
        .filter(|(_, folder)| Path::new(folder).is_dir())
        .collect()
}

/// The PATH with a folder in front.
pub fn path_with(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path))).unwrap()
}

fn print_of(command: &mut Command) -> String {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; run `scripts/setup test`"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}; run `scripts/setup test`");
    String::from_utf8(output.stdout).unwrap()
}
