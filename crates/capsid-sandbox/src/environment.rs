//! The variables a validation command sees: few, the same everywhere, and none of the user's.

use crate::program::ResolvedProgram;
use std::ffi::OsString;
use std::path::Path;

/// The variable by which this program knows that it runs in a sandbox of its own.
pub const MARK: &str = "CAPSID_SANDBOX";

const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// The environment of a run whose private folder is `home`.
pub fn variables(program: &ResolvedProgram, home: &Path, network: bool) -> Vec<(&'static str, OsString)> {
    let mut path = OsString::new();
    if let Some(folder) = program.path.parent() {
        path.push(folder);
        path.push(":");
    }
    path.push(SYSTEM_PATH);
    let mut variables = vec![
        ("PATH", path),
        ("HOME", home.into()),
        ("TMPDIR", home.into()),
        ("LANG", "C.UTF-8".into()),
        ("CI", "1".into()),
        ("NO_COLOR", "1".into()),
        (MARK, "1".into()),
        ("npm_config_cache", home.join(".npm").into()),
        ("npm_config_audit", "false".into()),
        ("npm_config_fund", "false".into()),
        ("npm_config_globalconfig", "/dev/null".into()),
        // Beside a system's npm lies every program of the system, and `npx` would start any of them.
        ("npm_config_prefix", home.join(".npm-global").into()),
        ("npm_config_update_notifier", "false".into()),
    ];
    if !network {
        variables.push(("npm_config_offline", "true".into()));
        variables.push(("CARGO_NET_OFFLINE", "true".into()));
    }
    variables.extend(program.env.iter().cloned());
    variables
}
