//! Whether an account can become root without a password: then the service protects nothing from it.

use capsid_sandbox::run_system_tool;

/// Groups whose members can read and write every file of the machine.
const GROUPS: [&str; 7] = ["docker", "lxd", "incus-admin", "disk", "root", "kmem", "shadow"];

/// The ways in which an account becomes root without a password, in words. Without a name it is this process's own
/// account.
pub(in crate::commands) fn passwordless_root(account: Option<&str>) -> Vec<String> {
    let mut ways = Vec::new();
    let named: Vec<&str> = account.into_iter().collect();
    // A tool that is missing gives no way in.
    if let Ok(groups) = run_system_tool("id", &[&["-nG"], &named[..]].concat()) {
        ways.extend(groups_in(&groups.stdout));
    }
    let listed = match account {
        Some(name) => run_system_tool("sudo", &["-n", "-l", "-U", name]),
        None => run_system_tool("sudo", &["-n", "-l"]),
    };
    if listed.is_ok_and(|listed| listed.status == 0 && has_passwordless_rule(&listed.stdout)) {
        ways.push("sudo without a password (NOPASSWD)".to_owned());
    }
    ways
}

fn groups_in(groups: &str) -> impl Iterator<Item = String> {
    let is_mighty = |group: &&str| GROUPS.contains(group);
    groups.split_whitespace().filter(is_mighty).map(|group| format!("the group `{group}`"))
}

fn has_passwordless_rule(listed: &str) -> bool {
    listed.lines().any(|line| line.contains("NOPASSWD:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_rules_that_make_root_are_named() {
        let found: Vec<String> = groups_in("ada sudo docker dockers disk\n").collect();
        assert_eq!(found, ["the group `docker`", "the group `disk`"]);
        assert!(has_passwordless_rule("User ada may run the following:\n    (ALL : ALL) NOPASSWD: ALL\n"));
        assert!(!has_passwordless_rule("User ada may run the following:\n    (ALL : ALL) ALL\n"));
    }
}
