//! How far the evidence of others bears out what a publisher declares.

use super::GdiInputs;
use crate::amount;
use crate::evaluation::proof::ProofLevel;
use serde::Serialize;

/// A failure weighs as much as so many passes.
const FAILURE_FACTOR: f64 = 2.0;
/// What a report of use adds to what validations show.
const USE_SHARE: f64 = 0.25;
/// The most that is believed of a validation that proves nothing.
const UNPROVEN_BELIEF: f64 = 0.6;

/// How evidence becomes belief. By default a fifth is believed of what nobody bore out, and half of the rest once the
/// evidence weighs 2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BeliefRule {
    /// What is believed without evidence, 0 to 1.
    pub floor: f64,
    /// The weight of evidence that makes up for half of the rest.
    pub half: f64,
}

impl Default for BeliefRule {
    fn default() -> Self {
        Self { floor: 0.2, half: 2.0 }
    }
}

/// How far what a publisher declares is believed, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Beliefs {
    /// Of what validations can show: confidence and the size of the change.
    pub validated: f64,
    /// Of what only use can show: its triggers and its summary.
    pub used: f64,
    /// How many successes in a row are believed.
    pub streak: u32,
}

impl BeliefRule {
    /// How far the evidence bears out what the publisher declares.
    pub fn beliefs(&self, e: &GdiInputs) -> Beliefs {
        let owners = &e.owners;
        let is_real = e.validation == ProofLevel::Real;
        let reported = |weight: f64| if is_real { amount(weight) } else { 0.0 };
        let (passes, fails) = (reported(owners.passes), reported(owners.fails));
        let (used, used_failed) = (amount(owners.used), amount(owners.used_failed));
        let validated =
            (passes + USE_SHARE * used - FAILURE_FACTOR * (fails + USE_SHARE * used_failed)).max(0.0);
        let by_use = (used - FAILURE_FACTOR * used_failed - fails).max(0.0);
        let most = if is_real { 1.0 } else { UNPROVEN_BELIEF.max(self.floor) };
        // Where failures outweigh all that passed, nothing is left of a streak either.
        let has_evidence = validated > 0.0 || by_use > 0.0;
        Beliefs {
            validated: self.belief(validated).min(most),
            used: self.belief(by_use),
            streak: if has_evidence { e.success_streak.min(owners.successes) } else { 0 },
        }
    }

    fn belief(&self, evidence: f64) -> f64 {
        let floor = self.floor.clamp(0.0, 1.0);
        floor + (1.0 - floor) * evidence / (evidence + self.half.max(f64::MIN_POSITIVE))
    }
}
