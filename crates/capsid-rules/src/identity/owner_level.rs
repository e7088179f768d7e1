//! What the level of an owner decides besides reports: grants, quotas and rewards.

use crate::evaluation::owners::OwnerLevel;

/// Whether owners have to earn their level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelPolicy {
    /// A team does not have to earn its own trust: every owner has level 1.
    #[default]
    Trusted,
    /// Strangers do.
    Earned,
}

/// The value for a level in a list by level; the last one holds for higher levels, and nothing where the list is empty.
pub fn by_level(list: &[i64], level: OwnerLevel) -> Option<i64> {
    let at = usize::try_from(level.number()).unwrap_or_default();
    list.get(at).or_else(|| list.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_holds_for_higher_levels() {
        let list = [1, 16, 64];
        let values = OwnerLevel::ALL.map(|level| by_level(&list, level));
        assert_eq!(values, [Some(1), Some(16), Some(64), Some(64)]);
        assert_eq!(by_level(&[7], OwnerLevel::New), Some(7));
        assert_eq!(by_level(&[], OwnerLevel::Known), None);
    }
}
