//! Work in a process of its own, which does nothing else and tells its peak memory.

use crate::{Result, peer};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Does its work with what is at a path. Says how many things it handled, and in how many seconds.
pub type Work = fn(&Path) -> Result<(u64, f64)>;

/// What a child tells.
pub struct Told {
    pub count: u64,
    pub seconds: f64,
    /// Its peak memory.
    pub megabytes: f64,
}

/// Runs the named work of this program in a child.
pub fn run(name: &str, path: &Path) -> Result<Told> {
    let output = Command::new(std::env::current_exe()?).arg(name).arg(path).output()?;
    let result: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("`{name}` gave no result: {complaint}")
    })?;
    let number = |field: &str| peer::number(&result, field);
    Ok(Told { count: number("count")? as u64, seconds: number("seconds")?, megabytes: number("megabytes")? })
}

/// What the child does.
pub fn work_and_tell(work: Work, path: &str) -> Result<()> {
    let (count, seconds) = work(Path::new(path))?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let megabytes = kilobytes.ok_or("the system does not tell peak memory")? / 1024.0;
    println!("{}", json!({"count": count, "seconds": seconds, "megabytes": megabytes}));
    Ok(())
}
