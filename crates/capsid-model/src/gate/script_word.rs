//! What an interpreter takes for code.

/// A word of a command that an interpreter takes for code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptWord<'a> {
    /// The script itself: a regular file.
    File(&'a str),
    /// A file, a folder, a pattern or a subcommand: what a test runner takes.
    Pattern(&'a str),
}
