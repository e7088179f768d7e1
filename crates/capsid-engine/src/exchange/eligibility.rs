//! Whether a capsule may be offered to others. Pure.

/// How a capsule stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether it may be offered.
    pub eligible: bool,
    /// Why not, one sentence each.
    pub reasons: Vec<String>,
    /// How often it worked in a row, by the event log.
    pub streak: u64,
}
