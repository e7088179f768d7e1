//! git and ssh on its behalf.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static CONFLICT: Pattern = Pattern::new(r"^CONFLICT \(([^)]+)\): (?:Merge conflict in (.+)|(.+))$");
static REJECTED: Pattern = Pattern::new(r"^ ?! \[(?:remote )?rejected\]\s+\S.*\((.+)\)$");
static PATHSPEC: Pattern = Pattern::new(r"^error: pathspec '([^']+)' did not match");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let finding = |code: &str, message: String| {
        Finding::new("git", "git", ProblemClass::VcsError, at).code(code).message(message)
    };
    if text.starts_with("CONFLICT (") {
        let groups = CONFLICT.captures(text)?;
        let message = groups
            .some(2)
            .map_or_else(|| groups.get(3).to_owned(), |file| format!("Merge conflict in {}", symbol(file)));
        return Some(finding("conflict", message));
    }
    if text.contains("rejected]") {
        let groups = REJECTED.captures(text)?;
        let last = log
            .end_of(at, 10, |text| text.starts_with("error: failed to push") || text.starts_with("hint: "));
        return Some(finding("push_rejected", format!("push rejected: {}", groups.get(1))).until(last));
    }
    if let Some(groups) = text.starts_with("error: pathspec").then(|| PATHSPEC.captures(text)).flatten() {
        return Some(finding("pathspec", format!("pathspec {} did not match", symbol(groups.get(1)))));
    }
    if let Some(message) = text.strip_prefix("fatal: ") {
        return recognize_fatal(at, message);
    }
    if let Some(message) = text.strip_prefix("error: ") {
        return recognize_error(log, at, message);
    }
    if text.ends_with(" - not something we can merge") {
        let name = text.trim_start_matches("merge: ").split(" - ").next().unwrap_or_default();
        return Some(finding("no_commit", format!("{} is not something we can merge", symbol(name))));
    }
    if text.ends_with(": needs merge") {
        let name = text.trim_end_matches(": needs merge");
        return Some(finding("unmerged", format!("{} needs merge", symbol(name))));
    }
    if text.contains("Permission denied (publickey") {
        return Some(
            Finding::new("ssh", "ssh", ProblemClass::PermissionDenied, at)
                .code("publickey")
                .message("Permission denied (publickey)"),
        );
    }
    if text.starts_with("remote: error: ") || text.starts_with("remote: fatal: ") {
        let message = text.trim_start_matches("remote: ").split_once(": ")?.1;
        return Some(finding("remote", message.to_owned()));
    }
    None
}

fn recognize_fatal(at: usize, message: &str) -> Option<Finding> {
    // Ansible begins its failures with the same word.
    if message.starts_with('[') {
        return None;
    }
    if message.starts_with("Could not read from remote repository")
        || message.starts_with("Exiting because of an unresolved conflict")
        || message.starts_with("the remote end hung up")
    {
        return Some(
            Finding::new("git", "git", ProblemClass::VcsError, at)
                .message(message)
                .role(DiagnosticRole::Wrapper),
        );
    }
    let mut finding = Finding::new("git", "git", ProblemClass::VcsError, at).message(message);
    if let Some(error) =
        errno::classify("", message).filter(|error| error.family != "os" || error.code != "ENOENT")
    {
        finding.apply_system(error);
    }
    Some(finding)
}

const ERRORS: [(&str, &str); 20] = [
    ("cannot rebase: You have unstaged changes", "local_changes"),
    ("cannot rebase: Your index contains", "local_changes"),
    ("No valid patches in input", "patch_failed"),
    ("corrupt patch at", "patch_failed"),
    ("you need to resolve your current index first", "unmerged"),
    ("Your local changes would be overwritten", "local_changes"),
    ("failed to push some refs", "push_failed"),
    ("Your local changes to the following files would be overwritten", "local_changes"),
    ("The following untracked working tree files would be overwritten", "untracked_files"),
    ("cannot pull with rebase", "local_changes"),
    ("Pulling is not possible because you have unmerged files", "unmerged"),
    ("Merging is not possible because you have unmerged files", "unmerged"),
    ("Committing is not possible because you have unmerged files", "unmerged"),
    ("could not apply ", "conflict"),
    ("patch failed:", "patch_failed"),
    ("src refspec ", "refspec"),
    ("unable to create file", "io"),
    ("The branch '", "branch"),
    ("branch '", "branch"),
    ("remote origin already exists", "remote"),
];

fn recognize_error(log: &LogView<'_>, at: usize, message: &str) -> Option<Finding> {
    let (_, code) = ERRORS.iter().find(|(words, _)| message.starts_with(words))?;
    let role = if *code == "push_failed" { DiagnosticRole::Wrapper } else { DiagnosticRole::Cause };
    let mut message = message.to_owned();
    let mut last = at;
    // The files stand below, indented.
    if message.ends_with(':')
        && let Some((index, file)) = log.find_after(at, 1, |text| text.strip_prefix('\t').map(str::to_owned))
    {
        message = format!("{message} {}", symbol(&file));
        last = index;
    }
    if let Some(rest) = message.strip_prefix("could not apply ") {
        let subject = rest.split_once("... ").map_or("", |(_, subject)| subject);
        message = format!("could not apply {}", symbol(subject));
    }
    if let Some(rest) = message.strip_prefix("src refspec ") {
        let name = rest.split(' ').next().unwrap_or_default();
        message = format!("src refspec {} does not match any", symbol(name));
    }
    Some(
        Finding::new("git", "git", ProblemClass::VcsError, at)
            .code(*code)
            .message(message)
            .role(role)
            .until(last),
    )
}
