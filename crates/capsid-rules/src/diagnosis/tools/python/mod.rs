//! Python: exceptions, test runners and linters.

pub(crate) mod lint;
pub(crate) mod pytest;
pub(crate) mod traceback;
pub(crate) mod unittest;
