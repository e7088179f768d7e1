//! What a hello does to a node's secret: who is told one, and who gets another.

use super::access::AccessDenial;
use super::secrets::{KeylessPin, PresentedSecret, SecretStage};

/// What decides about the secret in a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HelloFacts {
    pub stage: SecretStage,
    pub presented: PresentedSecret,
    /// Whether the hello comes from the network that the secret was issued to.
    pub same_network: bool,
    /// Whether an account owns the node.
    pub claimed: bool,
    pub pin: KeylessPin,
    /// Whether the hello asks for another secret.
    pub rotate: bool,
    /// Whether the secret was issued less than an issue window ago.
    pub window_open: bool,
    /// Whether a lost secret may be replaced now.
    pub recoverable: bool,
}

/// What a hello does to the secret, and what it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretPlan {
    /// The node gets a secret, and whatever it had before ends.
    Issue,
    /// The secret of a moment ago is returned once more, for clients that say hello twice at once.
    Repeat,
    /// The node gets another secret, and the earlier one stays valid until one of them is shown.
    Reissue,
    /// The node gets another secret, which has to be shown from now on.
    Replace,
    /// The secret was shown; nothing is returned.
    Confirm,
    /// A stranger is greeted. Nothing is returned and nothing changes.
    Greet,
    /// A wrong secret was shown.
    Deny(AccessDenial),
    /// No other secret is given.
    Refuse(RotationDenial),
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

    /// The HTTP status.
    pub fn http_status(self) -> u16 {
        match self {
            Self::SecretRequired => 401,
            Self::SecretInvalid => 403,
            Self::AlreadyClaimed => 409,
        }
    }
}

/// What a hello does to the secret.
pub fn plan_secret(facts: HelloFacts) -> SecretPlan {
    use PresentedSecret::{Nothing, Right, Wrong};
    let HelloFacts { stage, presented, .. } = facts;
    if facts.rotate {
        return match may_rotate(facts) {
            Err(denial) => SecretPlan::Refuse(denial),
            Ok(()) if presented == Right || stage == SecretStage::Bound => SecretPlan::Replace,
            Ok(()) => SecretPlan::Issue,
        };
    }
    match (stage, presented) {
        (SecretStage::None, _) if may_begin(facts) => SecretPlan::Issue,
        (SecretStage::None, Nothing) => SecretPlan::Greet,
        (SecretStage::None, _) | (_, Wrong) => SecretPlan::Deny(AccessDenial::SecretInvalid),
        (_, Right) => SecretPlan::Confirm,
        (SecretStage::Bound, Nothing) => SecretPlan::Greet,
        (_, Nothing) if !facts.same_network => SecretPlan::Greet,
        (_, Nothing) if facts.window_open => SecretPlan::Repeat,
        (_, Nothing) => SecretPlan::Reissue,
    }
}

/// Whether a node may get another secret: with the present one; without it while none was ever shown, from the network
/// that it was issued to; and when a lost one may be replaced.
pub fn may_rotate(facts: HelloFacts) -> Result<(), RotationDenial> {
    match (facts.stage, facts.presented) {
        (SecretStage::None, _) if may_begin(facts) => Ok(()),
        (SecretStage::Issued | SecretStage::Awaited | SecretStage::Due, _) if facts.same_network => Ok(()),
        (stage, PresentedSecret::Right) if stage != SecretStage::None => Ok(()),
        (SecretStage::Bound, _) if facts.claimed => Err(RotationDenial::AlreadyClaimed),
        (SecretStage::Bound, _) if facts.recoverable => Ok(()),
        (_, PresentedSecret::Nothing) => Err(RotationDenial::SecretRequired),
        _ => Err(RotationDenial::SecretInvalid),
    }
}

/// Whether a hello gives a node its first secret. A node that somebody owns, and a keyless one of a hub that pins them,
/// begins in its own network.
fn may_begin(facts: HelloFacts) -> bool {
    facts.same_network || (!facts.claimed && facts.pin == KeylessPin::Off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use PresentedSecret::{Nothing, Right, Wrong};
    use SecretStage::{Awaited, Bound, Due, Issued};

    fn facts(stage: SecretStage, presented: PresentedSecret) -> HelloFacts {
        HelloFacts {
            stage,
            presented,
            same_network: true,
            claimed: false,
            pin: KeylessPin::Off,
            rotate: false,
            window_open: false,
            recoverable: false,
        }
    }

    /// Each combination of network, claim and pin with the given facts.
    fn places(facts: HelloFacts) -> impl Iterator<Item = HelloFacts> {
        (0..8).map(move |bits| HelloFacts {
            same_network: bits & 1 == 0,
            claimed: bits & 2 > 0,
            pin: if bits & 4 > 0 { KeylessPin::Network } else { KeylessPin::Off },
            ..facts
        })
    }

    #[test]
    fn the_whole_table_of_rotating() {
        let yes = Ok(());
        let required = Err(RotationDenial::SecretRequired);
        let invalid = Err(RotationDenial::SecretInvalid);
        let claimed = Err(RotationDenial::AlreadyClaimed);
        // Stage and what was shown, then the answer for: same network, another one, the same and claimed, another and
        // claimed; then for another network where keyless nodes are pinned, the others are as without.
        let table = [
            (SecretStage::None, Nothing, [yes, yes, yes, required], required),
            (SecretStage::None, Right, [yes, yes, yes, invalid], invalid),
            (SecretStage::None, Wrong, [yes, yes, yes, invalid], invalid),
            (Issued, Nothing, [yes, required, yes, required], required),
            (Issued, Right, [yes; 4], yes),
            (Issued, Wrong, [yes, invalid, yes, invalid], invalid),
            (Awaited, Nothing, [yes, required, yes, required], required),
            (Awaited, Right, [yes; 4], yes),
            (Awaited, Wrong, [yes, invalid, yes, invalid], invalid),
            (Due, Nothing, [yes, required, yes, required], required),
            (Due, Right, [yes; 4], yes),
            (Due, Wrong, [yes, invalid, yes, invalid], invalid),
            (Bound, Nothing, [required, required, claimed, claimed], required),
            (Bound, Right, [yes; 4], yes),
            (Bound, Wrong, [invalid, invalid, claimed, claimed], invalid),
        ];
        assert_eq!(table.len(), SecretStage::ALL.len() * 3);
        for (stage, presented, off, pinned_elsewhere) in table {
            for facts in places(HelloFacts { rotate: true, ..facts(stage, presented) }) {
                let expected = match (facts.pin, facts.same_network, facts.claimed) {
                    (KeylessPin::Network, false, false) => pinned_elsewhere,
                    (_, same, claimed) => off[usize::from(!same) + 2 * usize::from(claimed)],
                };
                for window_open in [true, false] {
                    let facts = HelloFacts { window_open, ..facts };
                    assert_eq!(may_rotate(facts), expected, "{facts:?}");
                    let plan = plan_secret(facts);
                    match expected {
                        Err(denial) => assert_eq!(plan, SecretPlan::Refuse(denial), "{facts:?}"),
                        Ok(()) if presented == Right && stage != SecretStage::None => {
                            assert_eq!(plan, SecretPlan::Replace, "{facts:?}");
                        }
                        Ok(()) if presented != Right => assert_eq!(plan, SecretPlan::Issue, "{facts:?}"),
                        Ok(()) => {}
                    }
                }
                // A lost secret is replaced only where it was in use, and for nobody's node.
                let lost = HelloFacts { recoverable: true, ..facts };
                let recovers = stage == Bound && !facts.claimed && presented != Right;
                assert_eq!(may_rotate(lost), if recovers { yes } else { expected }, "{lost:?}");
            }
        }
    }

    #[test]
    fn the_whole_table_of_plain_hellos() {
        use SecretPlan::{Confirm, Greet, Issue, Reissue, Repeat};
        let deny = SecretPlan::Deny(AccessDenial::SecretInvalid);
        for stage in SecretStage::ALL {
            for presented in [Nothing, Right, Wrong] {
                for facts in places(facts(stage, presented)) {
                    for window_open in [true, false] {
                        let facts = HelloFacts { window_open, ..facts };
                        let again = if window_open { Repeat } else { Reissue };
                        let first = facts.same_network || (!facts.claimed && facts.pin == KeylessPin::Off);
                        let expected = match (stage, presented) {
                            (SecretStage::None, _) if first => Issue,
                            (SecretStage::None, Nothing) => Greet,
                            (SecretStage::None, _) | (_, Wrong) => deny,
                            (_, Right) => Confirm,
                            (Bound, Nothing) => Greet,
                            (_, Nothing) if facts.same_network => again,
                            (_, Nothing) => Greet,
                        };
                        assert_eq!(plan_secret(facts), expected, "{facts:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_strangers_hello_returns_nothing_whatever_the_stage() {
        for stage in [Issued, Awaited, Due, Bound] {
            for facts in places(facts(stage, Nothing)).filter(|facts| !facts.same_network) {
                assert_eq!(plan_secret(facts), SecretPlan::Greet, "{facts:?}");
            }
        }
    }

    #[test]
    fn a_refusal_has_a_status_and_a_reason() {
        let told =
            [RotationDenial::SecretRequired, RotationDenial::SecretInvalid, RotationDenial::AlreadyClaimed]
                .map(|denial| (denial.http_status(), denial.reason()));
        let current = "rotation_requires_current_secret";
        assert_eq!(told, [(401, current), (403, current), (409, "node_id_already_claimed")]);
    }
}
