//! Asks the hub for what solves a problem, in two steps: rows, which are free, then the best one as a whole.
//!
//! Nothing a row says is believed but the publisher's reputation, which is the hub's to know: the capsule that came is
//! checked against its id, compared with the problem and scored again by what it says itself.

use super::matching::{WantedProblem, check_patch, is_solution};
use super::trial_search::find_candidate;
use super::{REFERENCE, ReuseHit, ReuseMode, ReusePolicy, ReuseSearch};
use crate::config::ReuseConfig;
use crate::rules::outbound::{MAX, outbound_signals};
use capsid_client::calls::SearchRow;
use capsid_client::refusal::{TIMEOUT, is_timeout};
use capsid_client::{NodeClient, config as client_config};
use capsid_model::capsule::Capsule;
use capsid_model::text::cut;
use capsid_model::{Code, Object, Problem, Value, env};
use capsid_rules::diagnosis::ProblemRecord;
use capsid_rules::learning::match_level::MatchLevel;
use std::sync::mpsc;
use std::time::Instant;

/// The longest name in a row that is kept.
pub(super) const NAME_UNITS: usize = 200;
/// The most rows that are looked at.
const ROWS: usize = 50;
/// The most solutions that are fetched until one holds.
pub(super) const TRIES: usize = 3;

/// Searches the hub for what solves the problem, by its signatures among the signals. It takes no longer than
/// [`client_config::SEARCH`] in all.
///
/// A node that `joins` says hello before it takes a solution, if the hub does not know it yet.
pub fn search(
    node: &NodeClient,
    problem: Option<&ProblemRecord>,
    signals: &[String],
    policy: ReusePolicy,
    joins: bool,
) -> ReuseSearch {
    let mut signatures: Vec<String> =
        signals.iter().filter(|signal| signal.starts_with("errsig:")).cloned().collect();
    // Engines that compare lines publish the raw line as the trigger.
    signatures.extend(problem.and_then(ProblemRecord::raw_errsig).filter(|raw| !signatures.contains(raw)));
    let asked = outbound_signals(&signatures, MAX);
    // A hub has the redacted form of a signature, so that form is compared too.
    let named: Vec<String> = signatures.into_iter().chain(asked.iter().cloned()).collect();
    let ended = match WantedProblem::from_run(problem, &named) {
        _ if policy.bound == ReuseConfig::Off => Err(ReuseMiss::from_reason("reuse_off")),
        _ if signals.is_empty() => Err(ReuseMiss::from_reason("no_signals")),
        None => Err(ReuseMiss::from_reason("no_problem")),
        Some(_) if asked.is_empty() => Err(ReuseMiss::from_reason("no_problem")),
        Some(problem) => {
            let query = ReuseQuery { problem, signals: asked.clone(), policy, joins };
            search_in_time(node, query, Instant::now() + client_config::SEARCH)
        }
    };
    let search = ReuseSearch { hub: node.hub_url().to_owned(), signals: asked, ..ReuseSearch::default() };
    match ended {
        Ok(hit) => ReuseSearch { hit: Some(hit), ..search },
        Err(miss) => ReuseSearch { miss: Some(miss.word), problem: miss.problem, ..search },
    }
}

/// What is looked for, and what may be made of what is found.
pub(super) struct ReuseQuery {
    pub(super) problem: WantedProblem,
    /// The signatures as they are sent.
    pub(super) signals: Vec<String>,
    pub(super) policy: ReusePolicy,
    pub(super) joins: bool,
}

/// Why nothing was found.
struct ReuseMiss {
    word: String,
    problem: Option<Problem>,
}

impl ReuseMiss {
    fn from_reason(word: &str) -> Self {
        Self { word: word.to_owned(), problem: None }
    }

    fn timeout(node: &NodeClient) -> Self {
        let message = format!("`{}` took too long to be searched.", node.hub_url());
        Problem::new(Code::HubUnreachable, message).hub_code(TIMEOUT).into()
    }
}

impl From<Problem> for ReuseMiss {
    fn from(problem: Problem) -> Self {
        Self { word: word_of(&problem), problem: Some(problem) }
    }
}

/// The word for a problem, as existing tools know it.
fn word_of(problem: &Problem) -> String {
    let status = problem.hub_status.map(|status| format!("hub_http_{status}"));
    match problem.code {
        Code::HubBusy => status.unwrap_or_else(|| "hub_http_429".to_owned()),
        Code::HubRefused => status.unwrap_or_else(|| "hub_refused".to_owned()),
        Code::HubUnreachable if is_timeout(problem) => "timeout".to_owned(),
        Code::HubUnreachable => "fetch_error".to_owned(),
        code => code.as_str().to_owned(),
    }
}

/// Several calls in a row may take long together, although each of them is bounded; so they are made beside us, and
/// left behind when the time is up.
fn search_in_time(node: &NodeClient, query: ReuseQuery, deadline: Instant) -> Result<ReuseHit, ReuseMiss> {
    let (sender, receiver) = mpsc::channel();
    let asking = node.clone();
    let worker = move || {
        // Nobody listens any more once the time is up.
        let _ = sender.send(search_hub(&asking, &query, deadline));
    };
    if std::thread::Builder::new().name("hub-search".to_owned()).spawn(worker).is_err() {
        return Err(ReuseMiss::from_reason("exception"));
    }
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(ended) => ended,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(ReuseMiss::timeout(node)),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(ReuseMiss::from_reason("exception")),
    }
}

/// A row that may be worth a fetch.
struct RankedRow {
    level: MatchLevel,
    score: f64,
    row: SearchRow,
}

fn search_hub(node: &NodeClient, query: &ReuseQuery, deadline: Instant) -> Result<ReuseHit, ReuseMiss> {
    let promoted = search_promoted(node, query, deadline);
    match (promoted, query.policy.trial) {
        // What the hub promoted comes before what nobody has tried.
        (Err(miss), Some(is_isolated)) => find_candidate(node, query, is_isolated, deadline).ok_or(miss),
        (promoted, _) => promoted,
    }
}

fn search_promoted(node: &NodeClient, query: &ReuseQuery, deadline: Instant) -> Result<ReuseHit, ReuseMiss> {
    let rows = node.search(&query.signals, Some("Capsule"), ROWS)?;
    let usable: Vec<SearchRow> = rows.into_iter().filter(|row| is_usable(row, node.id())).collect();
    if usable.is_empty() {
        return Err(ReuseMiss::from_reason("no_results"));
    }
    let mut ranked = rank_rows(usable, query);
    if ranked.is_empty() {
        return Err(ReuseMiss::from_reason("no_match"));
    }
    ranked.retain(|ranked| ranked.score >= REFERENCE);
    if !ranked.is_empty() && query.joins {
        describe_hit(node);
    }
    let mut miss: Option<ReuseMiss> = None;
    for RankedRow { row, .. } in ranked.iter().take(TRIES) {
        if Instant::now() >= deadline {
            return Err(ReuseMiss::timeout(node));
        }
        let fetched = node.fetch(&[&row.asset_id])?;
        match proven(row, fetched.assets, query) {
            Some(proven) => return Ok(hit(node, row, proven, deadline)),
            None => miss = miss.or_else(|| fetched.refused.into_iter().next().map(ReuseMiss::from)),
        }
    }
    Err(miss.unwrap_or_else(|| ReuseMiss::from_reason("below_threshold")))
}

/// The rows that may be about the problem: the best match first, then the best score.
fn rank_rows(rows: Vec<SearchRow>, query: &ReuseQuery) -> Vec<RankedRow> {
    let rank = |row: SearchRow| {
        let level = query.problem.match_row(&row.row)?;
        let score = query.policy.score(row.confidence, row.streak, row.reputation);
        Some(RankedRow { level, score, row })
    };
    let mut ranked: Vec<RankedRow> = rows.into_iter().filter_map(rank).collect();
    // The sort is stable: among equals the hub's own order stands.
    ranked.sort_by(|one, other| one.level.cmp(&other.level).then(other.score.total_cmp(&one.score)));
    ranked
}

/// A hub counts the use of an asset, and thanks its publisher, only for a node that it knows. It gives the asset to
/// others too, so a hello that fails stops nothing.
pub(super) fn describe_hit(node: &NodeClient) {
    if node.known().is_ok_and(|known| known.secret.is_none()) {
        let _ = node.hello(Object::new());
    }
}

/// Whether a row, which is of a promoted asset, may be worth a fetch: a capsule of somebody else that was not proven on another platform.
pub(super) fn is_usable(row: &SearchRow, own_id: &str) -> bool {
    let platform = env::platform();
    let elsewhere = row.row.get("platform").and_then(Value::as_str);
    let print = row.row.get("env_fingerprint").unwrap_or(&Value::Null);
    row.kind == "Capsule"
        && row.source_node_id.as_deref() != Some(own_id)
        && elsewhere.is_none_or(|theirs| theirs.is_empty() || theirs == platform)
        && env::is_compatible(print, platform)
}

/// A capsule that came as its row promised.
struct ProvenCapsule {
    document: Object,
    mode: ReuseMode,
    score: f64,
    level: MatchLevel,
}

/// The capsule that a row promised, if it came, holds, solved the same problem, and is still worth it by its own words.
fn proven(row: &SearchRow, assets: Vec<Object>, query: &ReuseQuery) -> Option<ProvenCapsule> {
    let is_it = |asset: &Object| {
        let text = |name: &str| asset.get(name).and_then(Value::as_str);
        text("type") == Some("Capsule") && text("asset_id") == Some(&row.asset_id)
    };
    let document = assets.into_iter().find(is_it)?;
    let capsule = Capsule::read(&document);
    let fits = capsule.outcome.is_success()
        && is_solution(&document)
        && env::is_compatible(&capsule.env_fingerprint, env::platform());
    let level = query.problem.match_capsule(&document).filter(|_| fits)?;
    let score = query.policy.score(capsule.confidence, capsule.success_streak, row.reputation);
    let mode = query.policy.mode(&row.asset_id, score)?;
    Some(ProvenCapsule { document, mode, score, level })
}

fn hit(node: &NodeClient, row: &SearchRow, proven: ProvenCapsule, deadline: Instant) -> ReuseHit {
    let told = |text: Option<&str>| text.map(|text| cut(text, NAME_UNITS).to_owned());
    let can_try = check_patch(&proven.document);
    ReuseHit {
        // What may not be tried is shown, however good its score is.
        mode: if can_try.is_ok() { proven.mode } else { ReuseMode::Reference },
        is_candidate: false,
        score: proven.score,
        level: Some(proven.level),
        can_try,
        asset_id: row.asset_id.clone(),
        source_node_id: told(row.source_node_id.as_deref()).unwrap_or_default(),
        chain_id: told(row.row.get("chain_id").and_then(Value::as_str)),
        reputation: row.reputation,
        gene: gene_of(node, &proven.document, deadline),
        capsule: proven.document,
    }
}

/// The capsule's gene, where it is named by its id and can be had. A solution is one without its gene too.
fn gene_of(node: &NodeClient, capsule: &Object, deadline: Instant) -> Option<Object> {
    let id = capsule.get("gene").and_then(Value::as_str).filter(|id| id.starts_with("sha256:"))?;
    if Instant::now() >= deadline {
        return None;
    }
    let fetched = node.fetch(&[id]).ok()?;
    fetched.assets.into_iter().find(|asset| asset.get("type").and_then(Value::as_str) == Some("Gene"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset::stamp;
    use capsid_model::json;

    fn row(value: &Value) -> SearchRow {
        let row = value.as_object().cloned().unwrap();
        let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        SearchRow {
            asset_id: text("asset_id").unwrap_or_default(),
            kind: text("type").unwrap_or_default(),
            source_node_id: text("source_node_id"),
            reputation: row.get("reputation_score").and_then(Value::as_f64),
            confidence: 0.9,
            streak: 5,
            status: text("status"),
            summary: String::new(),
            row,
        }
    }

    #[test]
    fn a_row_is_passed_over_that_cannot_be_meant_for_us() {
        let usable = |value: &Value| is_usable(&row(value), "node_me");
        assert!(usable(&json!({"type": "Capsule"})));
        assert!(usable(&json!({"type": "Capsule", "status": "promoted", "source_node_id": "node_you"})));
        for value in [
            json!({"type": "Gene"}),
            json!({"type": "Capsule", "source_node_id": "node_me"}),
            json!({"type": "Capsule", "platform": "plan9"}),
            json!({"type": "Capsule", "env_fingerprint": {"platform": "plan9"}}),
        ] {
            assert!(!usable(&value), "{value}");
        }
    }

    fn capsule(more: &Value) -> Object {
        let mut capsule = json!({"type": "Capsule", "confidence": 0.8, "success_streak": 3, "trigger": ["log_error", SIGNATURE],
            "diff": "+x", "outcome": {"status": "success", "score": 0.85}});
        for (name, value) in more.as_object().unwrap() {
            capsule[name] = value.clone();
        }
        let mut capsule = capsule.as_object().cloned().unwrap();
        stamp(&mut capsule);
        capsule
    }

    const SIGNATURE: &str = "errsig:error: TypeError: x is not a function";

    fn query() -> ReuseQuery {
        let signals = vec![SIGNATURE.to_owned()];
        let problem = WantedProblem::from_run(None, &signals).unwrap();
        let policy = ReusePolicy { trusts_hub: true, ..ReusePolicy::default() };
        ReuseQuery { problem, signals, policy, joins: false }
    }

    #[test]
    fn a_capsule_is_scored_by_its_own_words_and_not_by_its_row() {
        let proven = |more: Value| {
            let capsule = capsule(&more);
            let row = row(&json!({"asset_id": capsule["asset_id"], "reputation_score": 50}));
            super::proven(&row, vec![capsule], &query()).map(|proven| (proven.mode, proven.score))
        };
        assert_eq!(proven(json!({"success_streak": 4})), Some((ReuseMode::Direct, 0.96)));
        assert_eq!(proven(json!({})), Some((ReuseMode::Reference, 0.72)));
        assert_eq!(proven(json!({"success_streak": 1_000_000_000})), Some((ReuseMode::Direct, 1.2)));
        assert_eq!(proven(json!({"success_streak": 1})), None, "the row's streak of 5 does not help");
        assert_eq!(proven(json!({"success_streak": 1e300})), None);
        assert_eq!(proven(json!({"confidence": "high"})), None);
        assert_eq!(proven(json!({"outcome": {"status": "failed", "score": 0.2}})), None);
        assert_eq!(proven(json!({"env_fingerprint": {"platform": "plan9"}})), None);
        assert_eq!(proven(json!({"type": "Gene"})), None);
        assert_eq!(proven(json!({"trigger": ["log_error"]})), None, "it was for something else");
        assert_eq!(proven(json!({"diff": ""})), None, "one summary line is no solution");
        let other = row(&json!({"asset_id": "sha256:00"}));
        assert!(super::proven(&other, vec![capsule(&json!({}))], &query()).is_none());
    }

    #[test]
    fn an_unrelated_promoted_capsule_does_not_beat_the_exact_error() {
        let about = |id: &str, trigger: Value| {
            let mut row = row(&json!({"asset_id": id, "type": "Capsule", "trigger": trigger}));
            if id == "exact" {
                (row.confidence, row.streak) = (0.8, 3);
            }
            row
        };
        let rows = vec![
            about("unrelated", json!(["log_error"])),
            about("another", json!(["errsig:error: ENOSPC: no space left on device"])),
            about("silent", Value::Null),
            about("exact", json!(["log_error", SIGNATURE])),
        ];
        let ranked: Vec<String> = rank_rows(rows, &query()).into_iter().map(|row| row.row.asset_id).collect();
        assert_eq!(ranked, ["exact"]);
    }

    #[test]
    fn each_problem_has_its_word() {
        let word = |problem: Problem| word_of(&problem);
        let of = |code| Problem::new(code, "(404 `said`) did not answer within");
        assert_eq!(word(of(Code::HubRefused).hub_status(503)), "hub_http_503");
        assert_eq!(word(of(Code::HubRefused)), "hub_refused");
        assert_eq!(word(of(Code::HubBusy)), "hub_http_429");
        assert_eq!(word(of(Code::HubBusy).hub_status(503)), "hub_http_503");
        assert_eq!(word(of(Code::HubUnreachable).hub_code(TIMEOUT)), "timeout");
        assert_eq!(word(of(Code::HubUnreachable).hub_code(TIMEOUT).hub_status(504)), "fetch_error");
        assert_eq!(word(of(Code::HubUnreachable)), "fetch_error");
        assert_eq!(word(of(Code::HubAnswerInvalid)), "hub_answer_invalid");
    }
}
