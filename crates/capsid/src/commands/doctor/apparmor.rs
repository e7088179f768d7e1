//! What `capsid doctor` says where AppArmor keeps programs from making user namespaces, as on Ubuntu.

use super::DoctorFinding;
use capsid_sandbox::{Isolation, SandboxProbe};
use std::path::Path;

/// The profile as the packages bring it, for the path of their program.
const PACKAGED: &str = include_str!("../../../../../packaging/linux/apparmor");
const PACKAGED_PATH: &str = "/usr/bin/capsid";
const PROFILE_FILE: &str = "/etc/apparmor.d/capsid";
/// `1` where a program needs a profile that allows namespaces.
const RESTRICTION: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// A finding with the profile for this program, if AppArmor is what namespaces fail for.
pub(super) fn findings(probes: &[SandboxProbe]) -> Option<DoctorFinding> {
    let has_failed = probes.iter().any(|probe| probe.isolation == Isolation::Namespaces && !probe.works);
    let is_restricted = std::fs::read_to_string(RESTRICTION).is_ok_and(|value| value.trim() == "1");
    if !(has_failed && is_restricted) {
        return None;
    }
    let program = std::env::current_exe().and_then(std::fs::canonicalize).ok()?;
    Some(finding(&program))
}

fn finding(program: &Path) -> DoctorFinding {
    let detail = format!("allows `{}` no user namespaces, which its sandbox is made of", program.display());
    match install_command(program) {
        Some(command) => {
            DoctorFinding::warning("apparmor", detail, &format!("Install a profile that does: {command}"))
        }
        None => DoctorFinding::warning(
            "apparmor",
            detail,
            "Move the program to a path of letters, digits and `/._+-`, then run `capsid doctor` there.",
        ),
    }
}

/// One line for a shell, that writes and loads the profile. None for a path that means something in a profile or a shell.
fn install_command(program: &Path) -> Option<String> {
    let path = program.to_str()?;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/._+-".contains(char);
    if !path.chars().all(is_plain) {
        return None;
    }
    let profile = PACKAGED.replace(PACKAGED_PATH, path);
    let lines: Vec<String> = profile
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| format!("'{}'", line.trim()))
        .collect();
    Some(format!(
        "printf '%s\\n' {} | sudo tee {PROFILE_FILE} && sudo apparmor_parser -r {PROFILE_FILE}",
        lines.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_names_the_real_path_of_the_program() {
        let command = install_command(Path::new("/home/ada/.local/bin/capsid")).unwrap();
        assert!(
            command.starts_with("printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' "),
            "{command}"
        );
        assert!(
            command.contains(
                r#"'profile capsid "/home/ada/.local/bin/capsid" flags=(unconfined) {' 'userns,' "#
            ),
            "{command}"
        );
        assert!(!command.contains(PACKAGED_PATH), "{command}");
        assert!(command.ends_with("sudo apparmor_parser -r /etc/apparmor.d/capsid"), "{command}");
    }

    #[test]
    fn a_path_that_means_something_in_a_profile_or_a_shell_is_refused() {
        for path in ["/home/ada b/capsid", "/home/*/capsid", "/opt/{a,b}/capsid", "/opt/it's/capsid"] {
            assert_eq!(install_command(Path::new(path)), None, "{path}");
        }
    }
}
