//! What it costs to promote junk and to rank it first, and how far each attack gets among honest work.
//!
//! Evidence is made up, seeded; the rules that weigh, promote and rank it are those of the hub, with the defaults of each
//! profile. Junk is a change that does not work: a validator who runs its test reports a failure.

mod attacks;
mod cost;
mod evidence;
mod population;

use crate::Result;
use attacks::{AttackKind, attack};
use capsid_hub::config::{HubConfig, HubProfile};
use population::{Asset, SIGNALS, honest_population, is_promoted, score};
use std::process::ExitCode;

/// How the bench is called.
pub const NAME: &str = "sybil";

const SEEDS: u64 = 20;
const TOP: usize = 20;

/// Prints all tables. Fails when junk is among the first of a signal on a public hub.
pub fn run() -> Result<ExitCode> {
    let mut is_clean = true;
    for profile in [HubProfile::Private, HubProfile::Public] {
        let config = HubConfig::for_profile(profile);
        println!("\n## Profile {}\n", profile.as_str());
        cost::print(&config);
        is_clean &= print_ranks(&config) || profile == HubProfile::Private;
    }
    println!(
        "\nThe first {TOP} of every signal hold {} on a public hub, in {SEEDS} seeded populations.",
        if is_clean { "no junk" } else { "JUNK" }
    );
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The best rank that each attack reaches. Tells whether the first of every signal are free of junk.
fn print_ranks(config: &HubConfig) -> bool {
    println!("\n500 honest publishers, {SEEDS} seeds:\n");
    println!("| attack | promoted | best rank of its signal | best score |");
    println!("|---|---|---|---|");
    let mut is_clean = true;
    for kind in AttackKind::ALL {
        let mut best: Option<usize> = None;
        let (mut promoted, mut tries, mut highest) = (0, 0, 0.0_f64);
        for seed in 0..SEEDS {
            let honest = honest_population(config, seed);
            for junk in attack(kind, config, seed) {
                tries += 1;
                let own = score(&junk, config);
                highest = highest.max(own);
                if is_promoted(&junk, config) {
                    promoted += 1;
                    let rank = rank_in(&honest, &junk, config);
                    best = Some(best.map_or(rank, |found| found.min(rank)));
                }
            }
        }
        let rank = best.map_or("not ranked".to_owned(), |rank| rank.to_string());
        println!("| {} | {promoted} of {tries} | {rank} | {highest:.1} |", kind.name());
        is_clean &= !kind.is_junk() || best.is_none_or(|rank| rank > TOP);
    }
    let (held, rivals) = attacks::rivals_held_back(config, SEEDS);
    println!(
        "| four free nodes report that a good candidate fails | {} of {rivals} good ones | - | - |",
        rivals - held
    );
    is_clean
}

/// The rank of an asset among the promoted ones of its signal; the worst of all signals counts for none.
fn rank_in(honest: &[Asset], junk: &Asset, config: &HubConfig) -> usize {
    let own = score(junk, config);
    (0..SIGNALS)
        .map(|signal| {
            let above = honest
                .iter()
                .filter(|asset| asset.signal == signal && is_promoted(asset, config))
                .filter(|asset| score(asset, config) >= own);
            1 + above.count()
        })
        .min()
        .unwrap_or(1)
}
