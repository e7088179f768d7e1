//! How long a trial is, and chance that can be repeated.
//!
//! `CAPSID_SOAK=1` makes trials longer, `CAPSID_ROUNDS=n` sets the rounds of those that count them, and `CAPSID_SEED=n`
//! repeats a run.

use fastrand::Rng;

/// Whether the long trials run.
pub fn is_soak() -> bool {
    std::env::var_os("CAPSID_SOAK").is_some()
}

/// The size of a trial: the default, or the larger one in a soak.
pub fn size<T>(default: T, soak: T) -> T {
    if is_soak() { soak } else { default }
}

/// The number of rounds of a trial: the default, the larger one in a soak, or the value of `CAPSID_ROUNDS`.
pub fn rounds(default: usize, soak: usize) -> usize {
    parse_variable("CAPSID_ROUNDS").map_or_else(|| size(default, soak), |rounds| rounds as usize)
}

/// The seed that `CAPSID_SEED` names.
pub fn given_seed() -> Option<u64> {
    parse_variable("CAPSID_SEED")
}

/// The seed of a run, printed so that the run can be repeated.
pub fn seed() -> u64 {
    let seed = given_seed().unwrap_or_else(|| fastrand::u64(..));
    println!("CAPSID_SEED={seed}");
    seed
}

/// The same seed in every run but a soak: for trials that a change must pass every time.
pub fn steady_seed() -> u64 {
    let seed = given_seed().unwrap_or_else(|| size(1, fastrand::u64(..)));
    println!("CAPSID_SEED={seed}");
    seed
}

/// A random generator whose seed is printed.
pub fn seeded_rng() -> Rng {
    Rng::with_seed(seed())
}

fn parse_variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().parse().unwrap_or_else(|_| panic!("{name} is a whole number, not `{text}`")))
}
