//! Whether what is stored of an owner fits together.

use super::level::earned_level;
use super::{LevelCondition, OwnerLevel, OwnerPolicy, owner_weight};

const CLOSE: f64 = 1e-9;

/// How far an owner is trusted, as it was worked out before.
#[derive(Debug, Clone, PartialEq)]
pub struct AssessedOwner {
    pub level: i64,
    pub weight: f64,
    pub settled: i64,
    pub agreed: i64,
    /// Whether an operator appointed it.
    pub is_appointed: bool,
    pub conditions: Vec<LevelCondition>,
}

/// What does not follow, in a sentence. Settings may have changed since: where everybody is known now, a level of 0 and a weight
/// from before are no damage.
pub fn stored_fault(stored: &AssessedOwner, policy: &OwnerPolicy) -> Option<String> {
    let count = |n: i64| u32::try_from(n).ok();
    let (Some(settled), Some(agreed)) = (count(stored.settled), count(stored.agreed)) else {
        return Some("It has less than no settled reports.".to_owned());
    };
    if agreed > settled {
        return Some(format!(
            "{agreed} of its {settled} settled reports agree, which is more than there are."
        ));
    }
    let earned = earned_level(&stored.conditions);
    let is_due = |level: OwnerLevel| match level {
        OwnerLevel::Appointed => stored.is_appointed,
        _ if stored.is_appointed => false,
        OwnerLevel::Known => earned == level || (policy.least_level == level && earned < level),
        level => level == earned,
    };
    if !OwnerLevel::from_number(stored.level).is_some_and(is_due) {
        return Some(format!("Its level is {}, which does not follow from its conditions.", stored.level));
    }
    let weights = match policy.settled_for_weight {
        0 => vec![0.0, 1.0, owner_weight(agreed, settled, 1)],
        needed => vec![owner_weight(agreed, settled, needed)],
    };
    let is_weight = weights.iter().any(|weight| (weight - stored.weight).abs() <= CLOSE);
    (!is_weight).then(|| {
        format!("Its reports weigh {}, which {agreed} of {settled} that agree do not give.", stored.weight)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::owners::{OwnerFacts, assess};

    fn assessed(facts: &OwnerFacts, policy: &OwnerPolicy) -> AssessedOwner {
        let found = assess(facts, policy);
        AssessedOwner {
            level: found.level.number(),
            weight: found.weight,
            settled: i64::from(facts.settled),
            agreed: i64::from(facts.agreed),
            is_appointed: facts.is_appointed,
            conditions: found.conditions,
        }
    }

    #[test]
    fn what_was_assessed_fits_and_what_was_changed_since_does_not() {
        let trusted = OwnerFacts {
            is_account: true,
            age_days: 40.0,
            days_seen: 9,
            settled: 20,
            agreed: 20,
            ..OwnerFacts::default()
        };
        let cases = [
            OwnerFacts::default(),
            OwnerFacts { settled: 0, agreed: 0, ..trusted },
            trusted,
            OwnerFacts { is_appointed: true, ..OwnerFacts::default() },
        ];
        for facts in cases {
            for policy in [OwnerPolicy::PRIVATE, OwnerPolicy::PUBLIC] {
                let right = assessed(&facts, &policy);
                assert_eq!(stored_fault(&right, &policy), None, "{facts:?}");
                let (level, weight) = (right.level, right.weight);
                let wrong = [
                    AssessedOwner { level: if level == 2 { 3 } else { 2 }, ..right.clone() },
                    AssessedOwner { level: 7, ..right.clone() },
                    AssessedOwner { weight: weight + 0.3, ..right.clone() },
                    AssessedOwner { agreed: right.settled + 1, ..right.clone() },
                    AssessedOwner { settled: -1, ..right.clone() },
                    AssessedOwner { is_appointed: !right.is_appointed, ..right.clone() },
                ];
                for wrong in wrong {
                    assert!(stored_fault(&wrong, &policy).is_some(), "{wrong:?}");
                }
            }
        }
    }

    #[test]
    fn what_was_assessed_on_a_public_hub_fits_where_everybody_is_known_now() {
        let new =
            assessed(&OwnerFacts { settled: 9, agreed: 9, ..OwnerFacts::default() }, &OwnerPolicy::PUBLIC);
        assert_eq!(stored_fault(&new, &OwnerPolicy::PRIVATE), None);
    }
}
