//! The ranking by text: candidates that share terms with the question, judged by what they mean.
//!
//! Rare terms name their assets, all of them. Common terms name too many; of those the ones are taken that
//! have several of the terms together, and the best of the rest.

use super::pool::CandidatePool;
use super::{SemanticQuery, postgres, sqlite};
use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::search::{self, expression, expression::TermExpression};
use capsid_model::problem::Result;
use capsid_rules::lifecycle::AssetType;
use capsid_rules::meaning::terms;
use capsid_rules::meaning::{MeaningTerms, QueryTerm, TermFrequencies, TextScore, TextScorer};
use std::collections::HashMap;

/// How many assets one term names at most, of each type.
pub const EACH: usize = 120;
/// How many terms of a question are looked up.
const TERMS: usize = 32;
/// What answers less than this part of what the best does is hardly an answer.
pub const WEAK: f64 = 0.15;
/// How many common terms are combined.
const COMBINED: usize = 4;
/// How many names of signals are looked up as they are.
pub const NAMES: usize = 16;

/// Where is searched.
pub struct SemanticScope<'w> {
    pub wanted: &'w SemanticQuery,
    pub types: Vec<AssetType>,
    /// How many assets there are.
    pub texts: u64,
    required: Vec<TermExpression>,
}

/// What the index names for an expression, the best first.
#[derive(Debug, Default)]
pub struct CandidateBatch {
    pub seqs: Vec<i64>,
    /// Whether there are no more.
    pub is_all: bool,
    /// About how many there are.
    pub about: f64,
}

/// What the text tells.
#[derive(Debug, Default)]
pub struct TextRanking {
    /// The answers, the best first.
    pub ranking: Vec<(i64, TextScore)>,
    /// How many of the asked names are signals of an asset as they stand.
    pub named: HashMap<i64, usize>,
}

impl<'w> SemanticScope<'w> {
    fn new(wanted: &'w SemanticQuery, texts: u64) -> Self {
        let node = wanted.node_id.as_deref().map(expression::node_term);
        let category = wanted.category.as_deref().map(expression::category_term);
        Self {
            wanted,
            types: wanted.asset_type.map_or_else(|| AssetType::ALL.to_vec(), |kind| vec![kind]),
            texts,
            required: node.into_iter().chain(category).map(TermExpression::Term).collect(),
        }
    }

    /// An expression that also asks for what the filters do.
    fn with(&self, wanted: TermExpression) -> TermExpression {
        match self.required.is_empty() {
            true => wanted,
            false => TermExpression::All([wanted].into_iter().chain(self.required.iter().cloned()).collect()),
        }
    }
}

/// Ranks what answers a question by its text.
pub fn ranking(
    tx: &mut dyn Tx,
    wanted: &SemanticQuery,
    pool: &mut CandidatePool<'_>,
    most: usize,
) -> Result<TextRanking> {
    // The fresh ones come first: what is indexed meanwhile is then seen twice rather than never.
    let fresh = search::fresh_terms(tx, wanted.status)?;
    let indexed = tx.count("SELECT assets FROM indexed WHERE one = 1", params![])?;
    let scope = SemanticScope::new(wanted, u64::try_from(indexed).unwrap_or_default() + fresh.len() as u64);
    let seqs: Vec<i64> = fresh.iter().map(|(seq, _)| *seq).collect();
    pool.read_all(tx, &seqs)?;
    let named = named(tx, &scope, &fresh, pool)?;
    let asked: Vec<&QueryTerm> = wanted.question.terms.iter().take(TERMS).collect();
    let batches = gathered(tx, &scope, &asked, pool)?;
    let corpus = corpus(&scope, &asked, &batches, pool);
    let judge = TextScorer::new(&wanted.question, &corpus);
    let mut ranking: Vec<((i64, i64), TextScore)> = pool
        .candidates()
        .filter_map(|(seq, found)| Some(((found.gdi, seq), judge.score(&found.meaning)?)))
        .collect();
    // Sums differ in their last digits by the order they are made in, and equals have to stay equal.
    let rounded = |answer: &TextScore| (answer.score * 1e9).round();
    ranking.sort_by(|a, b| rounded(&b.1).total_cmp(&rounded(&a.1)).then_with(|| b.0.cmp(&a.0)));
    ranking.truncate(most);
    drop_weak(&mut ranking);
    Ok(TextRanking { ranking: ranking.into_iter().map(|((_, seq), answer)| (seq, answer)).collect(), named })
}

/// Leaves out what is far behind the best and answers fewer of the words.
fn drop_weak(ranking: &mut Vec<((i64, i64), TextScore)>) {
    let Some((_, best)) = ranking.first() else { return };
    let (enough, words) = (best.score * WEAK, best.words.len());
    ranking.retain(|(_, answer)| answer.score >= enough || answer.words.len() >= words);
}

fn best(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &[TermExpression],
) -> Result<Vec<CandidateBatch>> {
    let wanted: Vec<TermExpression> = wanted.iter().map(|wanted| scope.with(wanted.clone())).collect();
    match tx.dialect() {
        _ if wanted.is_empty() => Ok(Vec::new()),
        Dialect::Sqlite => sqlite::best(tx, scope, &wanted),
        Dialect::Postgres => postgres::best(tx, scope, &wanted),
    }
}

/// Assets that have asked names as signals, and how many of them.
fn named(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    fresh: &[(i64, Vec<String>)],
    pool: &mut CandidatePool<'_>,
) -> Result<HashMap<i64, usize>> {
    let names: Vec<TermExpression> =
        scope.wanted.names.iter().filter_map(|name| full_query(name)).take(NAMES).collect();
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for (name, batch) in names.iter().zip(best(tx, scope, &names)?) {
        pool.gather(tx, &batch.seqs)?;
        let fresh = fresh.iter().filter(|(_, terms)| name.finds(terms)).map(|(seq, _)| *seq);
        let mut seqs: Vec<i64> = batch.seqs.into_iter().chain(fresh).collect();
        seqs.sort_unstable();
        seqs.dedup();
        for seq in seqs.into_iter().filter(|seq| pool.get(*seq).is_some()) {
            *counts.entry(seq).or_default() += 1;
        }
    }
    Ok(counts)
}

/// What an asset has that has this very signal.
fn full_query(name: &str) -> Option<TermExpression> {
    let terms = terms::asset_terms(&[name], "", &[]);
    let ways: Vec<TermExpression> =
        terms.iter().filter(|term| term.starts_with("s_")).map(|term| TermExpression::term(term)).collect();
    (!ways.is_empty()).then_some(TermExpression::Any(ways))
}

/// Reads the candidates that the terms name, and gives what the index told of each term.
fn gathered(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    asked: &[&QueryTerm],
    pool: &mut CandidatePool<'_>,
) -> Result<Vec<CandidateBatch>> {
    let expressions: Vec<TermExpression> =
        asked.iter().map(|asked| TermExpression::term(&asked.term)).collect();
    let batches = best(tx, scope, &expressions)?;
    let mut order: Vec<(f64, usize)> = asked
        .iter()
        .zip(&batches)
        .enumerate()
        .filter(|(_, (_, batch))| batch.is_all)
        .map(|(at, (asked, batch))| (asked.weight * (scope.texts as f64 / batch.about.max(1.0)).ln_1p(), at))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for batch in order.iter().filter_map(|(_, at)| batches.get(*at)) {
        pool.gather(tx, &batch.seqs)?;
    }
    let common: Vec<TermExpression> = expressions
        .iter()
        .zip(&batches)
        .filter(|(_, batch)| !batch.is_all)
        .map(|(expression, _)| expression.clone())
        .take(COMBINED)
        .collect();
    if !common.is_empty() {
        gather_common(tx, scope, common, pool)?;
    }
    Ok(batches)
}

/// Reads candidates that have common terms: all of them together, two of them, one.
fn gather_common(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    common: Vec<TermExpression>,
    pool: &mut CandidatePool<'_>,
) -> Result<()> {
    let mut pairs = Vec::new();
    for (at, one) in common.iter().enumerate() {
        pairs.extend(
            common.iter().skip(at + 1).map(|other| TermExpression::All(vec![one.clone(), other.clone()])),
        );
    }
    let mut levels = Vec::new();
    if common.len() > 2 {
        levels.push(TermExpression::All(common.clone()));
    }
    if !pairs.is_empty() {
        levels.push(TermExpression::Any(pairs));
    }
    let any = TermExpression::Any(common);
    levels.push(any.clone());
    for batch in best(tx, scope, &levels)? {
        pool.gather(tx, &batch.seqs)?;
    }
    match tx.dialect() {
        Dialect::Sqlite => sqlite::deeper(tx, scope, &scope.with(any), pool, scope.wanted.limit.min(EACH)),
        // The statements there filter as they go.
        Dialect::Postgres => Ok(()),
    }
}

/// How often the terms occur. Of a term whose assets were all read that is known; of others it is estimated.
fn corpus(
    scope: &SemanticScope<'_>,
    asked: &[&QueryTerm],
    batches: &[CandidateBatch],
    pool: &CandidatePool<'_>,
) -> TermFrequencies {
    // Each term with how many have it, and the last one that was counted: a term may stand in several parts.
    let mut seen: HashMap<&str, (u64, i64)> =
        scope.wanted.question.terms.iter().map(|asked| (asked.term.as_str(), (0, -1))).collect();
    for (seq, found) in pool.candidates() {
        let MeaningTerms { signals, title, body } = &found.meaning;
        for term in signals.iter().chain(title).chain(body) {
            if let Some((count, last)) = seen.get_mut(term.as_str()).filter(|(_, last)| *last != seq) {
                (*count, *last) = (*count + 1, seq);
            }
        }
    }
    let mut counts: HashMap<String, u64> =
        seen.into_iter().map(|(term, (count, _))| (term.to_owned(), count)).collect();
    for (asked, batch) in asked.iter().zip(batches).filter(|(_, batch)| !batch.is_all) {
        let about = counts.entry(asked.term.clone()).or_default();
        *about = (batch.about.round() as u64).max(*about);
    }
    TermFrequencies { texts: scope.texts, counts }
}
