//! JSON that keeps what sealed records depend on: integers of any size, floats apart from integers, and input order.
//!
//! Asset ids are defined over ECMAScript's numbers and need none of this; sealed records are defined over Python's.

mod float;
mod parse;
mod scan;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use float::float_text;
pub use parse::{parse, parse_lossy, parse_unambiguous};
pub(crate) use scan::plain_run;
pub use value::{ExactFields, ExactInt, ExactJson, ExactMember};
pub use write::{canonical, canonical_ascii, indented, spaced, write_canonical, write_canonical_object};
