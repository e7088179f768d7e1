//! Who makes a request about a node. Every right is checked against this, so that another kind of credential is one more
//! way to become an actor, and changes no right.

/// Who makes a request about a node, as far as that is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// Anybody.
    Stranger,
    /// Whoever speaks for a keyless node from where that is allowed.
    Keyless,
    /// Whoever names the node, on a hub that asks for no secrets.
    Unchecked,
    /// The node: the request showed its secret.
    Node,
    /// The account that owns the node, while the node can still refuse that.
    NewOwner,
    /// The account that owns the node.
    Owner,
    Admin,
}

impl Actor {
    /// Every actor, for tables.
    pub const ALL: [Self; 7] = [
        Self::Stranger,
        Self::Keyless,
        Self::Unchecked,
        Self::Node,
        Self::NewOwner,
        Self::Owner,
        Self::Admin,
    ];

    /// Whether it may send and read in the name of the node.
    pub fn can_act(self) -> bool {
        self != Self::Stranger
    }

    /// Whether it may spend what the node holds.
    pub fn can_spend(self) -> bool {
        matches!(self, Self::Unchecked | Self::Node | Self::Owner | Self::Admin)
    }

    /// Whether it may see what concerns the node alone: its statement.
    pub fn can_see_account(self) -> bool {
        self.can_spend() || self == Self::NewOwner
    }

    /// Whether it may see and change what must not be guessed by others: the node's webhook and its audit.
    pub fn can_see_secrets(self) -> bool {
        matches!(self, Self::Node | Self::NewOwner | Self::Owner | Self::Admin)
    }

    /// Whether it is shown the claim code. Whoever has the code can own the node.
    pub fn can_see_claim_code(self) -> bool {
        self == Self::Node
    }

    /// Whether it may refuse a claim of the node.
    pub fn can_refuse_claim(self) -> bool {
        self == Self::Node
    }

    /// Whether it may give the node another secret for its owner to hand over.
    pub fn can_reset_secret(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    /// Whether a vote that it casts through the node is the owner's.
    pub fn can_vote(self) -> bool {
        self == Self::Node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table_of_rights() {
        // act, spend, account, secrets, claim code, refuse a claim, reset the secret, vote
        let table = [
            (Actor::Stranger, [false; 8]),
            (Actor::Keyless, [true, false, false, false, false, false, false, false]),
            (Actor::Unchecked, [true, true, true, false, false, false, false, false]),
            (Actor::Node, [true, true, true, true, true, true, false, true]),
            (Actor::NewOwner, [true, false, true, true, false, false, false, false]),
            (Actor::Owner, [true, true, true, true, false, false, true, false]),
            (Actor::Admin, [true, true, true, true, false, false, true, false]),
        ];
        assert_eq!(table.map(|(actor, _)| actor), Actor::ALL);
        for (actor, rights) in table {
            let has = [
                actor.can_act(),
                actor.can_spend(),
                actor.can_see_account(),
                actor.can_see_secrets(),
                actor.can_see_claim_code(),
                actor.can_refuse_claim(),
                actor.can_reset_secret(),
                actor.can_vote(),
            ];
            assert_eq!(has, rights, "{actor:?}");
        }
    }
}
