use super::*;
use proptest::prelude::*;

fn events(links: &[(&str, Option<&str>)]) -> Vec<EvolutionEvent> {
    let event = |(id, parent): &(&str, Option<&str>)| EvolutionEvent {
        id: (*id).to_owned(),
        parent: parent.map(str::to_owned),
        ..EvolutionEvent::default()
    };
    links.iter().map(event).collect()
}

fn drawn(events: &[EvolutionEvent]) -> Vec<String> {
    draw(events, &|event| event.id.clone())
}

#[test]
fn branches_leave_the_trunk_and_return_to_it() {
    let tree = events(&[
        ("a", None),
        ("b", Some("a")),
        ("c", Some("a")),
        ("d", Some("b")),
        ("e", Some("c")),
        ("f", Some("e")),
        ("x", Some("gone")),
    ]);
    assert_eq!(drawn(&tree), ["○ a", "├─● b", "│ ● d", "● c", "● e", "● f", "○ x"]);
}

#[test]
fn circles_become_roots() {
    let tree = events(&[("a", Some("b")), ("b", Some("a")), ("c", Some("c"))]);
    assert_eq!(drawn(&tree), ["○ a", "● b", "○ c"]);
}

#[test]
fn a_chain_of_a_hundred_thousand_stays_narrow() {
    let chain: Vec<EvolutionEvent> = (0..100_000_u32)
        .map(|n| EvolutionEvent {
            id: n.to_string(),
            parent: n.checked_sub(1).map(|n| n.to_string()),
            ..EvolutionEvent::default()
        })
        .collect();
    let lines = drawn(&chain);
    assert_eq!(lines.len(), chain.len());
    assert_eq!(lines[99_999], "● 99999");
}

proptest! {
    #[test]
    fn every_event_is_drawn_once_within_a_narrow_margin(parents in prop::collection::vec(0_usize..64, 1..64)) {
        let all: Vec<EvolutionEvent> = parents
            .iter()
            .enumerate()
            .map(|(n, parent)| EvolutionEvent { id: n.to_string(), parent: Some(parent.to_string()), ..EvolutionEvent::default() })
            .collect();
        let lines = drawn(&all);
        let mut seen: Vec<usize> = lines.iter().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..all.len()).collect::<Vec<_>>());
        prop_assert!(lines.iter().all(|line| line.chars().count() <= 2 * 6 + 3 + 3));
    }
}
