//! How much an owner is trusted: 0 for somebody new, up to 3 for somebody whom the operator appointed.

/// The level of an owner, from 0 to 3.
pub type OwnerLevel = u8;

/// The level from which on an owner's use and work count.
pub const KNOWN: OwnerLevel = 1;
/// The level of those whom the operator appointed.
pub const APPOINTED: OwnerLevel = 3;

/// Whether owners have to earn their level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelPolicy {
    /// A team does not have to earn its own trust: every owner has level 1.
    #[default]
    Trusted,
    /// Strangers do.
    Earned,
}

/// The level of an owner, by whether it has a claimed node and whether the operator appointed it.
pub fn owner_level(policy: LevelPolicy, has_claimed_node: bool, is_appointed: bool) -> OwnerLevel {
    match (policy, is_appointed, has_claimed_node) {
        (LevelPolicy::Trusted, ..) => KNOWN,
        (LevelPolicy::Earned, true, _) => APPOINTED,
        (LevelPolicy::Earned, false, true) => KNOWN,
        (LevelPolicy::Earned, false, false) => 0,
    }
}

/// The value for a level in a list by level; the last one holds for higher levels, and nothing where the list is empty.
pub fn by_level(list: &[i64], level: OwnerLevel) -> Option<i64> {
    list.get(usize::from(level)).or_else(|| list.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_has_level_one_and_strangers_earn_theirs() {
        assert_eq!(owner_level(LevelPolicy::Trusted, false, false), 1);
        assert_eq!(owner_level(LevelPolicy::Earned, false, false), 0);
        assert_eq!(owner_level(LevelPolicy::Earned, true, false), 1);
        assert_eq!(owner_level(LevelPolicy::Earned, true, true), 3);
    }

    #[test]
    fn the_last_value_holds_for_higher_levels() {
        let list = [1, 16, 64];
        assert_eq!([0, 1, 2, 3].map(|level| by_level(&list, level)), [Some(1), Some(16), Some(64), Some(64)]);
        assert_eq!((by_level(&[7], 0), by_level(&[7], 2), by_level(&[], 1)), (Some(7), Some(7), None));
    }
}
