use super::*;
use proptest::prelude::*;

#[test]
fn whole_amounts_have_no_point() {
    for (milli, json) in [(500_000, "500"), (500, "0.5"), (0, "0"), (-1_250, "-1.25"), (12_345, "12.345")] {
        assert_eq!(to_decimal(milli).to_string(), json);
        assert_eq!(text(milli), json);
    }
    assert_eq!(text(i64::MIN), "-9223372036854775.808");
}

#[test]
fn odd_amounts_are_refused() {
    assert_eq!(from_shown(0.1), Some(100));
    assert_eq!(from_shown(0.1 + 0.2), Some(300));
    assert_eq!(from_shown(0.0), Some(0));
    assert_eq!(from_shown(-0.0), Some(0));
    assert_eq!(from_shown(1e9 + 0.001), Some(1_000_000_000_001));
    for finer in [0.0001, 400.0003, 1e-10, -1e-10, 1e6 + 0.0003, 1e9 + 0.0005] {
        assert_eq!(from_shown(finer), None, "{finer}");
    }
    assert_eq!(from_shown(f64::NAN), None);
    assert_eq!(from_shown(f64::INFINITY), None);
    assert_eq!(from_shown(1e300), None);
}

#[test]
fn reuse_pays_by_score() {
    assert_eq!(reuse_reward(50.0, REUSE_REWARD_MAX), 6_000);
    assert_eq!(reuse_reward(1e9, REUSE_REWARD_MAX), REUSE_REWARD_MAX);
    assert_eq!(reuse_reward(f64::NAN, REUSE_REWARD_MAX), 0);
    assert_eq!(reuse_reward(50.0, -1), 0);
}

#[test]
fn a_report_pays_by_how_many_agreed() {
    for (agreed, paid) in [(1.0, 30_000), (0.75, 20_000), (0.5, 0), (0.0, 0), (f64::NAN, 0), (7.0, 30_000)] {
        assert_eq!(report_reward(agreed, REPORT_REWARD_MIN, REPORT_REWARD_MAX), paid, "{agreed}");
    }
    assert_eq!(report_reward(2.0 / 3.0, 0, 0), 0);
    assert_eq!(report_reward(1.0, 10, 5), 10, "the least is the least");
}

proptest! {
    #[test]
    fn what_is_shown_is_read_back(milli in -4_000_000_000_000_i64..4_000_000_000_000) {
        prop_assert_eq!(from_shown(to_decimal(milli).as_f64().unwrap()), Some(milli));
        prop_assert_eq!(text(milli), to_decimal(milli).to_string());
    }
}

#[test]
fn a_payment_uses_granted_credits_first_and_only_what_its_source_has() {
    let account = AccountBalances { total: 100, granted: 30 };
    let part = |source, amount| account.granted_part(source, amount);
    assert_eq!(part(CreditSource::GrantedFirst, 20), Some(20));
    assert_eq!(part(CreditSource::GrantedFirst, 100), Some(30));
    assert_eq!(part(CreditSource::GrantedFirst, 101), None);
    assert_eq!((part(CreditSource::Earned, 70), part(CreditSource::Earned, 71)), (Some(0), None));
    assert_eq!((part(CreditSource::Granted, 30), part(CreditSource::Granted, 31)), (Some(30), None));
}

#[test]
fn a_slash_is_a_part_of_the_stake() {
    assert_eq!((slashed(50_000, 20), slashed(50_000, 0), slashed(50_000, 100)), (10_000, 0, 50_000));
    assert_eq!((slashed(3, 50), slashed(-5, 20), slashed(i64::MAX, 100)), (1, 0, i64::MAX));
}

proptest::proptest! {
    #[test]
    fn what_is_left_after_a_payment_is_never_less_than_its_granted_part(
        total in 0..1_000_i64, granted in 0..1_000_i64, amount in 1..1_000_i64, which in 0..3_usize,
    ) {
        let account = AccountBalances { total, granted: granted.min(total) };
        let source = [CreditSource::GrantedFirst, CreditSource::Granted, CreditSource::Earned][which];
        if let Some(part) = account.granted_part(source, amount) {
            let left = AccountBalances { total: total - amount, granted: account.granted - part };
            proptest::prop_assert!((0..=amount).contains(&part));
            proptest::prop_assert!(0 <= left.granted && left.granted <= left.total);
        }
    }
}
