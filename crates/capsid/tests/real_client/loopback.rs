//! A test that runs itself again where nothing but loopback can be reached.

use std::process::Command;

const INSIDE: &str = "CAPSID_INSIDE_LOOPBACK";

/// What the outer run gave, when this is the run inside.
pub fn inside() -> Option<String> {
    let given = std::env::var(INSIDE).ok()?;
    assert_eq!(interfaces(), 1, "there is more than loopback");
    Some(given)
}

/// Runs the test of this topic with this name again, in network and process namespaces of its own.
///
/// The process namespace ends with the test, and with it all that the client started.
pub fn run_inside(name: &str, given: &str) {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    let output = command
        .args(["--net", "--pid", "--fork", "--kill-child"])
        .args(["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("real_client::{name}"), "--nocapture", "--include-ignored"])
        .env(INSIDE, given)
        .output()
        .expect("`unshare` runs: `scripts/setup test` installs it");
    let told =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // Without this a test that was renamed would pass by running nothing.
    assert!(
        output.status.success() && told.contains("1 passed"),
        "in the namespace: {}\n{told}",
        output.status
    );
}

fn interfaces() -> usize {
    let output = Command::new("ip").args(["-oneline", "link"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().count()
}
