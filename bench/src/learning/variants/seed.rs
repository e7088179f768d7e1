//! The seed of the held-out variants: the last commit that touched the rules.

use crate::Result;
use crate::learning::options::LearningOptions;
use std::process::Command;

const RULES: &str = "crates/capsid-rules/src/diagnosis";

pub struct VariantSeed {
    pub value: u64,
    /// Where it comes from.
    pub origin: String,
}

/// `--seed`, otherwise the hash of the commit.
pub fn find_seed(options: &LearningOptions) -> Result<VariantSeed> {
    if let Some(value) = options.seed {
        return Ok(VariantSeed { value, origin: "--seed".to_owned() });
    }
    let output = Command::new("git")
        .current_dir(crate::root())
        .args(["log", "-1", "--format=%H", "--", RULES])
        .output()
        .map_err(|error| format!("git: {error}; pass --seed"))?;
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let value = commit.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let value = value.ok_or("no commit touched the diagnosis here; pass --seed")?;
    Ok(VariantSeed { value, origin: format!("commit {commit}, the last one that touched {RULES}") })
}
