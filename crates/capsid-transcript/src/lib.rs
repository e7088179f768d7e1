#![doc = include_str!("../README.md")]

mod folders;
mod lines;
mod recent;
mod tail;

pub use folders::{SessionFolder, known_folders};
pub use recent::{Session, Transcript, recent_text};
pub use tail::{plain_tail, tail_of};
