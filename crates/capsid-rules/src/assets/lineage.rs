//! Where the points of a lineage are drawn: one column for each kind, in each column an order that crosses few lines.

/// A column, from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineageColumn {
    /// Nodes that published something of it.
    Makers,
    Genes,
    Capsules,
    Events,
    Users,
}

/// How often the columns are put in order.
const ROUNDS: usize = 4;

/// A place for each point, each coordinate from 0 to 1. A line joins two points by their numbers; a line that joins what is
/// not there is ignored. The same points and lines always give the same places.
pub fn layout(points: &[LineageColumn], lines: &[(usize, usize)]) -> Vec<(f64, f64)> {
    let mut used: Vec<LineageColumn> = points.to_vec();
    used.sort_unstable();
    used.dedup();
    let mut columns: Vec<Vec<usize>> = used
        .iter()
        .map(|column| (0..points.len()).filter(|at| points.get(*at) == Some(column)).collect())
        .collect();
    let mut heights = heights(&columns, points.len());
    for _ in 0..ROUNDS {
        for at in 0..columns.len() {
            let Some(column) = columns.get_mut(at) else { continue };
            let mut wanted: Vec<(f64, usize)> =
                column.iter().map(|point| (preferred_row(*point, lines, &heights), *point)).collect();
            // What wants the same height keeps its order.
            wanted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            *column = wanted.into_iter().map(|(_, point)| point).collect();
            heights = self::heights(&columns, points.len());
        }
    }
    let mut places = vec![(0.0, 0.0); points.len()];
    for (n, column) in columns.iter().enumerate() {
        for point in column {
            if let (Some(place), Some(height)) = (places.get_mut(*point), heights.get(*point)) {
                *place = (middle(n, columns.len()), *height);
            }
        }
    }
    places
}

/// The middle of one of some equal parts of 0 to 1.
fn middle(n: usize, of: usize) -> f64 {
    (n as f64 + 0.5) / of.max(1) as f64
}

fn heights(columns: &[Vec<usize>], points: usize) -> Vec<f64> {
    let mut heights = vec![0.5; points];
    for column in columns {
        for (n, point) in column.iter().enumerate() {
            if let Some(height) = heights.get_mut(*point) {
                *height = middle(n, column.len());
            }
        }
    }
    heights
}

/// The height that a point wants: that of what it is joined with, on average.
fn preferred_row(point: usize, lines: &[(usize, usize)], heights: &[f64]) -> f64 {
    let others = lines.iter().filter_map(|(a, b)| match point {
        at if at == *a => heights.get(*b),
        at if at == *b => heights.get(*a),
        _ => None,
    });
    let (sum, count) = others.fold((0.0, 0), |(sum, count), height| (sum + height, count + 1));
    if count == 0 { heights.get(point).copied().unwrap_or(0.5) } else { sum / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use super::LineageColumn::{Capsules, Events, Genes, Makers, Users};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bundle_lies_in_a_row() {
        let places = layout(&[Makers, Genes, Capsules, Events], &[(1, 0), (2, 1), (2, 3)]);
        assert_eq!(places, [(0.125, 0.5), (0.375, 0.5), (0.625, 0.5), (0.875, 0.5)]);
        assert_eq!(layout(&[Capsules], &[]), [(0.5, 0.5)]);
        assert!(layout(&[], &[(0, 1)]).is_empty());
    }

    #[test]
    fn lines_that_would_cross_are_uncrossed() {
        // Two capsules and their events, given in the opposite order.
        let places = layout(&[Capsules, Capsules, Events, Events], &[(0, 3), (1, 2)]);
        let above = |a: usize, b: usize| places[a].1 < places[b].1;
        assert_eq!(above(0, 1), above(3, 2), "{places:?}");
    }

    proptest! {
        #[test]
        fn every_point_has_a_place_of_its_own(
            points in prop::collection::vec(prop::sample::select(vec![Makers, Genes, Capsules, Events, Users]), 0..40),
            lines in prop::collection::vec((0_usize..50, 0_usize..50), 0..80),
        ) {
            let places = layout(&points, &lines);
            prop_assert_eq!(places.len(), points.len());
            for (at, (x, y)) in places.iter().enumerate() {
                prop_assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y));
                prop_assert!(!places.iter().take(at).any(|other| other == &(*x, *y)));
            }
            let drawn: Vec<_> = places.iter().zip(&points).collect();
            for (a, b) in drawn.iter().zip(drawn.iter().skip(1)) {
                prop_assert_eq!(a.1 < b.1, a.0.0 < b.0.0);
            }
            prop_assert_eq!(layout(&points, &lines), places);
        }
    }
}
