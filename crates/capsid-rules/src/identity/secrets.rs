//! A node's secret: how far the node has got with it, and when the hub asks for it.

use capsid_model::text_enum;
use serde::Serialize;

/// How it stands with a node's secret: it has none, has it, or must show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SecretState {
    /// The node has none, or is not known.
    None,
    /// It was handed out and not shown yet.
    Issued,
    /// It has to be shown.
    Bound,
}

text_enum!(SecretState {
    None = "none",
    Issued = "issued",
    Bound = "bound",
});

/// When the hub asks for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RequireSecret {
    /// Never; a wrong one is refused all the same.
    Never,
    /// From the first time a node shows it.
    #[default]
    Tofu,
    Always,
}

text_enum!(RequireSecret {
    Never = "never",
    Tofu = "tofu",
    Always = "always",
});

/// From where a keyless node may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeylessPin {
    /// From anywhere.
    #[default]
    Off,
    /// From its own network alone.
    Network,
}

text_enum!(KeylessPin {
    Off = "off",
    Network = "network",
});

/// What a request showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PresentedSecret {
    Nothing,
    Right,
    /// A credential that is not the node's secret.
    Wrong,
}

/// How far a node has got with its secret at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretStage {
    /// It has none.
    None,
    /// It was issued to a client that may not keep it.
    Issued,
    /// It was issued a moment ago to a client that keeps it, and that may still send calls without it.
    Awaited,
    /// Its client keeps it and has had time to: it has to be shown, though nobody has shown it yet.
    Due,
    /// Somebody has shown it.
    Bound,
}

impl SecretStage {
    /// Every stage, for tables.
    pub const ALL: [Self; 5] = [Self::None, Self::Issued, Self::Awaited, Self::Due, Self::Bound];

    /// Whether the node is keyless: it is not bound, and its client may never show a secret.
    pub fn is_keyless(self) -> bool {
        matches!(self, Self::None | Self::Issued)
    }

    /// Whether the secret has to be shown.
    pub fn is_bound(self) -> bool {
        matches!(self, Self::Due | Self::Bound)
    }
}

/// The stage of a node. `keeps_secret`: its client is known to store secrets. `window_open`: the secret was issued less
/// than an issue window ago.
pub fn secret_stage(
    state: SecretState,
    was_presented: bool,
    keeps_secret: bool,
    window_open: bool,
) -> SecretStage {
    match state {
        SecretState::None => SecretStage::None,
        _ if was_presented => SecretStage::Bound,
        SecretState::Bound => SecretStage::Due,
        SecretState::Issued if !keeps_secret => SecretStage::Issued,
        SecretState::Issued if window_open => SecretStage::Awaited,
        SecretState::Issued => SecretStage::Due,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table_of_stages() {
        use SecretState::{Bound, Issued};
        for (presented, keeps, open) in flags() {
            assert_eq!(secret_stage(SecretState::None, presented, keeps, open), SecretStage::None);
            let bound = if presented { SecretStage::Bound } else { SecretStage::Due };
            assert_eq!(secret_stage(Bound, presented, keeps, open), bound);
            let issued = match (presented, keeps, open) {
                (true, _, _) => SecretStage::Bound,
                (false, false, _) => SecretStage::Issued,
                (false, true, true) => SecretStage::Awaited,
                (false, true, false) => SecretStage::Due,
            };
            assert_eq!(secret_stage(Issued, presented, keeps, open), issued, "{presented} {keeps} {open}");
        }
    }

    fn flags() -> impl Iterator<Item = (bool, bool, bool)> {
        (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0))
    }

    #[test]
    fn words_are_read_back() {
        for policy in [RequireSecret::Never, RequireSecret::Tofu, RequireSecret::Always] {
            assert_eq!(RequireSecret::parse(policy.as_str()), Some(policy));
        }
        for state in [SecretState::None, SecretState::Issued, SecretState::Bound] {
            assert_eq!(SecretState::parse(state.as_str()), Some(state));
        }
        for pin in [KeylessPin::Off, KeylessPin::Network] {
            assert_eq!(KeylessPin::parse(pin.as_str()), Some(pin));
        }
        assert_eq!(RequireSecret::parse("sometimes"), None);
    }
}
