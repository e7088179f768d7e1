//! Lists of numbers that stand for texts: how near two of them are, and which of very many are nearest.
//!
//! Every vector has length 1, so that the cosine of two is one sum. To look through many, each is reduced to the signs
//! of its numbers: vectors that point the same way have most signs in common. The few that have the most in common are
//! then compared exactly.

/// The most numbers that a vector may have.
pub const MAX_DIMS: usize = 8192;

/// The vector of length 1 that points the same way; nothing where there is none.
pub fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    // A length that is tiny or no number leaves nothing to divide by.
    (length.is_finite() && length > 1e-12)
        .then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// How near two vectors of length 1 are: 1 for the same direction, 0 for nothing in common, -1 for the opposite.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
    if sum.is_nan() { 0.0 } else { sum.clamp(-1.0, 1.0) }
}

/// How many words the signs of so many numbers take.
pub fn width(dims: usize) -> usize {
    dims.div_ceil(64)
}

/// The signs of a vector: a bit for each number, set where that is above 0.
pub fn signs(vector: &[f32]) -> Vec<u64> {
    let word = |some: &[f32]| {
        let bits = some.iter().enumerate().filter(|(_, x)| **x > 0.0);
        bits.fold(0, |word, (n, _)| word | 1 << n)
    };
    vector.chunks(64).map(word).collect()
}

/// The positions of those that have the most signs in common with a question, nearest first. `all` holds the signs of
/// every vector one after another. Of those that are equally near, the first come first.
pub fn closest(question: &[u64], all: &[u64], count: usize) -> Vec<usize> {
    if question.is_empty() {
        return Vec::new();
    }
    let distances: Vec<u32> =
        all.chunks_exact(question.len()).map(|signs| distance(question, signs)).collect();
    let bound = bound(&distances, question.len() * 64, count);
    let within = distances.iter().copied().enumerate().filter(|(_, distance)| *distance <= bound);
    let mut found: Vec<(u32, usize)> = within.map(|(at, distance)| (distance, at)).collect();
    found.sort_unstable();
    found.truncate(count);
    found.into_iter().map(|(_, at)| at).collect()
}

/// In how many signs two differ.
fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

/// The distance within which there are so many: counting finds it without sorting all.
fn bound(distances: &[u32], most: usize, count: usize) -> u32 {
    let mut at = vec![0_usize; most + 1];
    for distance in distances {
        if let Some(place) = at.get_mut(*distance as usize) {
            *place += 1;
        }
    }
    let mut seen = 0;
    for (distance, here) in at.iter().enumerate() {
        seen += here;
        if seen >= count {
            return distance as u32;
        }
    }
    most as u32
}

/// The nearest first, and of equally near ones the smaller first; those that have nothing in common are left out.
pub fn ranked<K: Ord>(mut found: Vec<(K, f64)>, count: usize) -> Vec<(K, f64)> {
    found.retain(|(_, similarity)| *similarity > 0.0);
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found.truncate(count);
    found
}

/// A vector as it is kept: four bytes for each number, the lowest first.
pub fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Reads what [`to_bytes`] wrote.
pub fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// Signs as they are kept: eight bytes for each word, the lowest first.
pub fn signs_to_bytes(signs: &[u64]) -> Vec<u8> {
    signs.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Reads what [`signs_to_bytes`] wrote.
pub fn signs_of_bytes(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Chance that begins at a seed.
    struct Chance(u64);

    impl Chance {
        fn next(&mut self) -> f32 {
            // Twelve even numbers less six are as good as normal.
            let mut even = || {
                self.0 =
                    self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.0 >> 40) as f32 / (1_u64 << 24) as f32
            };
            (0..12).map(|_| even()).sum::<f32>() - 6.0
        }

        fn vector(&mut self, dims: usize) -> Vec<f32> {
            let numbers: Vec<f32> = (0..dims).map(|_| self.next()).collect();
            unit(&numbers).unwrap()
        }
    }

    fn exactly_nearest(question: &[f32], all: &[Vec<f32>]) -> usize {
        let near = all.iter().enumerate().map(|(at, vector)| (at, cosine(question, vector)));
        near.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0
    }

    /// In how many of 100 questions the exactly nearest is among the 300 that are compared exactly.
    fn kept(
        dims: usize,
        many: usize,
        seed: u64,
        ask: impl Fn(&mut Chance, &[Vec<f32>]) -> Vec<f32>,
    ) -> usize {
        let mut chance = Chance(seed);
        let all: Vec<Vec<f32>> = (0..many).map(|_| chance.vector(dims)).collect();
        let bits: Vec<u64> = all.iter().flat_map(|vector| signs(vector)).collect();
        let found = |_: &usize| {
            let question = ask(&mut chance, &all);
            closest(&signs(&question), &bits, 300).contains(&exactly_nearest(&question, &all))
        };
        (0..100).filter(found).count()
    }

    #[test]
    fn what_is_nearest_is_hardly_ever_lost_by_looking_at_signs_first() {
        for (dims, many) in [(64, 700), (128, 600), (384, 600), (768, 500)] {
            let kept = kept(dims, many, 7, |chance, _| chance.vector(dims));
            assert!(kept >= 95, "{kept} of 100 with {dims} numbers, seed 7");
        }
    }

    #[test]
    fn what_answers_a_question_is_found_among_many() {
        for (dims, many) in [(64, 3000), (256, 1000), (768, 600)] {
            let ask = |chance: &mut Chance, all: &[Vec<f32>]| {
                let at = (chance.next().abs() * 1000.0) as usize % all.len();
                let other = chance.vector(dims);
                let mixed: Vec<f32> = all[at].iter().zip(&other).map(|(x, y)| x + y).collect();
                unit(&mixed).unwrap()
            };
            let kept = kept(dims, many, 11, ask);
            assert!(kept >= 95, "{kept} of 100 with {dims} numbers, seed 11");
        }
    }

    #[test]
    fn vectors_without_a_direction_are_none() {
        for none in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY, 1.0], &[1e-30, 0.0]] {
            assert_eq!(unit(none), None, "{none:?}");
        }
        assert_eq!(unit(&[3.0, 4.0]), Some(vec![0.6, 0.8]));
        assert_eq!(unit(&[f32::MAX, 0.0]), Some(vec![1.0, 0.0]));
    }

    #[test]
    fn signs_are_counted_as_they_differ() {
        assert_eq!(signs(&[1.0, -1.0, 0.0, 2.0]), [0b1001]);
        assert_eq!(signs(&[1.0; 65]), [u64::MAX, 1]);
        assert_eq!(width(64), 1);
        assert_eq!(width(65), 2);
        let all = [0b1111, 0b0001, 0b0011, 0b0001];
        assert_eq!(closest(&[0b0001], &all, 3), [1, 3, 2]);
        assert_eq!(closest(&[0b0001], &all, 9), [1, 3, 2, 0]);
        assert!(closest(&[0b0001], &all, 0).len() <= 1 && closest(&[], &all, 3).is_empty());
        assert!(closest(&[1], &[], 3).is_empty());
    }

    #[test]
    fn the_nearest_come_first_and_ties_have_an_order() {
        let found = vec![('d', 0.5), ('b', 0.9), ('a', 0.5), ('c', 0.0), ('e', -0.3)];
        assert_eq!(ranked(found, 9), [('b', 0.9), ('a', 0.5), ('d', 0.5)]);
    }

    proptest! {
        #[test]
        fn what_is_kept_reads_back(numbers in prop::collection::vec(any::<f32>(), 0..200)) {
            let back = from_bytes(&to_bytes(&numbers));
            prop_assert!(back.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
            prop_assert_eq!(back.len(), numbers.len());
            let bits = signs(&numbers);
            prop_assert_eq!(bits.len(), width(numbers.len()));
            prop_assert_eq!(signs_of_bytes(&signs_to_bytes(&bits)).collect::<Vec<_>>(), bits);
        }

        #[test]
        fn a_vector_of_length_one_is_nearest_to_itself(numbers in prop::collection::vec(-1e6_f32..1e6, 1..200)) {
            if let Some(vector) = unit(&numbers) {
                prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
                let opposite: Vec<f32> = vector.iter().map(|x| -x).collect();
                prop_assert!((cosine(&vector, &opposite) + 1.0).abs() < 1e-5);
            }
        }

        #[test]
        fn counting_finds_the_same_as_sorting(all in prop::collection::vec(any::<u64>(), 0..60), question: u64,
            count in 1..70_usize) {
            let mut sorted: Vec<usize> = (0..all.len()).collect();
            sorted.sort_by_key(|at| ((all[*at] ^ question).count_ones(), *at));
            sorted.truncate(count);
            prop_assert_eq!(closest(&[question], &all, count), sorted);
        }
    }
}
