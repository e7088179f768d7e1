//! Session names, which become file names.

use capsid_model::{Code, Problem, Result};

/// The longest name: file systems take 255 bytes, and endings are added to it.
const MAX_BYTES: usize = 200;

/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];

/// Gives the name back if it can be a file name on every system and leads nowhere else.
pub fn check_session(session: &str) -> Result<&str> {
    match fault(session) {
        None => Ok(session),
        Some(fault) => {
            // A hostile name may hold anything, so it is shown escaped and shortened.
            let shown: String = session.chars().take(60).collect();
            Err(Problem::new(Code::SessionInvalid, format!("The session name {shown:?} {fault}.")).fix(
                "Name the session with letters, digits, dots, dashes and underscores, as the tools themselves do.",
            ))
        }
    }
}

fn fault(session: &str) -> Option<String> {
    if session.is_empty() {
        return Some("is empty".to_owned());
    }
    if session.len() > MAX_BYTES {
        return Some(format!("is {} bytes long, and {MAX_BYTES} is the most", session.len()));
    }
    if session.chars().any(char::is_control) {
        return Some("holds a control character".to_owned());
    }
    if let Some(bad) = session.chars().find(|c| r#"/\<>:"|?*"#.contains(*c)) {
        return Some(format!("holds `{bad}`, which cannot stand in a file name"));
    }
    if session == "." || session.contains("..") {
        return Some("holds dots that could lead to another folder".to_owned());
    }
    if session.ends_with(['.', ' ']) || session.starts_with(' ') {
        return Some("begins with a space, or ends with one or with a dot".to_owned());
    }
    is_device(session).then(|| "is the name of a device on Windows".to_owned())
}

fn is_device(session: &str) -> bool {
    let stem = session.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let numbered = |prefix| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            let mut digits = rest.chars();
            digits.next().is_some_and(|digit| "123456789¹²³".contains(digit)) && digits.next().is_none()
        })
    };
    DEVICES.contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_tools_pass() {
        let long = "x".repeat(MAX_BYTES);
        for name in [
            "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01",
            "1780308000123",
            "a.b_c-d",
            ".hidden",
            "übung",
            "a b",
            "COM10",
            "console",
            "commit",
            "LPTX",
            &long,
        ] {
            assert_eq!(check_session(name).unwrap(), name);
        }
    }

    #[test]
    fn names_that_lead_elsewhere_or_cannot_be_files_are_refused() {
        let long = "x".repeat(MAX_BYTES + 1);
        let wide = "ü".repeat(MAX_BYTES / 2 + 1);
        for name in [
            "", ".", "..", "../x", "a/b", "a\\b", "a..b", "a\0b", "a\nb", "a\u{7f}", "a\u{85}b", "C:x", "a*",
            "a?", "a|b", "<a>", "\"", "a.", "a ", " a", "CON", "nul.txt", "Com1", "lpt9.db", "COM¹",
            "aux .x", &long, &wide,
        ] {
            let problem = check_session(name).unwrap_err();
            assert_eq!(problem.code, Code::SessionInvalid, "{name:?}");
            assert!(problem.fix.is_some());
            assert!(!problem.message.contains(char::is_control), "{:?}", problem.message);
        }
    }
}
