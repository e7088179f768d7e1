//! How much room each part of a prompt has, and what is cut first.

/// The longest prompt.
pub const MAX_CHARS: usize = 6_000;
/// The longest prompt of an engine that says much.
pub const MAX_VERBOSE_CHARS: usize = 20_000;
/// A limit below this acts as this: instructions and the evidence need so much.
pub const MIN_CHARS: usize = 3_000;
/// The evidence is never shorter than this, if there is so much.
const MIN_EVIDENCE: usize = 600;

/// A part that is cut becomes shorter by at least this.
const MIN_STEP: usize = 40;

/// The most characters of each part, marks included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromptBudget {
    pub evidence: usize,
    pub source: usize,
    pub commands: usize,
    pub steps: usize,
    pub limits: usize,
    /// Of one earlier attempt.
    pub attempt: usize,
    /// How many attempts are shown.
    pub attempts: usize,
    pub solution: usize,
    pub history: usize,
}

/// Parts that may be cut, in the order in which they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptCut {
    History,
    SecondAttempt,
    Source,
    Solution,
    Evidence,
    FirstAttempt,
}

impl PromptCut {
    pub const ORDER: [Self; 6] = [
        Self::History,
        Self::SecondAttempt,
        Self::Source,
        Self::Solution,
        Self::Evidence,
        Self::FirstAttempt,
    ];
}

impl PromptBudget {
    /// The budget of a prompt of so many characters. A larger prompt has larger parts.
    pub fn from_limit(max_chars: usize) -> Self {
        let scale = |chars: usize| chars.saturating_mul(max_chars.max(MAX_CHARS)) / MAX_CHARS;
        Self {
            evidence: scale(1_300),
            source: scale(700),
            commands: scale(200),
            steps: scale(600),
            limits: scale(500),
            attempt: scale(600),
            attempts: 2,
            solution: scale(700),
            history: scale(1_000),
        }
    }

    /// Makes a part shorter by as much as the prompt is too long; false if it cannot be any shorter.
    pub fn cut(&mut self, part: PromptCut, excess: usize) -> bool {
        let before = *self;
        let step = excess.max(MIN_STEP);
        let shorten = |chars: &mut usize, least: usize| *chars = chars.saturating_sub(step).max(least);
        match part {
            PromptCut::History => shorten(&mut self.history, 0),
            PromptCut::SecondAttempt => self.attempts = self.attempts.min(1),
            PromptCut::Source => shorten(&mut self.source, 0),
            PromptCut::Solution => shorten(&mut self.solution, 0),
            PromptCut::Evidence => shorten(&mut self.evidence, MIN_EVIDENCE),
            PromptCut::FirstAttempt => self.attempts = 0,
        }
        *self != before
    }
}
