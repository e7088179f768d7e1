#![doc = include_str!("../README.md")]

pub mod action;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod cursor;
mod folders;
mod jsonl;
mod lines;
pub mod places;
mod read;
mod recent;
pub mod shape;
mod tail;

pub use action::{Action, Authority, Call, Kind, Report, Source, Tool};
pub use folders::{SessionFolder, known_folders};
pub use read::read;
pub use recent::{Session, Transcript, recent_text};
pub use tail::{plain_tail, tail_of};
