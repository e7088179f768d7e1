//! placeholder

/// placeholder
#[derive(Default, Debug, Clone)]
pub struct Policy {
    /// p
    pub programs: Vec<String>,
    /// p
    pub inline_code: bool,
}
