//! What to do next, after a command has done its work.

use super::facts::read_facts;
use super::print::step_rows;
use super::suggest_steps;
use crate::commands::variable;
use crate::output::{self, HEAD, paint};
use std::io::IsTerminal;
use std::path::Path;

/// Prints the next steps for the person at the terminal, unless they said with CAPSID_HINTS=0 that they know them.
pub(crate) fn print_hints(folder: &Path) {
    let is_wanted = std::io::stderr().is_terminal()
        && !output::is_json()
        && variable("CAPSID_HINTS").as_deref() != Some("0")
        && !capsid_sandbox::inside_sandbox();
    if !is_wanted {
        return;
    }
    // A hint is not worth an error after a command that succeeded.
    if let Ok((facts, _)) = read_facts(folder) {
        output::talk(format_args!("\n{}", paint(HEAD, "Next")));
        output::talk(output::table(&step_rows(&suggest_steps(&facts))).trim_end());
    }
}
