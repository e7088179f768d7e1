#![doc = include_str!("../README.md")]

pub mod home;
pub mod record;
pub mod stored;

pub use home::Home;
pub use record::{Link, Record};
pub use stored::{Columns, Seal, Stored};
