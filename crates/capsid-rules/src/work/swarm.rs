//! Swarms: a task in parts, and how what it earns is shared: 5 % for who proposed the parts, 85 % for who solved them
//! and 10 % for who merged the results.

use capsid_model::text_enum;

/// The whole, in billionths; weights are counted in them, so that sums are exact.
pub const WHOLE: i64 = 1_000_000_000;
/// What solvers share.
pub const SOLVERS: i64 = 850_000_000;
/// What the proposer gets.
pub const PROPOSER: i64 = 50_000_000;
/// What the aggregator gets.
pub const AGGREGATOR: i64 = 100_000_000;
/// The fewest parts.
pub const FEWEST: usize = 2;
/// The most parts.
pub const MAX: usize = 10;
/// Ten weights that were each rounded may come out so much too high.
const ROUNDING: i64 = 10;

/// Who merges what solvers found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AggregatorTerms {
    /// The reputation it takes.
    pub min_reputation: f64,
    /// Who may where nobody has it.
    pub fallback: AggregatorFallback,
}

/// Who merges the results where nobody has the reputation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregatorFallback {
    /// Whoever proposed the parts.
    Proposer,
    /// Nobody: the results wait for somebody who earns it.
    Nobody,
}

text_enum!(AggregatorFallback {
    Proposer = "proposer",
    Nobody = "none",
});

impl AggregatorTerms {
    /// The reputation it takes to merge the results of a task that itself takes so much.
    pub fn required(&self, of_whole: f64) -> f64 {
        self.min_reputation.max(of_whole)
    }
}

/// What is wrong with a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalError {
    /// Too few or too many parts.
    Count,
    /// The weight of this part is not above 0 and at most 1.
    Weight(usize),
    /// The weights together are above 0.85.
    TooHeavy,
}

/// A weight in billionths; nothing unless it is above 0 and at most 1.
pub fn weight(value: f64) -> Option<i64> {
    let billionths = (value * WHOLE as f64).round() as i64;
    (value > 0.0 && value <= 1.0).then_some(billionths.max(1))
}

/// The weights of a proposal in billionths.
pub fn weights(values: &[f64]) -> Result<Vec<i64>, ProposalError> {
    if !(FEWEST..=MAX).contains(&values.len()) {
        return Err(ProposalError::Count);
    }
    let weights =
        values.iter().enumerate().map(|(at, value)| weight(*value).ok_or(ProposalError::Weight(at)));
    let weights: Vec<i64> = weights.collect::<Result<_, _>>()?;
    if weights.iter().sum::<i64>() > SOLVERS + ROUNDING {
        return Err(ProposalError::TooHeavy);
    }
    Ok(weights)
}

/// An amount, shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwarmShares {
    /// Of who proposed the parts.
    pub proposer: i64,
    /// Of who solved them, in the order of the weights.
    pub solvers: Vec<i64>,
    /// Of who merged the results.
    pub aggregator: i64,
}

/// Shares an amount. Solvers share their 85 % by weight, whatever the weights add up to. Everything is rounded down, and
/// what is left goes to the aggregator, so that the shares together are the amount.
pub fn share(amount: i64, weights: &[i64]) -> SwarmShares {
    let amount = amount.max(0);
    let total: i128 = weights.iter().map(|weight| i128::from(*weight)).sum::<i128>().max(1);
    let part = |of: i128, among: i128| {
        i64::try_from(i128::from(amount) * of / (i128::from(WHOLE) * among)).unwrap_or_default()
    };
    let proposer = part(i128::from(PROPOSER), 1);
    let solvers: Vec<i64> =
        weights.iter().map(|weight| part(i128::from(SOLVERS) * i128::from(*weight), total)).collect();
    let aggregator = amount - proposer - solvers.iter().sum::<i64>();
    SwarmShares { proposer, solvers, aggregator }
}

#[cfg(test)]
#[path = "swarm_tests.rs"]
mod tests;
