//! Test programs beside those of the large languages: C++ frameworks, stories, and the rest.

mod native;
mod other;
mod stories;

use crate::diagnosis::finding::{Finding, LogView};

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    native::recognize(log, at).or_else(|| stories::recognize(log, at)).or_else(|| other::recognize(log, at))
}
