//! The web pages of Capsid, built into the program.
//!
//! They are files: one shell for every address, and what it loads. [`pages`] finds them, [`answer`] serves them over
//! HTTP for a hub, and [`local`] for one person on their own machine.

pub mod answer;
pub mod local;
pub mod pages;

pub use answer::answer;
pub use pages::Place;
