//! The ranking by text: candidates that share terms with the question, judged by what they mean.
//!
//! Rare terms name their assets, all of them. Common terms name too many; of those the ones are taken that
//! have several of the terms together, and the best of the rest.

use super::SemanticQuery;
use super::gather::{best, rows_below};
use super::pool::CandidatePool;
use super::scope::{CandidateBatch, EACH, SemanticScope};
use crate::db::tx::Tx;
use crate::params;
use crate::search;
use crate::search::expression::TermExpression;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::AssetType;
use capsid_rules::meaning::terms;
use capsid_rules::meaning::{MeaningTerms, QueryTerm, TermFrequencies, TextScore, TextScorer};
use std::collections::HashMap;

/// How many terms of a question are looked up.
const TERMS: usize = 32;
/// What answers less than this part of what the best does is hardly an answer.
pub const WEAK: f64 = 0.15;
/// How many common terms are combined.
const COMBINED: usize = 4;
/// How often a search goes on below rows that its filters left out.
const ROUNDS: usize = 4;
/// How many names of signals are looked up as they are.
pub const NAMES: usize = 16;

/// What the text tells.
#[derive(Debug, Default)]
pub struct TextRanking {
    /// The answers, the best first.
    pub ranking: Vec<(i64, TextScore)>,
    /// How many of the asked names are signals of an asset as they stand.
    pub named: HashMap<i64, usize>,
}

/// Ranks what answers a question by its text.
pub fn ranking(
    tx: &mut dyn Tx,
    wanted: &SemanticQuery,
    pool: &mut CandidatePool<'_>,
    most: usize,
) -> Result<TextRanking> {
    // The fresh ones come first: what is indexed meanwhile is then seen twice rather than never.
    let fresh: Vec<(i64, Vec<String>)> = search::fresh(tx, wanted.status)?
        .into_iter()
        .map(|(listed, terms)| (listed.asset.seq, terms))
        .collect();
    let indexed = tx.index()?.count("SELECT assets FROM indexed WHERE one = 1", params![])?;
    let scope = SemanticScope::new(wanted, u64::try_from(indexed).unwrap_or_default() + fresh.len() as u64);
    let seqs: Vec<i64> = fresh.iter().map(|(seq, _)| *seq).collect();
    pool.read_all(tx, &seqs)?;
    let named = named(tx, &scope, &fresh, pool)?;
    let query_terms: Vec<&QueryTerm> = wanted.question.terms.iter().take(TERMS).collect();
    let batches = gathered(tx, &scope, &query_terms, pool)?;
    let corpus = corpus(&scope, &query_terms, &batches, pool);
    let judge = TextScorer::new(&wanted.question, &corpus);
    let mut ranking: Vec<((i64, i64), TextScore)> = pool
        .candidates()
        .filter_map(|(seq, candidate)| Some(((candidate.gdi, seq), judge.score(&candidate.meaning)?)))
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
    query_terms: &[&QueryTerm],
    pool: &mut CandidatePool<'_>,
) -> Result<Vec<CandidateBatch>> {
    let expressions: Vec<TermExpression> =
        query_terms.iter().map(|term| TermExpression::term(&term.term)).collect();
    let batches = best(tx, scope, &expressions)?;
    let mut order: Vec<(f64, usize)> = query_terms
        .iter()
        .zip(&batches)
        .enumerate()
        .filter(|(_, (_, batch))| batch.is_all)
        .map(|(at, (term, batch))| (term.weight * (scope.texts as f64 / batch.about.max(1.0)).ln_1p(), at))
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
    gather_deeper(tx, scope, &scope.with(any), pool, scope.wanted.limit.min(EACH))
}

/// Goes on below what the filters left out, until so many fit.
fn gather_deeper(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &TermExpression,
    pool: &mut CandidatePool<'_>,
    enough: usize,
) -> Result<()> {
    let mut below = None;
    for _ in 0..ROUNDS * AssetType::ALL.len() {
        if pool.fitting() >= enough || pool.is_full() {
            return Ok(());
        }
        let (seqs, last) = rows_below(tx, scope, wanted, below)?;
        pool.gather(tx, &seqs)?;
        match last {
            Some(last) => below = Some(last),
            None => break,
        }
    }
    Ok(())
}

/// How often the terms occur. Of a term whose assets were all read that is known; of others it is estimated.
fn corpus(
    scope: &SemanticScope<'_>,
    query_terms: &[&QueryTerm],
    batches: &[CandidateBatch],
    pool: &CandidatePool<'_>,
) -> TermFrequencies {
    // Each term with how many have it, and the last one that was counted: a term may stand in several parts.
    let mut seen: HashMap<&str, (u64, i64)> =
        scope.wanted.question.terms.iter().map(|term| (term.term.as_str(), (0, -1))).collect();
    for (seq, candidate) in pool.candidates() {
        let MeaningTerms { signals, title, body } = &candidate.meaning;
        for term in signals.iter().chain(title).chain(body) {
            if let Some((count, last)) = seen.get_mut(term.as_str()).filter(|(_, last)| *last != seq) {
                (*count, *last) = (*count + 1, seq);
            }
        }
    }
    let mut counts: HashMap<String, u64> =
        seen.into_iter().map(|(term, (count, _))| (term.to_owned(), count)).collect();
    for (term, batch) in query_terms.iter().zip(batches).filter(|(_, batch)| !batch.is_all) {
        let about = counts.entry(term.term.clone()).or_default();
        *about = (batch.about.round() as u64).max(*about);
    }
    TermFrequencies { texts: scope.texts, counts }
}
