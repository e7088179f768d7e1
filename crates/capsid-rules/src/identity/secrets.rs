//! Who may act for a node: trust on first use.
//!
//! A node may act without its secret until it has shown the secret once. From then on nobody else can act for it.

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
    /// It was shown, so the node is known to have it.
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

/// What a request showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PresentedSecret {
    Nothing,
    Right,
    /// A credential that is not the node's secret.
    Wrong,
}

/// What a permitted request does to the node's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretBinding {
    Unchanged,
    /// It binds the node to its secret: store [`SecretState::Bound`].
    Binds,
}

/// Why a request may not act for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessDenial {
    /// It showed none and must.
    SecretRequired,
    /// It showed a wrong one.
    SecretInvalid,
    /// The node has none yet; it must say hello first.
    SecretNotSet,
}

impl AccessDenial {
    /// The error code.
    pub fn code(self) -> &'static str {
        match self {
            Self::SecretRequired => "node_secret_required",
            Self::SecretInvalid => "node_secret_invalid",
            Self::SecretNotSet => "node_secret_not_set",
        }
    }

    /// The HTTP status.
    pub fn http_status(self) -> u16 {
        match self {
            Self::SecretInvalid => 403,
            Self::SecretRequired | Self::SecretNotSet => 401,
        }
    }
}

/// Whether a request may act for a node, and whether it binds the node to its secret.
pub fn may_act(
    state: SecretState,
    policy: RequireSecret,
    presented: PresentedSecret,
) -> Result<SecretBinding, AccessDenial> {
    use PresentedSecret::{Nothing, Right, Wrong};
    match (state, presented) {
        (SecretState::None, Nothing) if policy != RequireSecret::Always => Ok(SecretBinding::Unchanged),
        // Whatever is shown for a node without a secret, there is nothing to compare it with.
        (SecretState::None, _) if policy == RequireSecret::Never => Ok(SecretBinding::Unchanged),
        (SecretState::None, _) => Err(AccessDenial::SecretNotSet),
        (_, Wrong) => Err(AccessDenial::SecretInvalid),
        (SecretState::Issued, Right) => Ok(SecretBinding::Binds),
        (SecretState::Bound, Right) => Ok(SecretBinding::Unchanged),
        (SecretState::Issued, Nothing) if policy != RequireSecret::Always => Ok(SecretBinding::Unchanged),
        (SecretState::Bound, Nothing) if policy == RequireSecret::Never => Ok(SecretBinding::Unchanged),
        (_, Nothing) => Err(AccessDenial::SecretRequired),
    }
}

/// Whether a plain hello shows the secret: always the same one until the node is bound, so that two hellos at once
/// both learn it, and never afterwards. That of a node which an account owns is the owner's to hand out.
pub fn hello_shows_secret(state: SecretState, claimed: bool) -> bool {
    state != SecretState::Bound && !claimed
}

/// Why a secret is not replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RotationDenial {
    /// The present secret was not shown.
    SecretRequired,
    /// A wrong secret was shown.
    SecretInvalid,
    /// The node belongs to an account, whose owner can reset the secret.
    AlreadyClaimed,
}

impl RotationDenial {
    /// The reason that clients read.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SecretRequired | Self::SecretInvalid => "rotation_requires_current_secret",
            Self::AlreadyClaimed => "node_id_already_claimed",
        }
    }

    /// The HTTP status: a claimed node is told in an ordinary answer.
    pub fn http_status(self) -> u16 {
        match self {
            Self::SecretRequired => 401,
            Self::SecretInvalid => 403,
            Self::AlreadyClaimed => 200,
        }
    }
}

/// Whether a node may get a new secret: with the present one, and while no account owns it also without any that was
/// ever shown, or from the device it registered from.
pub fn may_rotate(
    state: SecretState,
    presented: PresentedSecret,
    same_device: bool,
    claimed: bool,
) -> Result<(), RotationDenial> {
    match (state, presented) {
        (_, PresentedSecret::Right) => Ok(()),
        _ if claimed => Err(RotationDenial::AlreadyClaimed),
        (SecretState::None, _) | (SecretState::Issued, PresentedSecret::Nothing) => Ok(()),
        _ if same_device => Ok(()),
        (_, PresentedSecret::Nothing) => Err(RotationDenial::SecretRequired),
        (_, PresentedSecret::Wrong) => Err(RotationDenial::SecretInvalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PresentedSecret::{Nothing, Right, Wrong};
    use RequireSecret::{Always, Never, Tofu};
    use SecretState::{Bound, Issued};

    #[test]
    fn the_whole_table_of_acting() {
        let (keeps, binds) = (Ok(SecretBinding::Unchanged), Ok(SecretBinding::Binds));
        let required = Err(AccessDenial::SecretRequired);
        let invalid = Err(AccessDenial::SecretInvalid);
        let not_set = Err(AccessDenial::SecretNotSet);
        // state, presented, then the answer under never, tofu and always
        let table = [
            (SecretState::None, Nothing, keeps, keeps, not_set),
            (SecretState::None, Right, keeps, not_set, not_set),
            (SecretState::None, Wrong, keeps, not_set, not_set),
            (Issued, Nothing, keeps, keeps, required),
            (Issued, Right, binds, binds, binds),
            (Issued, Wrong, invalid, invalid, invalid),
            (Bound, Nothing, keeps, required, required),
            (Bound, Right, keeps, keeps, keeps),
            (Bound, Wrong, invalid, invalid, invalid),
        ];
        for (state, presented, never, tofu, always) in table {
            assert_eq!(may_act(state, Never, presented), never, "{state:?} {presented:?} never");
            assert_eq!(may_act(state, Tofu, presented), tofu, "{state:?} {presented:?} tofu");
            assert_eq!(may_act(state, Always, presented), always, "{state:?} {presented:?} always");
        }
    }

    #[test]
    fn the_whole_table_of_rotating() {
        let yes = Ok(());
        let required = Err(RotationDenial::SecretRequired);
        let invalid = Err(RotationDenial::SecretInvalid);
        let claimed = Err(RotationDenial::AlreadyClaimed);
        // state, presented, then the answer for: stranger, same device, claimed stranger, claimed same device
        let table = [
            (SecretState::None, Nothing, [yes, yes, claimed, claimed]),
            (SecretState::None, Right, [yes, yes, yes, yes]),
            (SecretState::None, Wrong, [yes, yes, claimed, claimed]),
            (Issued, Nothing, [yes, yes, claimed, claimed]),
            (Issued, Right, [yes, yes, yes, yes]),
            (Issued, Wrong, [invalid, yes, claimed, claimed]),
            (Bound, Nothing, [required, yes, claimed, claimed]),
            (Bound, Right, [yes, yes, yes, yes]),
            (Bound, Wrong, [invalid, yes, claimed, claimed]),
        ];
        for (state, presented, expected) in table {
            let owners = [(false, false), (true, false), (false, true), (true, true)];
            for ((same_device, owned), expected) in owners.into_iter().zip(expected) {
                let answer = may_rotate(state, presented, same_device, owned);
                assert_eq!(answer, expected, "{state:?} {presented:?} {same_device} {owned}");
            }
        }
    }

    #[test]
    fn words_are_read_back() {
        for policy in [Never, Tofu, Always] {
            assert_eq!(RequireSecret::parse(policy.as_str()), Some(policy));
        }
        for state in [SecretState::None, Issued, Bound] {
            assert_eq!(SecretState::parse(state.as_str()), Some(state));
            assert_eq!(hello_shows_secret(state, false), state != Bound);
            assert!(!hello_shows_secret(state, true));
        }
        assert_eq!(RequireSecret::parse("sometimes"), None);
    }
}
