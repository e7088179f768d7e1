//! Junk, and what attackers do for it.

use super::evidence::{EvidenceBook, Speaker};
use super::population::{Asset, VALIDATORS, honest_asset, honest_owner, is_promoted};
use capsid_hub::config::HubConfig;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade as Grade;
use capsid_rules::evaluation::gdi::GdiInputs;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::proof::ProofLevel;
use fastrand::Rng;

/// How many claimed accounts work together.
const RING: u32 = 10;
/// How many validators are asked about one asset.
const DRAWN: u32 = 3;

/// What an attacker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttackKind {
    /// A report by a node that never had the asset.
    BlindReport,
    /// One more free node fetches it and reports.
    TwoFreeNodes,
    /// Free nodes of 25 networks fetch it three times each, and ten report.
    FreeNodes,
    /// Confidence 1, streak 50 and a test that cannot fail, with one friendly claimed account.
    InflatedValues,
    /// Ten claimed accounts of level 1 fetch it, vote for it, use it and say that it works.
    Ring,
    /// The same for a useless change whose own test really fails without it.
    RingWithTest,
}

impl AttackKind {
    pub const ALL: [Self; 6] = [
        Self::BlindReport,
        Self::TwoFreeNodes,
        Self::FreeNodes,
        Self::InflatedValues,
        Self::Ring,
        Self::RingWithTest,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::BlindReport => "a blind report by a free node",
            Self::TwoFreeNodes => "a second free node fetches and reports",
            Self::FreeNodes => "25 free nodes of 25 networks fetch, 10 report",
            Self::InflatedValues => "inflated values, a test that cannot fail, one friendly account",
            Self::Ring => "ten claimed accounts of level 1 work together until their stakes are too small",
            Self::RingWithTest => "the same, for a useless change with a test that works (not prevented)",
        }
    }

    /// Whether what it promotes is junk: its test, if it has one, fails where it is run.
    pub fn is_junk(self) -> bool {
        self != Self::RingWithTest
    }
}

/// The junk of an attack: with a test that cannot fail, and with one that looks real.
pub fn attack(kind: AttackKind, config: &HubConfig, seed: u64) -> Vec<Asset> {
    let mut rng = Rng::with_seed(seed ^ 0x5b11);
    let validations: &[ProofLevel] = match kind {
        AttackKind::InflatedValues => &[ProofLevel::Vacuous, ProofLevel::Weak],
        AttackKind::RingWithTest => &[ProofLevel::Real],
        _ => &[ProofLevel::Vacuous, ProofLevel::Real],
    };
    let asks_validators = config.trust().owners.settled_for_weight > 0;
    let mut junk = Vec::new();
    for validation in validations {
        if kind == AttackKind::Ring && *validation == ProofLevel::Real && asks_validators {
            junk.extend(try_ring(config, &mut rng));
        } else {
            junk.push(push(kind, config, *validation, &mut rng));
        }
    }
    junk.into_iter().map(|book| Asset { signal: 0, book }).collect()
}

/// A ring publishes one asset after the other until three of its own are drawn for one, or its stakes are too small: each report
/// against an arbiter takes a part of one, and its account is drawn no more.
fn try_ring(config: &HubConfig, rng: &mut Rng) -> Vec<EvidenceBook> {
    let (mut staked, mut tries) = (RING, Vec::new());
    while staked >= DRAWN {
        let drawn = draw_of_ring(staked, rng);
        let mut book = declare(config, ProofLevel::Real, OwnerLevel::Known);
        collude(&mut book, config, ProofLevel::Real);
        (drawn..DRAWN).for_each(|_| book.report(config, honest_owner(rng), Grade::Assigned, false));
        tries.push(book);
        if drawn == DRAWN {
            break;
        }
        staked -= drawn;
    }
    tries
}

/// How many of the validators of an asset belong to a ring.
fn draw_of_ring(staked: u32, rng: &mut Rng) -> u32 {
    (0..DRAWN).fold(0, |of_ring, before| {
        let is_of_ring = rng.u32(0..VALIDATORS + staked - before) < staked - of_ring;
        of_ring + u32::from(is_of_ring)
    })
}

/// What is published declares as much as it can.
pub fn declare(config: &HubConfig, validation: ProofLevel, level: OwnerLevel) -> EvidenceBook {
    let owners = config.trust().owners;
    let level = level.max(owners.least_level);
    let mut book = EvidenceBook::new(GdiInputs {
        confidence: 1.0,
        success_streak: 99,
        files: 1,
        lines: 1,
        triggers: 5,
        summary_chars: 200,
        reputation: owners.capped_reputation(55.0, level),
        has_event: true,
        validation,
        ..GdiInputs::default()
    });
    // The publisher of a ring had three honest assets promoted before.
    book.quorum.promoted_before = if level == OwnerLevel::New { 0 } else { 3 };
    book.quorum.assignable_owners = VALIDATORS;
    book
}

fn push(kind: AttackKind, config: &HubConfig, validation: ProofLevel, rng: &mut Rng) -> EvidenceBook {
    let level = match kind {
        AttackKind::Ring | AttackKind::RingWithTest => OwnerLevel::Known,
        _ => OwnerLevel::New,
    };
    let mut book = declare(config, validation, level);
    match kind {
        AttackKind::BlindReport => book.report(config, Speaker::FREE, Grade::Unverified, true),
        AttackKind::TwoFreeNodes => {
            book.fetch(config, Speaker::FREE, 1);
            book.report(config, Speaker::FREE, Grade::Fetched, true);
        }
        AttackKind::FreeNodes => {
            (0..25).for_each(|_| book.fetch(config, Speaker::FREE, 3));
            (0..10).for_each(|_| book.report(config, Speaker::FREE, Grade::Fetched, true));
        }
        AttackKind::InflatedValues => {
            book.fetch(config, Speaker::KNOWN, 3);
            book.report(config, Speaker::KNOWN, Grade::Used, true);
        }
        AttackKind::Ring | AttackKind::RingWithTest => collude(&mut book, config, validation),
    }
    if kind == AttackKind::RingWithTest {
        book.report(config, Speaker::KNOWN, Grade::Hub, true);
    } else if validation == ProofLevel::Real {
        draw_validators(&mut book, config, rng);
    }
    book
}

/// Ten accounts do for an asset all that level 1 allows.
fn collude(book: &mut EvidenceBook, config: &HubConfig, validation: ProofLevel) {
    let grade = if validation == ProofLevel::Real { Grade::Applied } else { Grade::Used };
    for _ in 0..RING {
        book.fetch(config, Speaker::KNOWN, 3);
        book.vote(config, Speaker::KNOWN);
        book.report(config, Speaker::KNOWN, grade, true);
    }
}

/// The hub asks three owners that have a stake to run the test. Honest ones report that it fails. Where nobody stakes, as in
/// a small team, nobody is asked.
fn draw_validators(book: &mut EvidenceBook, config: &HubConfig, rng: &mut Rng) {
    if config.trust().owners.settled_for_weight > 0 {
        (0..DRAWN).for_each(|_| book.report(config, honest_owner(rng), Grade::Assigned, false));
    }
}

/// How many good candidates four free nodes hold back, of those that are promoted without them.
pub fn rivals_held_back(config: &HubConfig, seeds: u64) -> (usize, usize) {
    let mut rng = Rng::with_seed(seeds);
    let (mut held, mut good) = (0, 0);
    for _ in 0..200 {
        let mut rival = honest_asset(config, &mut rng, 55.0);
        rival.book.quorum.promoted_before = 3;
        if !is_promoted(&rival, config) {
            continue;
        }
        good += 1;
        (0..4).for_each(|_| rival.book.report(config, Speaker::FREE, Grade::Fetched, false));
        held += usize::from(!is_promoted(&rival, config));
    }
    (held, good)
}
