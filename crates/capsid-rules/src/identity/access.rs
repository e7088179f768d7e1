//! Who may act for a node.
//!
//! A node id is held by proof. Until its secret was shown, or its client has had time to keep it, the hub can only tell
//! networks apart: what it gives, it gives to the network that came first.

use super::secrets::{KeylessPin, PresentedSecret, RequireSecret, SecretStage};

/// What decides whether a request may act for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccessFacts {
    pub stage: SecretStage,
    pub policy: RequireSecret,
    pub presented: PresentedSecret,
    /// Whether the request comes from the node's own network.
    pub same_network: bool,
    pub pin: KeylessPin,
}

/// What a permitted request does to the node's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretBinding {
    Unchanged,
    /// It binds the node to its secret.
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
    /// The node is keyless and belongs to another network.
    OtherNetwork,
}

/// Whether a request may act for a node, and whether it binds the node to its secret.
pub fn may_act(facts: AccessFacts) -> Result<SecretBinding, AccessDenial> {
    use PresentedSecret::{Nothing, Right, Wrong};
    use SecretStage::{Awaited, Bound, Due, Issued, None};
    let AccessFacts { stage, policy, presented, same_network, pin } = facts;
    let unchanged = Ok(SecretBinding::Unchanged);
    match (stage, presented) {
        // Whatever is shown for a node without a secret, there is nothing to compare it with.
        (None, _) if policy == RequireSecret::Never => unchanged,
        (None, Right | Wrong) => Err(AccessDenial::SecretNotSet),
        (None, Nothing) if policy == RequireSecret::Always => Err(AccessDenial::SecretNotSet),
        (_, Wrong) => Err(AccessDenial::SecretInvalid),
        (Bound, Right) => unchanged,
        (Issued | Awaited | Due, Right) => Ok(SecretBinding::Binds),
        (_, Nothing) if policy == RequireSecret::Never => unchanged,
        (_, Nothing) if policy == RequireSecret::Always => Err(AccessDenial::SecretRequired),
        (None | Issued, Nothing) if pin == KeylessPin::Network && !same_network => {
            Err(AccessDenial::OtherNetwork)
        }
        (None | Issued, Nothing) => unchanged,
        (Awaited, Nothing) if same_network => unchanged,
        (Awaited | Due | Bound, Nothing) => Err(AccessDenial::SecretRequired),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PresentedSecret::{Nothing, Right, Wrong};
    use RequireSecret::{Always, Never, Tofu};
    use SecretStage::{Awaited, Bound, Due, Issued};

    #[test]
    fn the_whole_table_of_acting() {
        let (keeps, binds) = (Ok(SecretBinding::Unchanged), Ok(SecretBinding::Binds));
        let required = Err(AccessDenial::SecretRequired);
        let invalid = Err(AccessDenial::SecretInvalid);
        let not_set = Err(AccessDenial::SecretNotSet);
        let elsewhere = Err(AccessDenial::OtherNetwork);
        // Stage and what was shown; then the answer under never and always, which do not ask where a request comes from;
        // then under tofu: same network, another one, the same where keyless nodes are pinned, another one there.
        let table = [
            (SecretStage::None, Nothing, keeps, not_set, [keeps, keeps, keeps, elsewhere]),
            (SecretStage::None, Right, keeps, not_set, [not_set; 4]),
            (SecretStage::None, Wrong, keeps, not_set, [not_set; 4]),
            (Issued, Nothing, keeps, required, [keeps, keeps, keeps, elsewhere]),
            (Issued, Right, binds, binds, [binds; 4]),
            (Issued, Wrong, invalid, invalid, [invalid; 4]),
            (Awaited, Nothing, keeps, required, [keeps, required, keeps, required]),
            (Awaited, Right, binds, binds, [binds; 4]),
            (Awaited, Wrong, invalid, invalid, [invalid; 4]),
            (Due, Nothing, keeps, required, [required; 4]),
            (Due, Right, binds, binds, [binds; 4]),
            (Due, Wrong, invalid, invalid, [invalid; 4]),
            (Bound, Nothing, keeps, required, [required; 4]),
            (Bound, Right, keeps, keeps, [keeps; 4]),
            (Bound, Wrong, invalid, invalid, [invalid; 4]),
        ];
        assert_eq!(table.len(), SecretStage::ALL.len() * 3);
        for (stage, presented, never, always, tofu) in table {
            let places = [KeylessPin::Off, KeylessPin::Network].map(|pin| [(true, pin), (false, pin)]);
            for ((same_network, pin), tofu) in places.into_iter().flatten().zip(tofu) {
                for (policy, expected) in [(Never, never), (Tofu, tofu), (Always, always)] {
                    let facts = AccessFacts { stage, policy, presented, same_network, pin };
                    assert_eq!(may_act(facts), expected, "{facts:?}");
                }
            }
        }
    }
}
