//! The tree of events, drawn with box characters.
//!
//! The longest branch goes straight on and the others are set off from it, so that the drawing is narrow however
//! long the history is: each step to the right at least halves what can still follow.

use capsid_model::event::EvolutionEvent;
use std::collections::HashMap;

/// The children of each event and the events without a parent, by their place in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventTree {
    /// Events without a parent, or whose parent is not in the list.
    pub roots: Vec<usize>,
    /// The children of each event, oldest first.
    pub children: Vec<Vec<usize>>,
}

impl EventTree {
    /// Links events that come oldest first. A parent stands before its child; any other link counts as missing,
    /// which also means that there are no circles.
    pub fn build(events: &[EvolutionEvent]) -> Self {
        let mut tree = Self { roots: Vec::new(), children: vec![Vec::new(); events.len()] };
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(events.len());
        for (place, event) in events.iter().enumerate() {
            match event.parent.as_deref().and_then(|parent| places.get(parent)) {
                Some(parent) => tree.children[*parent].push(place),
                None => tree.roots.push(place),
            }
            places.entry(&event.id).or_insert(place);
        }
        tree
    }

    /// How many events hang on each, itself included.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![1; self.children.len()];
        for place in (0..self.children.len()).rev() {
            sizes[place] += self.children[place].iter().map(|child| sizes[*child]).sum::<usize>();
        }
        sizes
    }
}

/// Draws the tree, one line for each event: `○` begins, `●` follows, `├─●` branches off from the event above.
pub fn draw(events: &[EvolutionEvent], label: &dyn Fn(&EvolutionEvent) -> String) -> Vec<String> {
    let tree = EventTree::build(events);
    let sizes = tree.sizes();
    let mut lines = Vec::with_capacity(events.len());
    // What is still to draw, the next on top: the event, the text before its mark, and before those after it.
    let mut open: Vec<(usize, String, String)> = Vec::new();
    for root in tree.roots.iter().rev() {
        open.push((*root, "○".to_owned(), String::new()));
    }
    while let Some((place, mark, indent)) = open.pop() {
        lines.push(format!("{mark} {}", label(&events[place])));
        let children = &tree.children[place];
        let Some(trunk) = children.iter().copied().max_by_key(|child| (sizes[*child], *child)) else {
            continue;
        };
        open.push((trunk, format!("{indent}●"), indent.clone()));
        for child in children.iter().rev().filter(|child| **child != trunk) {
            open.push((*child, format!("{indent}├─●"), format!("{indent}│ ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
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
}
