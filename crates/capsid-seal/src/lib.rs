#![doc = include_str!("../README.md")]

pub mod record;
pub mod stored;

pub use record::{Link, Record};
pub use stored::{Columns, Seal, Stored};
