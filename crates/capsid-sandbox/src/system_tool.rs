//! Programs of the system that an administrator's command needs, such as `systemctl`.

use crate::program::{is_executable, not_found};
use capsid_model::Result;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where they are. The PATH of the caller is not asked: under `sudo` it may be that of another user.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// What a program of the system printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemToolOutput {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program of the system with an empty environment, and waits for it.
pub fn run_system_tool(name: &str, arguments: &[&str]) -> Result<SystemToolOutput> {
    let program = FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| is_executable(path));
    let program = program.ok_or_else(|| not_found(name, "it is in no folder of the system"))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", FOLDERS.join(":")).env("LC_ALL", "C").current_dir("/");
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_found(name, error))?;
    Ok(SystemToolOutput {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_the_system_is_run_and_a_missing_one_is_named() {
        let output = run_system_tool("id", &["-u"]).unwrap();
        assert_eq!(output.status, 0);
        assert_eq!(output.stdout.trim(), rustix::process::geteuid().as_raw().to_string());
        assert!(run_system_tool("no-such-tool", &[]).unwrap_err().message.contains("`no-such-tool`"));
    }
}
