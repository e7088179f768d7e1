//! Rounds, turns and medians.

use crate::Result;
use std::time::Instant;

/// How often each side has its turn.
pub const ROUNDS: usize = 5;

/// One side of a comparison: does its work once and says how long it took, in seconds.
pub type Side<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// Lets the sides take turns and gives the median of each, in seconds.
pub fn interleaved<const N: usize>(mut sides: [Side<'_>; N]) -> Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            times.push(side()?);
        }
    }
    Ok(times.map(median))
}

/// How long something takes, in seconds.
pub fn seconds<T>(work: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// The one in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns_and_the_median_counts() {
        let turns = std::cell::RefCell::new(String::new());
        let mut slow = [9.0, 1.0, 2.0, 3.0, 8.0].into_iter();
        let [ours, theirs] = interleaved([
            Box::new(|| {
                turns.borrow_mut().push('a');
                Ok(slow.next().unwrap())
            }),
            Box::new(|| {
                turns.borrow_mut().push('b');
                Ok(5.0)
            }),
        ])
        .unwrap();
        assert_eq!((ours, theirs), (3.0, 5.0));
        assert_eq!(turns.into_inner(), "ababababab");
    }
}
