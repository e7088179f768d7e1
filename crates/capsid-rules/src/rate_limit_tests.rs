use super::*;
use proptest::prelude::*;

#[test]
fn a_burst_passes_and_then_one_per_interval() {
    let limit = RateLimit { count: 3, window_ms: 3_000 };
    let mut tat = None;
    for _ in 0..3 {
        tat = Some(check(tat, 10_000, limit).unwrap());
    }
    assert_eq!(check(tat, 10_000, limit), Err(1_000));
    assert_eq!(check(tat, 10_999, limit), Err(1));
    tat = Some(check(tat, 11_000, limit).unwrap());
    assert_eq!(check(tat, 11_000, limit), Err(1_000));
}

#[test]
fn a_clock_set_back_refuses_nobody() {
    let limit = RateLimit::per_minute(12);
    let mut tat = check(None, 1_000_000_000, limit).unwrap();
    for _ in 0..12 {
        tat = check(Some(tat), 0, limit).unwrap();
    }
    assert_eq!(check(Some(tat), 0, limit), Err(5_000), "the limit itself holds");
    assert!(check(Some(i64::MAX), 0, limit).is_ok());
}

#[test]
fn odd_limits_neither_panic_nor_lie() {
    assert_eq!(check(None, 0, RateLimit { count: 0, window_ms: 60_000 }), Err(60_000));
    assert!(check(Some(5), 0, RateLimit { count: 1, window_ms: 0 }).is_ok());
    assert!(check(None, i64::MAX, RateLimit { count: u32::MAX, window_ms: i64::MAX }).is_ok());
    assert!(check(Some(i64::MIN), i64::MIN, RateLimit { count: 7, window_ms: -5 }).is_ok());
}

proptest! {
    #[test]
    fn never_more_than_the_limit_passes(
        count in 1_u32..50,
        window_ms in 1_i64..5_000,
        gaps in prop::collection::vec(0_i64..400, 1..400),
    ) {
        let limit = RateLimit { count, window_ms };
        let (mut now, mut tat, mut passed) = (1_000_000, None, Vec::new());
        for gap in gaps {
            now += gap;
            match check(tat, now, limit) {
                Ok(next) => {
                    tat = Some(next);
                    passed.push(now);
                }
                // The wait is honest: after it the request passes, a millisecond earlier it does not.
                Err(wait) => {
                    prop_assert!(check(tat, now + wait, limit).is_ok());
                    prop_assert!(check(tat, now + wait - 1, limit).is_err());
                }
            }
        }
        for (index, start) in passed.iter().enumerate() {
            for (further, end) in passed.iter().enumerate().skip(index) {
                let span = end - start;
                let most = i64::from(count) + span * i64::from(count) / window_ms;
                let count = (further - index + 1) as i64;
                prop_assert!(count <= most);
            }
        }
    }
}
