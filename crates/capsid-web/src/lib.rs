//! The web pages of Capsid, built into the program.
//!
//! They are files: one shell for every address, and what it loads. [`pages`] finds them, [`mod@answer`] serves them over
//! HTTP for a hub, [`local`] for one person on their own machine, and [`single`] puts the
//! Explorer with its data into one file.

pub mod local;
pub mod pages;
pub mod response;
pub mod single;

pub use pages::{HAS_PAGES, PageHost};
pub use response::answer;
