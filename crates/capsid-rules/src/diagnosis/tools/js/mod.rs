//! JavaScript and TypeScript: runtimes, test runners, linters and bundlers.

pub(crate) mod bundle;
pub(crate) mod jest;
pub(crate) mod lint;
pub(crate) mod node;
pub(crate) mod runners;
pub(crate) mod tap;
