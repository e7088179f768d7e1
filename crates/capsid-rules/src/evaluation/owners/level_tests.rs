use super::*;

fn known() -> OwnerFacts {
    OwnerFacts { is_account: true, age_days: 7.0, days_seen: 3, ..OwnerFacts::default() }
}

fn trusted() -> OwnerFacts {
    OwnerFacts { age_days: 30.0, settled: 20, agreed: 20, ..known() }
}

fn level(facts: OwnerFacts) -> OwnerLevel {
    assess(&facts, &OwnerPolicy::PUBLIC).level
}

#[test]
fn each_condition_of_a_level_has_its_boundary() {
    assert_eq!(level(known()), OwnerLevel::Known);
    for lacking in [
        OwnerFacts { is_account: false, ..known() },
        OwnerFacts { age_days: 6.99, ..known() },
        OwnerFacts { days_seen: 2, ..known() },
        OwnerFacts { days_since_strike: Some(29.9), ..known() },
        OwnerFacts { age_days: f64::NAN, ..known() },
    ] {
        assert_eq!(level(lacking), OwnerLevel::New, "{lacking:?}");
    }
    assert_eq!(level(OwnerFacts { days_since_strike: Some(30.0), ..known() }), OwnerLevel::Known);
    assert_eq!(level(trusted()), OwnerLevel::Trusted);
    for lacking in [
        OwnerFacts { age_days: 29.9, ..trusted() },
        OwnerFacts { settled: 19, agreed: 19, ..trusted() },
        OwnerFacts { settled: 25, agreed: 22, ..trusted() },
    ] {
        assert_eq!(level(lacking), OwnerLevel::Known, "{lacking:?}");
    }
}

#[test]
fn a_level_is_lost_when_a_condition_fails() {
    assert_eq!(level(OwnerFacts { days_since_strike: Some(1.0), ..trusted() }), OwnerLevel::New);
}

#[test]
fn an_appointed_owner_has_level_3() {
    assert_eq!(level(OwnerFacts { is_appointed: true, ..OwnerFacts::default() }), OwnerLevel::Appointed);
}

#[test]
fn where_everybody_is_known_everybody_has_level_1() {
    let assessed = assess(&OwnerFacts::default(), &OwnerPolicy::PRIVATE);
    assert_eq!((assessed.level, assessed.weight), (OwnerLevel::Known, 1.0));
    assert_eq!(assess(&trusted(), &OwnerPolicy::PRIVATE).level, OwnerLevel::Trusted);
}

#[test]
fn the_reasons_name_what_is_missing() {
    let assessed = assess(&OwnerFacts { days_seen: 2, ..known() }, &OwnerPolicy::PUBLIC);
    let missing: Vec<&str> = assessed
        .conditions
        .iter()
        .filter(|condition| condition.level == 1 && !condition.is_met)
        .map(|condition| condition.text.as_str())
        .collect();
    assert_eq!(missing, ["A claimed node that shows its secret was active on 3 days."]);
}

#[test]
fn numbers_are_read_back() {
    for level in OwnerLevel::ALL {
        assert_eq!(OwnerLevel::from_number(level.number()), Some(level));
    }
    assert_eq!(OwnerLevel::from_number(4), None);
}
