//! Reports, fetches and votes of owners, weighed as a hub with these settings weighs them.

use capsid_hub::config::HubConfig;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade as Grade;
use capsid_rules::evaluation::gdi::GdiInputs;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::evaluation::quorum::QuorumFacts;

/// An owner that speaks about an asset.
#[derive(Debug, Clone, Copy)]
pub struct Speaker {
    pub level: OwnerLevel,
    /// What its settled reports earned it.
    pub weight: f64,
}

impl Speaker {
    /// An unclaimed node.
    pub const FREE: Self = Self { level: OwnerLevel::New, weight: 0.0 };
    /// A claimed account of level 1 with ten settled reports, all of them right.
    pub const KNOWN: Self = Self { level: OwnerLevel::Known, weight: 0.79 };
}

/// All that others show of one asset.
#[derive(Debug, Clone, Copy)]
pub struct EvidenceBook {
    pub known: GdiInputs,
    pub quorum: QuorumFacts,
    new_fetchers: f64,
}

impl EvidenceBook {
    pub fn new(known: GdiInputs) -> Self {
        let quorum =
            QuorumFacts { is_testable: known.validation == ProofLevel::Real, ..QuorumFacts::default() };
        Self { known, quorum, new_fetchers: 0.0 }
    }

    fn level(speaker: Speaker, config: &HubConfig) -> OwnerLevel {
        speaker.level.max(config.trust().owners.least_level)
    }

    /// A report of an owner that has not reported before.
    pub fn report(&mut self, config: &HubConfig, speaker: Speaker, grade: Grade, ok: bool) {
        let trust = config.trust();
        let owner = if trust.owners.settled_for_weight == 0 { 1.0 } else { speaker.weight };
        let weight = match grade {
            Grade::Hub => trust.grades.weigh(grade),
            grade => trust.grades.weigh(grade) * owner,
        };
        if weight <= 0.0 {
            return;
        }
        let owners = &mut self.known.owners;
        let is_real = self.known.validation == ProofLevel::Real;
        let by_use = grade == Grade::Used || (grade == Grade::Fetched && !is_real);
        match (by_use, ok) {
            (true, true) => owners.used += if grade == Grade::Used { owner } else { weight },
            (true, false) => owners.used_failed += if grade == Grade::Used { owner } else { weight },
            (false, true) => owners.passes += weight,
            (false, false) => owners.fails += weight,
        }
        if matches!(grade, Grade::Reproduced | Grade::Hub) {
            *(if ok { &mut owners.reproduced } else { &mut owners.reproduced_failed }) += weight;
        }
        if ok && (by_use || is_real) {
            owners.successes += if grade == Grade::Hub { 3 } else { 1 };
        }
        if ok && (by_use || matches!(grade, Grade::Applied | Grade::Fetched)) {
            owners.runs_90d += 1.0;
            self.known.successful_runs_90d += 1;
        }
        let quorum = &mut self.quorum;
        *(if ok { &mut quorum.passes } else { &mut quorum.fails }) += weight;
        *(if ok { &mut quorum.owners_passed } else { &mut quorum.owners_failed }) += 1;
        *(if ok { &mut self.known.passes } else { &mut self.known.fails }) += weight;
        if grade == Grade::Hub && ok {
            (quorum.runner_passed, quorum.arbiter_passed) = (true, true);
        }
        let level = Self::level(speaker, config);
        if ok && (by_use || grade == Grade::Applied) && level >= OwnerLevel::Known {
            quorum.users += 1;
            quorum.trusted_users += u32::from(level >= OwnerLevel::Trusted);
        }
    }

    /// Fetches of an owner that has not fetched before.
    pub fn fetch(&mut self, config: &HubConfig, speaker: Speaker, times: u32) {
        self.known.fetches_30d += times;
        self.known.unique_fetchers_30d += 1;
        self.known.other_owners += 1;
        let owners = &mut self.known.owners;
        if Self::level(speaker, config) == OwnerLevel::New {
            let more = f64::min(0.1, 1.0 - self.new_fetchers);
            self.new_fetchers += more;
            owners.fetches_30d += more;
            owners.fetchers_30d += more;
        } else {
            owners.fetches_30d += f64::from(times.min(3));
            owners.fetchers_30d += 1.0;
        }
    }

    /// A vote of an owner that fetched the asset. Only accounts vote.
    pub fn vote(&mut self, config: &HubConfig, speaker: Speaker) {
        self.known.upvotes += 1;
        self.known.owners.upvotes += Self::level(speaker, config).vote_weight();
    }
}
