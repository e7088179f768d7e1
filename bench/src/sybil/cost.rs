//! What it costs to promote one junk asset, and to outrank a well-proven one.

use super::attacks::declare;
use super::evidence::{EvidenceBook, Speaker};
use super::population::{Asset, is_promoted, score};
use capsid_hub::config::HubConfig;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade as Grade;
use capsid_rules::evaluation::gdi::GdiInputs;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::proof::ProofLevel;

/// How many honest owners the hub can ask, and how many accounts the attacker has.
const HONEST: u32 = 30;
const RING: u32 = 10;
const MOST: u32 = 500;

/// Prints what each way costs.
pub fn print(config: &HubConfig) {
    println!("| way | nodes | accounts | stake | hours | credits |");
    println!("|---|---|---|---|---|---|");
    let free = (0..=MOST).find(|count| is_promoted(&pushed(config, Speaker::FREE, *count), config));
    match free {
        Some(count) => println!("| promote with free nodes | {} | 0 | 0 | 0 | 0 |", count + 1),
        None => println!("| promote with free nodes | impossible (tried {MOST}) | | | | |"),
    }
    let wanted = score(&well_proven(config), config);
    let ranks = |count: &u32| {
        let junk = pushed(config, Speaker::FREE, *count);
        is_promoted(&junk, config) && score(&junk, config) > wanted
    };
    match (0..=MOST).find(ranks) {
        Some(count) => println!(
            "| outrank a well-proven asset ({wanted:.1}) with free nodes | {} | 0 | 0 | 0 | 0 |",
            count + 1
        ),
        None => println!(
            "| outrank a well-proven asset ({wanted:.1}) with free nodes | impossible (tried {MOST}) | | | | |"
        ),
    }
    if free.is_none() {
        print_ring(config, wanted);
    }
}

/// What claimed accounts cost that work together: all three validators that are drawn must belong to the attacker, because
/// one that fails calls the arbiter. A report against the arbiter makes a stake too small, and its account is drawn no more
/// until the stake is made up.
fn print_ring(config: &HubConfig, wanted: f64) {
    let stake = config.credits.validator_stake as f64 / 1000.0;
    let slashed = stake * config.credits.slash_percent as f64 / 100.0;
    let run = config.credits.report_reward_min as f64 / 1000.0;
    let chance = chance_of_ring(RING, 3);
    let (tries, success) = exhaust_ring();
    let made_up = slashed * 3.0 * f64::from(RING) / f64::from(RING + HONEST) / chance;
    let hours = config.owners.min_age_days * 24.0;
    let all = f64::from(RING);
    println!(
        "| promote with claimed accounts, without the runner | {RING} in {RING} networks | {RING} | {:.0} | {hours:.0} | {:.0} honest runs first; {:.1} % for the first try, {:.1} % in the {tries:.0} tries until the stakes are too small; {:.0} tries if they are made up each time, {made_up:.0} credits or {:.0} more honest runs |",
        all * stake,
        all * stake / run,
        100.0 * chance,
        100.0 * success,
        1.0 / chance,
        made_up / run,
    );
    let users = (0..=MOST).find(|count| score(&drawn(config, *count), config) > wanted);
    let users = users.map_or("impossible".to_owned(), |count| format!("{count} more"));
    println!("| outrank it then ({wanted:.1}) | {users} | {users} | 0 | {hours:.0} | 0 |");
}

/// How likely it is that of three drawn owners so many belong to a ring with so many stakes.
fn chance_of_ring(staked: u32, of_ring: u32) -> f64 {
    let choose = |all: u32, some: u32| -> f64 {
        (0..some).map(|n| f64::from(all.saturating_sub(n)) / f64::from(n + 1)).product()
    };
    choose(staked, of_ring) * choose(HONEST, 3 - of_ring) / choose(staked + HONEST, 3)
}

/// How many tries a ring has until fewer than three of its stakes are whole, and how likely one of them succeeds.
fn exhaust_ring() -> (f64, f64) {
    let mut by_stakes = vec![(0.0, 0.0); 3];
    for staked in 3..=RING {
        let chances = [0, 1, 2, 3].map(|of_ring| chance_of_ring(staked, of_ring));
        let after = |lost: usize| by_stakes.get(staked as usize - lost).copied().unwrap_or_default();
        let ((tries_one, one), (tries_two, two)) = (after(1), after(2));
        let goes_on = 1.0 - chances[0];
        let tries = (1.0 + chances[1] * tries_one + chances[2] * tries_two) / goes_on;
        by_stakes.push((tries, (chances[3] + chances[1] * one + chances[2] * two) / goes_on));
    }
    by_stakes.last().copied().unwrap_or_default()
}

/// Junk with as many owners as this that fetch it and say that it works, in the way that serves it best.
fn pushed(config: &HubConfig, speaker: Speaker, count: u32) -> Asset {
    let mut book = declare(config, ProofLevel::Real, speaker.level);
    for _ in 0..count {
        book.fetch(config, speaker, 3);
        book.report(config, speaker, Grade::Fetched, true);
    }
    Asset { signal: 0, book }
}

/// Junk that three validators of the attacker passed, with so many users of level 1.
fn drawn(config: &HubConfig, users: u32) -> Asset {
    let mut book = declare(config, ProofLevel::Real, OwnerLevel::Known);
    (0..3).for_each(|_| book.report(config, Speaker::KNOWN, Grade::Reproduced, true));
    for _ in 0..users {
        book.fetch(config, Speaker::KNOWN, 3);
        book.vote(config, Speaker::KNOWN);
        book.report(config, Speaker::KNOWN, Grade::Used, true);
    }
    Asset { signal: 0, book }
}

/// The first of the ten examples: reproduced, used by six owners and fetched by eight.
fn well_proven(config: &HubConfig) -> Asset {
    let mut book = EvidenceBook::new(GdiInputs {
        confidence: 0.9,
        success_streak: 5,
        files: 1,
        lines: 10,
        triggers: 2,
        summary_chars: 75,
        reputation: 55.0,
        has_event: true,
        days_since_activity: 2.0,
        validation: ProofLevel::Real,
        ..GdiInputs::default()
    });
    let owner = |weight| Speaker { level: OwnerLevel::Known, weight };
    book.report(config, Speaker::KNOWN, Grade::Hub, true);
    for weight in [0.79, 0.65] {
        book.report(config, owner(weight), Grade::Reproduced, true);
    }
    for n in 0..8 {
        book.fetch(config, owner(0.6), 3);
        if n < 6 {
            book.report(config, owner(0.6), Grade::Used, true);
        }
        if n < 4 {
            book.vote(config, owner(0.6));
        }
    }
    Asset { signal: 0, book }
}
