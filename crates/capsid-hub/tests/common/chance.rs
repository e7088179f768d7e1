//! Chance that can be repeated: the seed is printed, `CAPSID_SEED=n` takes it again, `CAPSID_SOAK=1` makes more rounds.

/// A source of chance whose seed is printed.
pub fn chance() -> fastrand::Rng {
    let seed = match std::env::var("CAPSID_SEED") {
        Ok(text) => text.parse().expect("CAPSID_SEED is a whole number"),
        Err(_) => fastrand::u64(..),
    };
    println!("CAPSID_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// How many rounds: the usual number, or the larger one when soaking.
pub fn rounds(usual: usize, soaking: usize) -> usize {
    if std::env::var_os("CAPSID_SOAK").is_some() { soaking } else { usual }
}
