//! The rules of the service, without I/O.

pub mod chain_state;
pub mod entry;
pub mod rate_limit;
pub mod record_text;
pub mod refusal;
pub mod signer_chain;
pub mod signer_state;
pub mod statement;

/// A SHA3-256 as bytes.
pub type HashBytes = [u8; 32];

/// The most texts of one request.
pub const MAX_TEXTS: usize = 1000;
/// The most bytes of one request.
pub const MAX_REQUEST_BYTES: usize = 32 << 20;
/// The most chains of one user.
pub const MAX_CHAINS: usize = 1_000_000;
/// The most connections of one user.
pub const MAX_CONNECTIONS: usize = 8;
