//! Where the points of a drawing lie that has no order of its own: what is joined pulls together, all else pushes apart.
//!
//! Parts that nothing joins get a rectangle each, by how many points they have. Only sums, products, quotients and roots
//! are used, so the same drawing comes out on every machine.

use std::collections::{HashMap, HashSet};

/// A place; each coordinate is from 0 to 1.
pub type LayoutPoint = (f64, f64);

/// How often the points of a part are moved: small parts more often, large ones as often as there is time for.
const ROUNDS: usize = 100;
const FEWEST_ROUNDS: usize = 20;
/// About how many pairs of points are looked at for one part.
const PAIRS: usize = 6_000_000;
/// How many points are looked at together.
const TOGETHER: usize = 4;
/// Above this many points a part is not moved at all: nobody could read it, and it would take long.
const MAX_MOVED: usize = 2_000;
/// How far the points of a part may lie apart while they are moved.
const FAR: f64 = 1e6;
/// How much of a part's rectangle stays free on each side.
const MARGIN: f64 = 0.08;
/// The finest difference between two coordinates.
const STEPS: f64 = 10_000.0;

/// A place for each point. A line joins two points by their numbers; a line that joins what is not there is ignored. The
/// same points, lines and seed always give the same places, and no two points lie on the same one.
pub fn force(points: usize, lines: &[(usize, usize)], seed: u64) -> Vec<LayoutPoint> {
    let parts = parts(points, lines);
    let sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
    let mut places = vec![(0.5, 0.5); points];
    for ((part, lines), room) in parts.iter().zip(lines_of(&parts, points, lines)).zip(rooms(&sizes)) {
        let settled = fit(relax(part.len(), &lines, seed), room);
        for (point, place) in part.iter().zip(settled) {
            if let Some(into) = places.get_mut(*point) {
                *into = place;
            }
        }
    }
    apart(&places)
}

/// The points that are joined with each other, the largest part first; of equals the one with the first point.
fn parts(points: usize, lines: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut roots: Vec<usize> = (0..points).collect();
    for (a, b) in lines.iter().filter(|(a, b)| *a < points && *b < points) {
        let (a, b) = (root(&mut roots, *a), root(&mut roots, *b));
        if let Some(into) = roots.get_mut(a.max(b)) {
            *into = a.min(b);
        }
    }
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); points];
    for point in 0..points {
        let root = root(&mut roots, point);
        if let Some(part) = parts.get_mut(root) {
            part.push(point);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts
}

/// The first point of the part that a point belongs to. What is passed on the way is shortened.
fn root(roots: &mut [usize], point: usize) -> usize {
    let mut at = point;
    while let Some(up) = roots.get(at).copied().filter(|up| *up != at) {
        let next = roots.get(up).copied().unwrap_or(up);
        if let Some(here) = roots.get_mut(at) {
            *here = next;
        }
        at = next;
    }
    at
}

/// The lines within each part, by the numbers that points have there; each pair once.
fn lines_of(parts: &[Vec<usize>], points: usize, lines: &[(usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    let mut own = vec![(0, 0); points];
    for (n, part) in parts.iter().enumerate() {
        for (at, point) in part.iter().enumerate() {
            if let Some(number) = own.get_mut(*point) {
                *number = (n, at);
            }
        }
    }
    let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::new(); parts.len()];
    for (a, b) in lines {
        let (Some((part, a)), Some((_, b))) = (own.get(*a), own.get(*b)) else { continue };
        if let Some(into) = found.get_mut(*part).filter(|_| a != b) {
            into.push((*a.min(b), *a.max(b)));
        }
    }
    for lines in &mut found {
        lines.sort_unstable();
        lines.dedup();
    }
    found
}

/// A rectangle: its corner, its width and its height.
#[derive(Clone, Copy)]
struct Room {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Room {
    /// Cuts it across its longer side.
    fn cut(self, share: f64) -> (Self, Self) {
        if self.width >= self.height {
            let width = self.width * share;
            let second = Self { x: self.x + width, width: self.width - width, ..self };
            (Self { width, ..self }, second)
        } else {
            let height = self.height * share;
            let second = Self { y: self.y + height, height: self.height - height, ..self };
            (Self { height, ..self }, second)
        }
    }
}

/// A rectangle for each part, as large as it has points. Again and again the parts are divided into two halves of about
/// the same weight.
fn rooms(sizes: &[usize]) -> Vec<Room> {
    let mut rooms = Vec::with_capacity(sizes.len());
    let mut open = vec![(0, sizes.len(), Room { x: 0.0, y: 0.0, width: 1.0, height: 1.0 })];
    while let Some((from, to, room)) = open.pop() {
        let some = sizes.get(from..to).unwrap_or_default();
        match some.len() {
            0 => {}
            1 => rooms.push(room),
            _ => {
                let (first, share) = halve(some);
                let (left, right) = room.cut(share);
                // What is pushed last comes out first, so that the rooms come in the order of the parts.
                open.push((from + first, to, right));
                open.push((from, from + first, left));
            }
        }
    }
    rooms
}

/// How many parts make up the first half, and which share of the weight they have.
fn halve(sizes: &[usize]) -> (usize, f64) {
    let weight = |size: &usize| *size as f64 + 1.0;
    let whole: f64 = sizes.iter().map(weight).sum();
    let (mut taken, mut sum) = (0, 0.0);
    for size in sizes.iter().take(sizes.len().saturating_sub(1)) {
        if taken > 0 && sum + weight(size) / 2.0 > whole / 2.0 {
            break;
        }
        taken += 1;
        sum += weight(size);
    }
    (taken, sum / whole)
}

/// Moves the points of one part until they lie well, anywhere.
fn relax(points: usize, lines: &[(usize, usize)], seed: u64) -> Vec<LayoutPoint> {
    let mut dice = Dice(seed);
    let mut places: Vec<LayoutPoint> = (0..points).map(|_| (dice.roll(), dice.roll())).collect();
    if !(2..=MAX_MOVED).contains(&points) {
        return places;
    }
    let rounds = (PAIRS / (points * points)).clamp(FEWEST_ROUNDS, ROUNDS);
    // How far apart neighbours want to be.
    let ease = (1.0 / points as f64).sqrt();
    for round in 0..rounds {
        // Far at first, then ever less, so that they come to rest.
        let step = 0.2 * (1.0 - round as f64 / rounds as f64) + 0.002;
        let pushes = pushes(&places, lines, ease);
        for (place, push) in places.iter_mut().zip(pushes) {
            let size = (push.0 * push.0 + push.1 * push.1).sqrt();
            let share = if size > step { step / size } else { 1.0 };
            place.0 = (place.0 + push.0 * share).clamp(-FAR, FAR);
            place.1 = (place.1 + push.1 * share).clamp(-FAR, FAR);
        }
    }
    places
}

/// Where each point is pushed: away from all others, the more the nearer; to what it is joined with, the more the
/// farther; and a little to the middle.
fn pushes(places: &[LayoutPoint], lines: &[(usize, usize)], ease: f64) -> Vec<LayoutPoint> {
    // Points that are not there lie so far away that they push nobody.
    let filled = places.iter().copied().chain([(1e12, 1e12); TOGETHER - 1]);
    let (xs, ys): (Vec<f64>, Vec<f64>) = filled.unzip();
    let mut pushes: Vec<LayoutPoint> =
        places.iter().map(|here| pushed(*here, &xs, &ys, ease * ease, ease)).collect();
    for (a, b) in lines {
        let (Some(from), Some(to)) = (places.get(*a), places.get(*b)) else { continue };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let pull = (dx * dx + dy * dy).sqrt() / ease;
        for (point, sign) in [(a, 1.0), (b, -1.0)] {
            if let Some(push) = pushes.get_mut(*point) {
                *push = (push.0 + sign * dx * pull, push.1 + sign * dy * pull);
            }
        }
    }
    pushes
}

/// Where all points push one, itself included, which does nothing; and the middle pulls. Several at a time, for this is
/// where the time goes.
fn pushed(here: LayoutPoint, xs: &[f64], ys: &[f64], strength: f64, to_middle: f64) -> LayoutPoint {
    let (mut x, mut y) = ([0.0; TOGETHER], [0.0; TOGETHER]);
    for (others_x, others_y) in xs.chunks_exact(TOGETHER).zip(ys.chunks_exact(TOGETHER)) {
        let others = others_x.iter().zip(others_y);
        for ((sum_x, sum_y), (other_x, other_y)) in x.iter_mut().zip(&mut y).zip(others) {
            let (dx, dy) = (here.0 - other_x, here.1 - other_y);
            let push = strength / (dx * dx + dy * dy + 1e-9);
            *sum_x += dx * push;
            *sum_y += dy * push;
        }
    }
    let middle = |at: f64| (0.5 - at) * to_middle;
    (x.iter().sum::<f64>() + middle(here.0), y.iter().sum::<f64>() + middle(here.1))
}

/// Puts places into a rectangle, with a margin. A single one, or several on a line, lie in its middle.
fn fit(places: Vec<LayoutPoint>, room: Room) -> Vec<LayoutPoint> {
    let span = |of: fn(&LayoutPoint) -> f64| {
        let values = places.iter().map(of);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| (least.min(v), most.max(v)))
    };
    let (xs, ys) = (span(|place| place.0), span(|place| place.1));
    let within = |value: f64, (least, most): (f64, f64), from: f64, size: f64| {
        let share = if most - least > 1e-9 { (value - least) / (most - least) } else { 0.5 };
        from + size * (MARGIN + share * (1.0 - 2.0 * MARGIN))
    };
    let place = |(x, y): LayoutPoint| (within(x, xs, room.x, room.width), within(y, ys, room.y, room.height));
    places.into_iter().map(place).collect()
}

/// Moves points that lie all too near to each other to the nearest field of a grid that is free. A field holds one point, so
/// no two lie on the same place.
fn apart(places: &[LayoutPoint]) -> Vec<LayoutPoint> {
    let side = fields(places.len());
    let mut taken: HashSet<(i64, i64)> = HashSet::new();
    // How far around a field everything is taken, so that a crowd is not searched again for each of it.
    let mut full: HashMap<(i64, i64), i64> = HashMap::new();
    places
        .iter()
        .map(|(x, y)| {
            let wanted = (rounded(*x), rounded(*y));
            let field = (field(wanted.0, side), field(wanted.1, side));
            if taken.insert(field) {
                return wanted;
            }
            let from = full.get(&field).copied().unwrap_or(1);
            let (free, ring) = nearest_free(&taken, field, side, from);
            full.insert(field, ring);
            taken.insert(free);
            let middle = |at: i64| rounded((at as f64 + 0.5) / side as f64);
            (middle(free.0), middle(free.1))
        })
        .collect()
}

/// How many fields a side of the grid has: at least nine for each point.
fn fields(points: usize) -> i64 {
    ((points as f64).sqrt().ceil() as i64 * 3).clamp(48, 4_096)
}

fn rounded(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * STEPS).round() / STEPS
}

fn field(value: f64, side: i64) -> i64 {
    ((value * side as f64) as i64).clamp(0, side - 1)
}

/// The nearest field that is free, ring by ring, and in which ring it is. There are always more fields than points.
fn nearest_free(taken: &HashSet<(i64, i64)>, (x, y): (i64, i64), side: i64, from: i64) -> ((i64, i64), i64) {
    let inside = |at: &(i64, i64)| (0..side).contains(&at.0) && (0..side).contains(&at.1);
    for ring in from..side {
        let edge = (-ring..=ring).flat_map(|n| [(n, -ring), (n, ring), (-ring, n), (ring, n)]);
        let mut free = edge.map(|(dx, dy)| (x + dx, y + dy)).filter(|at| inside(at) && !taken.contains(at));
        if let Some(found) = free.next() {
            return (found, ring);
        }
    }
    ((x, y), side)
}

/// Numbers from 0 to 1 that look like chance and are not.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn between(places: &[LayoutPoint], a: usize, b: usize) -> f64 {
        let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
        (dx * dx + dy * dy).sqrt()
    }

    #[test]
    fn few_points_lie_as_one_would_draw_them() {
        assert!(force(0, &[(0, 1)], 1).is_empty());
        assert_eq!(force(1, &[(0, 0), (0, 7)], 1), [(0.5, 0.5)]);
        let pair = force(2, &[], 1);
        assert_eq!(pair, [(0.25, 0.5), (0.75, 0.5)], "parts lie side by side");
    }

    #[test]
    fn what_is_joined_lies_nearer_than_what_is_not() {
        // Two dense groups of eight, held together by a single line.
        let group =
            |from: usize| (0..8_usize).flat_map(move |a| (a + 1..8).map(move |b| (from + a, from + b)));
        let lines: Vec<_> = group(0).chain(group(8)).chain([(0, 8)]).collect();
        let places = force(16, &lines, 7);
        let mean = |pairs: Vec<(usize, usize)>| {
            pairs.iter().map(|(a, b)| between(&places, *a, *b)).sum::<f64>() / pairs.len() as f64
        };
        let within = mean(group(0).chain(group(8)).collect());
        let across = mean((1..8).flat_map(|a| (9..16).map(move |b| (a, b))).collect());
        assert!(within * 1.5 < across, "{within} {across}");
    }

    #[test]
    fn the_ends_of_a_way_lie_far_apart() {
        let lines: Vec<_> = (0..5).map(|at| (at, at + 1)).collect();
        let places = force(6, &lines, 3);
        let steps: Vec<f64> = lines.iter().map(|(a, b)| between(&places, *a, *b)).collect();
        assert!(steps.iter().all(|step| *step < between(&places, 0, 5)), "{steps:?}");
    }

    #[test]
    fn parts_do_not_lie_across_each_other() {
        // A ring of six, a ring of four, and a lone point.
        let ring = |from: usize, n: usize| (0..n).map(move |at| (from + at, from + (at + 1) % n));
        let lines: Vec<_> = ring(0, 6).chain(ring(6, 4)).collect();
        let places = force(11, &lines, 5);
        let frame = |points: std::ops::Range<usize>| {
            points.fold((1.0_f64, 0.0_f64, 1.0_f64, 0.0_f64), |(left, right, top, bottom), at| {
                let (x, y) = places[at];
                (left.min(x), right.max(x), top.min(y), bottom.max(y))
            })
        };
        let (six, four, one) = (frame(0..6), frame(6..10), frame(10..11));
        let crosses = |a: (f64, f64, f64, f64), b: (f64, f64, f64, f64)| {
            a.0 < b.1 && b.0 < a.1 && a.2 < b.3 && b.2 < a.3
        };
        assert!(!crosses(six, four) && !crosses(six, one) && !crosses(four, one), "{places:?}");
    }

    #[test]
    fn a_star_of_many_and_a_crowd_of_lone_points_are_drawn_too() {
        for (points, lines) in [
            (300, (1..300).map(|at| (0, at)).collect::<Vec<_>>()),
            (300, Vec::new()),
            (5_000, (1..5_000).map(|at| (0, at)).collect()),
        ] {
            assert_fine(&force(points, &lines, 9), points);
        }
    }

    fn assert_fine(places: &[LayoutPoint], points: usize) {
        assert_eq!(places.len(), points);
        let mut seen = HashSet::new();
        for (x, y) in places {
            assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{x} {y}");
            assert!(seen.insert((x.to_bits(), y.to_bits())), "two on {x} {y}");
        }
    }

    proptest! {
        #[test]
        fn every_point_has_a_place_of_its_own(
            points in 0_usize..80,
            lines in prop::collection::vec((0_usize..90, 0_usize..90), 0..200),
            seed in any::<u64>(),
        ) {
            let places = force(points, &lines, seed);
            assert_fine(&places, points);
            prop_assert_eq!(force(points, &lines, seed), places);
        }

        #[test]
        fn the_order_and_direction_of_lines_do_not_matter(
            lines in prop::collection::vec((0_usize..30, 0_usize..30), 0..60), seed in any::<u64>(),
        ) {
            let turned: Vec<_> = lines.iter().rev().map(|(a, b)| (*b, *a)).collect();
            prop_assert_eq!(force(30, &lines, seed), force(30, &turned, seed));
        }
    }
}
