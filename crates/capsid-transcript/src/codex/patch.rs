//! Patches: found in a call's arguments, shown as a diff.

use crate::shape::{LineCounts, joined};
use capsid_model::exact::ExactJson;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
/// Tools whose arguments can hold a patch.
const PATCHERS: [&str; 5] = ["apply_patch", "shell", "local_shell", "shell_command", "exec_command"];
/// The line that announces a file, and what is shown instead.
const FILES: [(&str, &str); 4] = [
    ("*** Update File: ", "edited"),
    ("*** Add File: ", "added"),
    ("*** Delete File: ", "deleted"),
    ("*** Move to: ", "moved to"),
];

/// A patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CodexPatch {
    pub(super) diff: String,
    pub(super) counts: LineCounts,
    pub(super) side_effects: Vec<String>,
    /// Whether its end marker is missing: it goes to the end of the text.
    pub(super) is_unterminated: bool,
}

/// The patch of a call, if it has one.
pub(super) fn patch_of(tool: &str, arguments: &ExactJson) -> Option<CodexPatch> {
    if !PATCHERS.contains(&tool) {
        return None;
    }
    let names = ["input", "patch", "apply_patch", "content", "command", "cmd"];
    names.iter().filter_map(|name| arguments.get(name)).find_map(|value| parse_shown(&joined(value, "\n")))
}

fn parse_shown(text: &str) -> Option<CodexPatch> {
    let inside = &text[text.find(BEGIN)? + BEGIN.len()..];
    let end = inside.find(END);
    let inside = &inside[..end.unwrap_or(inside.len())];
    let mut patch = CodexPatch { is_unterminated: end.is_none(), ..CodexPatch::default() };
    let mut lines = Vec::new();
    // The first line is the rest of the marker's own.
    for line in inside.lines().skip(1) {
        let file = FILES.iter().find_map(|(start, verb)| Some((*verb, line.strip_prefix(start)?)));
        match file {
            Some((verb, path)) => {
                lines.push(format!("--- {verb}: {path}"));
                if verb != "moved to" {
                    patch.side_effects.push(format!("{verb} {path}"));
                }
            }
            None => {
                patch.counts.line(line);
                lines.push(line.to_owned());
            }
        }
    }
    patch.diff = lines.join("\n");
    Some(patch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::fields;

    #[test]
    fn a_patch_is_found_in_every_argument_that_can_hold_it() {
        let text = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n-y\n z\n*** End Patch\n";
        let here = format!("apply_patch <<'EOF'\n{text}EOF");
        let calls: [(&str, ExactJson); 4] = [
            ("apply_patch", fields! { "input": text }.into()),
            ("apply_patch", fields! { "patch": text }.into()),
            ("shell", fields! { "command": vec!["bash", "-lc", &here] }.into()),
            ("exec_command", fields! { "cmd": here.as_str() }.into()),
        ];
        for (tool, arguments) in calls {
            let patch = patch_of(tool, &arguments).unwrap();
            assert_eq!(patch.diff, "--- added: a\n+x\n--- edited: b\n--- moved to: c\n@@\n-y\n z");
            assert_eq!(patch.counts, LineCounts { added: 1, removed: 1 });
            assert_eq!(patch.side_effects, ["added a", "edited b"]);
        }
    }

    #[test]
    fn what_is_no_patch_is_none() {
        assert_eq!(patch_of("read", &fields! { "input": "*** Begin Patch\n*** End Patch" }.into()), None);
        assert_eq!(patch_of("shell", &fields! { "command": vec!["ls"] }.into()), None);
        let open = patch_of("shell", &fields! { "command": "*** Begin Patch\n+x" }.into()).unwrap();
        assert!(open.is_unterminated && open.diff == "+x");
        let empty = patch_of("shell", &fields! { "command": "*** Begin Patch*** End Patch" }.into());
        assert_eq!(empty, Some(CodexPatch::default()));
    }
}
