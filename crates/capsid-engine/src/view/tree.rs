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
        let mut index_by_id: HashMap<&str, usize> = HashMap::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            match event.parent.as_deref().and_then(|parent| index_by_id.get(parent)) {
                Some(parent) => tree.children[*parent].push(index),
                None => tree.roots.push(index),
            }
            index_by_id.entry(&event.id).or_insert(index);
        }
        tree
    }

    /// How many events are below each, itself included.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![1; self.children.len()];
        for index in (0..self.children.len()).rev() {
            sizes[index] += self.children[index].iter().map(|child| sizes[*child]).sum::<usize>();
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
    while let Some((index, mark, indent)) = open.pop() {
        lines.push(format!("{mark} {}", label(&events[index])));
        let children = &tree.children[index];
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
#[path = "tree_tests.rs"]
mod tests;
