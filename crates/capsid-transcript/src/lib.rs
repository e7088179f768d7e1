#![doc = include_str!("../README.md")]

pub mod action;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod cursor;
mod folders;
mod jsonl;
mod ledger;
mod leftover;
mod lines;
mod read;
mod recent;
pub mod session_paths;
pub mod shape;
pub mod status;
mod tail;

pub use action::{
    Action, ActionKind, Authority, DropReason, ReadReport, Tool, ToolInvocation, TranscriptSource,
    TriggerKind,
};
pub use folders::{SessionFolder, list_folders};
pub use read::read;
pub use recent::{SessionText, Transcript, recent_text};
pub use status::OutcomeStatus;
pub use tail::{plain_tail, tail_of};
