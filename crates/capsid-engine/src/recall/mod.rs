//! What this repository's store has proven before about what is seen now. Reads only: no lock, nothing written.

mod error_match;
pub mod history;
mod proof;
mod text;

pub use text::{BUDGET, render};

use crate::cycle::observation::{self, Sources};
use crate::exchange::origin::{a2a, source};
use crate::rules::select::ScoredCapsule;
use crate::rules::select::capsule::{answering, may_answer};
use crate::signals;
use crate::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::signal::{banned_genes, is_control};
use capsid_model::text::collapse;
use capsid_model::{Object, Result, asset, env};
use capsid_rules::diagnosis::{ProblemClass, ProblemRecord, diagnose};
use capsid_rules::meaning::{MeaningTerms, SearchableText, SemanticQuestion, score};
use error_match::{ErrorQuery, ErrorWords};
use proof::CapsuleUses;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// The most solutions that are shown without a query.
pub const SHOWN: usize = 3;

/// How many of the best are looked up in the event log, which may be long.
const LOOKED_UP: usize = 64;

/// Who made a solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SolutionOrigin {
    Own,
    /// The node that it came from.
    Node(String),
}

impl SolutionOrigin {
    /// `own`, or the name of the node.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Own => "own",
            Self::Node(node) => node,
        }
    }
}

impl Serialize for SolutionOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A solution that worked and was validated. Its texts are as stored: callers make them inert before they show them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProvenSolution {
    /// Its name in the store.
    pub id: String,
    /// The id of its content, which was checked.
    pub asset_id: String,
    /// The gene that it came from.
    pub gene: String,
    /// One line about the change.
    pub summary: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// Successes in a row that this repository's event log shows; 0 for one that was not used here yet.
    pub streak: u64,
    /// How well it answers the signals.
    pub score: f64,
    pub source: SolutionOrigin,
    /// The newest event that made or used it; none for one that was taken in and not used yet.
    pub last_event_id: Option<String>,
    /// When that was, as ISO text.
    pub last_used: Option<String>,
    /// Whether the change itself was stored, so that `capsid capsules show ID` shows it.
    pub patch: bool,
}

/// The proven solutions of this store that answer the signals, best first, at most `limit`.
///
/// Proven is what succeeded under a validation that ran, has not failed since, and is stored as it was stamped. What
/// came from elsewhere counts once it was promoted.
pub fn proven(workspace: &Workspace, signals: &[String], limit: usize) -> Result<Vec<ProvenSolution>> {
    proven_for(workspace, signals, "", limit)
}

/// The same, and also solutions that match a text, such as an error message or a stack trace.
pub fn proven_for(
    workspace: &Workspace,
    signals: &[String],
    text: &str,
    limit: usize,
) -> Result<Vec<ProvenSolution>> {
    proven_by(workspace, signals, text, None, limit)
}

/// The same, with those that answer a question by what it means, although nobody wrote these words down.
pub fn proven_meant(
    workspace: &Workspace,
    signals: &[String],
    text: &str,
    question: &SemanticQuestion,
    limit: usize,
) -> Result<Vec<ProvenSolution>> {
    proven_by(workspace, signals, text, Some(question), limit)
}

fn proven_by(
    workspace: &Workspace,
    signals: &[String],
    text: &str,
    question: Option<&SemanticQuestion>,
    limit: usize,
) -> Result<Vec<ProvenSolution>> {
    let text = text.trim();
    if limit == 0 || (signals.is_empty() && text.is_empty()) || !workspace.store.exists() {
        return Ok(Vec::new());
    }
    let documents = workspace.store.capsules.documents()?;
    let capsules: Vec<Capsule> = documents.iter().map(Capsule::read).collect();
    let mut answers = answering(&capsules, signals, env::platform());
    if !text.is_empty() {
        let query = ErrorQuery::parse(&redact(text, RedactProfile::Secrets));
        add(&mut answers, &capsules, signals, |capsule| match_capsule(&query, capsule));
    }
    if let Some(question) = question {
        add(&mut answers, &capsules, signals, |capsule| meant(question, capsule));
    }
    answers.retain(|(at, _)| is_stamped(&documents[*at]) && !is_staged(&documents[*at]));
    // What others claim of theirs must not push ours out of sight.
    answers.sort_by_key(|(at, _)| origin(&documents[*at]) != SolutionOrigin::Own);
    answers.truncate(LOOKED_UP.max(limit));
    let claims: Vec<(&str, u64)> = answers.iter().map(|(_, one)| (one.id.as_str(), one.streak)).collect();
    let uses = proof::uses(&workspace.store.events, &claims)?;
    let solutions = answers.iter().filter_map(|(at, scored)| {
        let (document, uses) = (&documents[*at], uses.get(&scored.id));
        let holds = uses.map_or_else(|| is_promoted(document), |uses| uses.proves);
        holds.then(|| proven_of(document, &capsules[*at], scored, uses))
    });
    let mut solutions: Vec<ProvenSolution> = solutions.collect();
    // Solutions that were never used here come last, whatever others report about them.
    let used_here = |one: &ProvenSolution| one.last_event_id.is_some();
    solutions.sort_by(|one, other| {
        used_here(other).cmp(&used_here(one)).then_with(|| other.score.total_cmp(&one.score))
    });
    solutions.truncate(limit);
    Ok(solutions)
}

/// The signals of the repository as it is now: its notes, today's log and the sessions of coding agents.
///
/// A cycle passes over what the last ones answered again and again, lest it turn in circles. Here that is the very thing
/// to show, so the history only says which genes are banned.
pub fn signals_here(workspace: &Workspace) -> Result<Vec<String>> {
    let seen = observation::observe(workspace, &Sources { sessions: true, ..Sources::default() })?;
    let mut signals = signals::extract(&seen.inputs.corpus, &seen.diagnosis);
    signals.extend(seen.signals.into_iter().filter(|signal| is_control(signal)));
    Ok(signals)
}

/// The problem that a text shows, if it shows one.
pub fn problem_in(text: &str) -> Option<ProblemRecord> {
    diagnose(&redact(text, RedactProfile::Secrets)).to_record()
}

/// The signals in a text that somebody asks with, such as an error message.
///
/// Logs put `error: ` before a message and people who quote it leave that out, so an error is looked for both ways. Older
/// capsules hold the line as it was printed.
pub fn signals_in(text: &str) -> Vec<String> {
    let clean = redact(text, RedactProfile::Secrets);
    let mut signals = signals::extract_text(&clean);
    if let Some(problem) = diagnose(&clean).problem {
        // A plain line is asked for by the signals that it always had.
        if problem.plain.is_some() {
            signals
                .retain(|signal| signal != problem.class.as_str() || problem.class == ProblemClass::Timeout);
        }
        let line = collapse(problem.plain.as_deref().unwrap_or(&problem.message));
        signals.push(format!("errsig:{line}"));
        signals.push(format!("errsig:error: {line}"));
    }
    let mut seen = std::collections::HashSet::new();
    signals.retain(|signal| seen.insert(signal.clone()));
    signals
}

/// Adds the capsules that match in a certain way, with their share.
fn add(
    answers: &mut Vec<(usize, ScoredCapsule)>,
    capsules: &[Capsule],
    signals: &[String],
    share: impl Fn(&Capsule) -> Option<f64>,
) {
    let banned = banned_genes(signals).collect();
    for (at, capsule) in capsules.iter().enumerate() {
        if !may_answer(capsule, &banned, env::platform()) {
            continue;
        }
        let Some(scored) = share(capsule).map(|share| match_text(capsule, share)) else { continue };
        match answers.iter_mut().find(|(known, _)| *known == at) {
            Some((_, answer)) => answer.score = answer.score.max(scored.score),
            None => answers.push((at, scored)),
        }
    }
    answers.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
}

/// A signature without the family of the tool, which no log prints.
fn skip_family(signature: &str) -> &str {
    let family = signature.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
    match signature[family..].strip_prefix(": ").or_else(|| signature[family..].strip_prefix(' ')) {
        Some(rest) if family > 0 && !signature.starts_with("error") => rest,
        _ => signature,
    }
}

/// How much of its error, or of its summary, a text contains.
fn match_capsule(query: &ErrorQuery, capsule: &Capsule) -> Option<f64> {
    let errors = capsule.trigger.iter().filter_map(|entry| entry.strip_prefix("errsig:")).map(skip_family);
    let written = errors.chain([capsule.summary.as_str()]).map(ErrorWords::parse);
    written.filter_map(|written| query.match_share(&written)).max_by(f64::total_cmp)
}

/// Which share of a question's words it answers, where that is more than half of them.
fn meant(question: &SemanticQuestion, capsule: &Capsule) -> Option<f64> {
    let trigger: Vec<&str> = capsule.trigger.iter().map(String::as_str).collect();
    let meaning =
        MeaningTerms::parse(&SearchableText { signals: &trigger, title: &capsule.summary, body: "" });
    // Alone it is compared with nothing, so only how many words it answers counts.
    let answered = score(question, &meaning, &capsid_rules::meaning::TermFrequencies::default())?.words.len();
    let words: BTreeSet<&str> = question.terms.iter().map(|term| term.word.as_str()).collect();
    (answered * 2 > words.len()).then(|| answered as f64 / words.len() as f64)
}

/// The score of a capsule that matches by text: like one matching signal, weighted by the share of its words.
fn match_text(capsule: &Capsule, share: f64) -> ScoredCapsule {
    let mut scored = ScoredCapsule {
        id: capsule.id.clone(),
        gene: capsule.gene.clone(),
        matched: 1,
        considered: 1,
        confidence: capsule.confidence,
        streak: capsule.success_streak,
        gene_score: 0.0,
        score: 0.0,
    };
    scored.score = share * scored.from_parts();
    scored
}

fn proven_of(
    document: &Object,
    capsule: &Capsule,
    scored: &ScoredCapsule,
    uses: Option<&CapsuleUses>,
) -> ProvenSolution {
    let streak = uses.map_or(0, |uses| uses.streak);
    // The score was made with the streak that is claimed.
    let shown = ScoredCapsule { streak, ..scored.clone() };
    ProvenSolution {
        id: capsule.id.clone(),
        asset_id: capsule.asset_id.clone().unwrap_or_default(),
        gene: capsule.gene.clone(),
        summary: capsule.summary.clone(),
        confidence: capsule.confidence,
        streak,
        score: scored.score * shown.from_parts() / scored.from_parts(),
        source: origin(document),
        last_event_id: uses.map(|uses| uses.event_id.clone()),
        last_used: uses.and_then(|uses| uses.at).map(|at| at.iso()),
        patch: !capsule.diff.trim().is_empty(),
    }
}

fn origin(document: &Object) -> SolutionOrigin {
    source(document).map_or(SolutionOrigin::Own, |source| SolutionOrigin::Node(source.to_owned()))
}

fn is_promoted(document: &Object) -> bool {
    a2a(document, "status") == Some("promoted")
}

fn is_staged(document: &Object) -> bool {
    a2a(document, "status") == Some("external_candidate")
}

fn is_stamped(document: &Object) -> bool {
    asset::verify(document).holds()
}

#[cfg(test)]
mod tests;
