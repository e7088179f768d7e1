//! A seeded population of honest publishers, and what the rules make of an asset.

use super::evidence::{EvidenceBook, Speaker};
use capsid_hub::config::HubConfig;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade as Grade;
use capsid_rules::evaluation::gdi::{GdiInputs, gdi};
use capsid_rules::evaluation::owners::{OwnerLevel, owner_weight};
use capsid_rules::evaluation::promotion::{PromotionFacts, obstacles};
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::lifecycle::AssetStatus;
use fastrand::Rng;

/// How many signals the assets of a population answer to.
pub const SIGNALS: usize = 16;
const PUBLISHERS: usize = 500;
/// How many owners have a stake and can be asked.
pub const VALIDATORS: u32 = 60;

/// An asset and all that is known of it.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub signal: usize,
    pub book: EvidenceBook,
}

/// The score of an asset.
pub fn score(asset: &Asset, config: &HubConfig) -> f64 {
    gdi(&asset.book.known, &config.trust().belief).score
}

/// Whether nothing stands between an asset and its promotion.
pub fn is_promoted(asset: &Asset, config: &HubConfig) -> bool {
    let known = &asset.book.known;
    let scored = gdi(known, &config.trust().belief);
    let facts = PromotionFacts {
        status: AssetStatus::Candidate,
        gdi_score: scored.score,
        intrinsic: scored.intrinsic,
        confidence: known.confidence,
        success_streak: known.success_streak,
        reputation: known.reputation,
        quorum: asset.book.quorum,
        admin_accepted: false,
        is_anti_pattern: false,
        safety_held: false,
        publisher_held: false,
    };
    obstacles(&facts, &config.promotion.rule).is_empty()
}

/// What 500 honest publishers published, each one to four assets of which some are new and some much used.
pub fn honest_population(config: &HubConfig, seed: u64) -> Vec<Asset> {
    let mut rng = Rng::with_seed(seed);
    let mut assets = Vec::new();
    for _ in 0..PUBLISHERS {
        let reputation = 45.0 + 25.0 * rng.f64();
        for published in 0..rng.u32(1..5) {
            let mut asset = honest_asset(config, &mut rng, reputation);
            asset.book.quorum.promoted_before = published + rng.u32(0..4);
            asset.signal = rng.usize(0..SIGNALS);
            assets.push(asset);
        }
    }
    assets
}

/// An honest owner: how far it is trusted depends on how many of its reports were settled.
pub fn honest_owner(rng: &mut Rng) -> Speaker {
    let settled = rng.u32(5..40);
    let agreed = settled - rng.u32(0..=settled / 10);
    let weight = owner_weight(agreed, settled, 5);
    let level = if settled >= 20 && weight >= 0.75 { OwnerLevel::Trusted } else { OwnerLevel::Known };
    Speaker { level, weight }
}

/// An honest asset, by a publisher of this reputation.
pub fn honest_asset(config: &HubConfig, rng: &mut Rng, reputation: f64) -> Asset {
    let known = GdiInputs {
        confidence: 0.6 + 0.35 * rng.f64(),
        success_streak: rng.u32(1..7),
        files: rng.u32(1..4),
        lines: rng.u32(3..60),
        triggers: rng.u32(1..5),
        summary_chars: rng.u32(40..160),
        reputation: config.trust().owners.capped_reputation(reputation, OwnerLevel::Known),
        has_event: rng.f64() < 0.8,
        days_since_activity: 60.0 * rng.f64() * rng.f64(),
        validation: ProofLevel::Real,
        ..GdiInputs::default()
    };
    let mut book = EvidenceBook::new(known);
    book.quorum.assignable_owners = VALIDATORS;
    // A fifth is new, a third is tested, the rest is also used, some of it much.
    let maturity = rng.f64();
    if maturity > 0.2 {
        for _ in 0..3 {
            book.report(config, honest_owner(rng), Grade::Reproduced, true);
        }
        if rng.f64() < 0.5 {
            book.report(config, Speaker::KNOWN, Grade::Hub, true);
        }
    }
    let users = if maturity > 0.85 {
        rng.u32(6..20)
    } else if maturity > 0.5 {
        rng.u32(1..8)
    } else {
        0
    };
    for _ in 0..users {
        let owner = honest_owner(rng);
        book.fetch(config, owner, rng.u32(1..6));
        if rng.f64() < 0.7 {
            book.report(config, owner, Grade::Used, true);
        }
        if rng.f64() < 0.3 {
            book.vote(config, owner);
        }
    }
    Asset { signal: 0, book }
}
