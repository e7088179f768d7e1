//! C, C++ and what shares their tools.

pub(crate) mod compile;
pub(crate) mod link;
pub(crate) mod runtime;
