//! The web pages of Capsid, built into the program.
//!
//! They are files: one shell for every address, and what it loads. [`pages`] finds them, [`answer`] serves them over HTTP.

pub mod answer;
pub mod pages;

pub use answer::answer;
pub use pages::Place;
