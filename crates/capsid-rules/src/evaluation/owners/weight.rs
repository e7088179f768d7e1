//! How much the reports of an owner weigh, by how often arbiters agreed with them.

use crate::evaluation::score::wilson;

/// How far back settled reports count.
pub const AGREEMENT_DAYS: i64 = 180;

/// The weight of an owner's reports: the least share of its settled reports that agree with the arbiters, by the evidence.
/// An owner with fewer settled reports than `needed` weighs nothing; where none are needed, every owner weighs 1.
pub fn owner_weight(agreed: u32, settled: u32, needed: u32) -> f64 {
    match (needed, settled) {
        (0, _) => 1.0,
        (needed, settled) if settled < needed => 0.0,
        (_, settled) => wilson(f64::from(agreed.min(settled)), f64::from(settled)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_as_designed() {
        for (agreed, settled, weight) in
            [(4, 4, 0.0), (5, 5, 0.65), (10, 10, 0.79), (20, 20, 0.88), (12, 25, 0.33), (13, 25, 0.36)]
        {
            let have = owner_weight(agreed, settled, 5);
            assert!((have - weight).abs() < 0.006, "{agreed} of {settled}: {have}");
        }
        assert_eq!(owner_weight(0, 0, 0), 1.0);
        assert_eq!(owner_weight(0, 30, 5), 0.0);
    }

    #[test]
    fn agreeing_never_lowers_a_weight_and_disagreeing_never_raises_it() {
        for settled in 5..60 {
            for agreed in 0..=settled {
                let weight = owner_weight(agreed, settled, 5);
                assert!(owner_weight(agreed + 1, settled + 1, 5) >= weight);
                assert!(owner_weight(agreed, settled + 1, 5) <= weight);
            }
        }
    }
}
