//! Work in a process of its own, which does nothing else and tells its peak memory.

use crate::{Result, peer};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Does its work with what is at a path and says how many things it handled.
pub type Work = fn(&Path) -> Result<u64>;

/// Runs the named work of this program in a child: how many things it handled, and its peak memory in megabytes.
pub fn run(name: &str, path: &Path) -> Result<(u64, f64)> {
    let output = Command::new(std::env::current_exe()?).arg(name).arg(path).output()?;
    let result: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("`{name}` gave no result: {complaint}")
    })?;
    Ok((peer::number(&result, "count")? as u64, peer::number(&result, "megabytes")?))
}

/// What the child does.
pub fn work_and_tell(work: Work, path: &str) -> Result<()> {
    let count = work(Path::new(path))?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let megabytes = kilobytes.ok_or("the system does not tell peak memory")? / 1024.0;
    println!("{}", json!({"count": count, "megabytes": megabytes}));
    Ok(())
}
