use super::*;
use proptest::prelude::*;

#[test]
fn weights_are_checked() {
    assert_eq!(weights(&[0.425, 0.425]).unwrap(), [425_000_000, 425_000_000]);
    assert_eq!(weights(&[0.085; 10]).unwrap().iter().sum::<i64>(), SOLVERS);
    assert!(weights(&[0.85 / 3.0; 3]).is_ok());
    assert_eq!(weights(&[0.5]), Err(ProposalError::Count));
    assert_eq!(weights(&[0.01; 11]), Err(ProposalError::Count));
    assert_eq!(weights(&[0.5, 0.36]), Err(ProposalError::TooHeavy));
    for bad in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(weights(&[0.1, bad]), Err(ProposalError::Weight(1)), "{bad}");
    }
}

#[test]
fn a_bounty_is_shared_by_weight() {
    let shares = share(100_000, &[350_000_000, 300_000_000, 200_000_000]);
    assert_eq!(
        shares,
        SwarmShares { proposer: 5_000, solvers: vec![35_000, 30_000, 20_000], aggregator: 10_000 }
    );
    // Lighter weights are scaled up to the 85 %.
    let shares = share(100_000, &[100_000_000, 100_000_000]);
    assert_eq!(shares, SwarmShares { proposer: 5_000, solvers: vec![42_500, 42_500], aggregator: 10_000 });
    let shares = share(1, &[425_000_000, 425_000_000]);
    assert_eq!(shares, SwarmShares { proposer: 0, solvers: vec![0, 0], aggregator: 1 });
}

proptest! {
    #[test]
    fn nothing_is_made_or_lost(amount in 0..i64::MAX, values in prop::collection::vec(1..=WHOLE, 2..10)) {
        let shares = share(amount, &values);
        let sum: i128 = shares.solvers.iter().map(|share| i128::from(*share)).sum::<i128>()
            + i128::from(shares.proposer) + i128::from(shares.aggregator);
        prop_assert_eq!(sum, i128::from(amount));
        prop_assert!(shares.solvers.iter().all(|share| *share >= 0));
        // The aggregator has its tenth, and what rounding left.
        prop_assert!(shares.aggregator >= amount / 10);
    }
}
