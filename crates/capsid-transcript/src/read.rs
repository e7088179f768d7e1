//! The entry point: whichever tool wrote a transcript, its actions have the same form.

use crate::{Action, ReadReport, Tool, TranscriptSource, claude_code, cline, codex, cursor};
use capsid_model::Result;

/// Reads a transcript from its beginning and hands on one action after the other, in bounded memory.
///
/// What cannot be read costs itself only: it is counted in the report, and what the reader does not know is handed on
/// verbatim. An error of `each` ends the reading.
pub fn read(source: &TranscriptSource, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<ReadReport> {
    match source.tool {
        Tool::ClaudeCode => claude_code::read(source, each),
        Tool::Codex => codex::read(source, each),
        Tool::Cursor => cursor::read(source, each),
        Tool::Cline => cline::read(source, each),
    }
}
