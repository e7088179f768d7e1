//! Exchange with other nodes by files.

pub(crate) mod export;
pub(crate) mod ingest;
pub(crate) mod promote;
