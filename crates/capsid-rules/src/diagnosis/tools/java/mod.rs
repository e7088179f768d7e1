//! The JVM: compilers, exceptions, test runners and build tools.

pub(crate) mod build;
pub(crate) mod compile;
pub(crate) mod exception;
pub(crate) mod junit;
