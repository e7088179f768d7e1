//! Runs the peers, cut off from the network.

use crate::{Result, root};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Whether a process can be started without a network here.
static CAN_ISOLATE: LazyLock<bool> = LazyLock::new(|| {
    let probe = Command::new("unshare").args(["-rn", "true"]).output();
    probe.is_ok_and(|output| output.status.success())
});

/// A file inside a package of `tests/peers`.
pub fn package_file(path: &str) -> PathBuf {
    root().join("tests/peers/node_modules").join(path)
}

/// A node process in a network of its own, at home in a scratch folder.
pub fn node(home: &Path) -> Result<Command> {
    isolated(OsStr::new("node"), home)
}

/// A process of the Python environment in `tests/peers`, isolated likewise.
fn python(home: &Path) -> Result<Command> {
    isolated(root().join("tests/peers/python/.venv/bin/python").as_os_str(), home)
}

/// It refuses where there is no way to isolate a process.
fn isolated(program: &OsStr, home: &Path) -> Result<Command> {
    if !*CAN_ISOLATE {
        return Err("`unshare -rn` does not work here, and the peer must not call out".into());
    }
    let mut command = Command::new("timeout");
    command
        .args(["-k", "2", "300", "unshare", "-rn"])
        .arg(program)
        .current_dir(home)
        .env("HOME", home)
        .env("EVOLVER_REPO_ROOT", home)
        .env("OPENCLAW_WORKSPACE", home)
        .env("GEP_ASSETS_DIR", home.join("assets/gep"))
        .env("EVOMAP_DEVICE_ID", "00112233445566778899aabbccddeeff")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // It would else wait for a quiet machine.
        .env("EVOLVE_LOAD_MAX", "1000");
    Ok(command)
}

/// Runs a script of `bench/peers` with node; it prints one JSON object as its last line.
pub fn script(name: &str, home: &Path, arguments: &[&str]) -> Result<Value> {
    run(node(home)?, name, arguments)
}

/// Runs one with Python.
pub fn python_script(name: &str, home: &Path, arguments: &[&str]) -> Result<Value> {
    run(python(home)?, name, arguments)
}

fn run(mut program: Command, name: &str, arguments: &[&str]) -> Result<Value> {
    let output = program
        .arg(root().join("bench/peers").join(name))
        .arg(root().join("tests/peers"))
        .args(arguments)
        .output()?;
    let printed = String::from_utf8(output.stdout)?;
    let last = printed.lines().next_back().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("`{name}` gave no result: {complaint}").into()
    })
}

/// A number of a script's result.
pub fn number(result: &Value, name: &str) -> Result<f64> {
    let found = result.get(name).and_then(Value::as_f64);
    found.ok_or_else(|| format!("no `{name}` in {result}").into())
}
