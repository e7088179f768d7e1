//! `capsid node search`.

use super::connection::HubConnectionArgs;
use super::fetch::KINDS;
use super::print::{self, line};
use super::redact_outbound::OutboundRedactor;
use crate::commands::store::listing::time;
use crate::commands::workspace;
use crate::output::{self, DIM, GOOD, NAME, paint};
use capsid_client::NodeClient;
use capsid_client::calls::{SearchRow, row};
use capsid_engine::exchange::reuse::{ReuseMode, ReusePolicy};
use capsid_model::{Result, Time, Value, json};
use capsid_rules::assets::traits::CATEGORIES;
use clap::Args;
use std::path::Path;

/// Look for solutions of others; it costs nothing and counts as no use.
///
/// Under each result stands what the hub proved: who else tested it, or that nobody did. Confidence and streak are what the
/// publisher declares. The score is confidence x 0.6 x streak (1 to 5) x the publisher's reputation / 100, which a public
/// hub sends only as far as others bear them out. From 0.72 on, `capsid evolve` shows a capsule in its prompt as a
/// reference; from 0.85 on it offers to apply one directly that you promoted, or any with `trust = true` under `[hub]`;
/// below it is left alone. Signals are cleaned of secrets, names and paths before they are sent. With --meaning the order is
/// the hub's, and a line under each result says why it was found.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node search log_error TimeoutError        what answers these signals
  capsid node search TimeoutError --type Capsule   solutions only
  capsid node search --meaning 'upload hangs'      by what is meant, whatever the words, in any language
  capsid node search --meaning 'out of memory' --category repair --environment linux_x64
                                                   repairs that are known to work there
  capsid node search --meaning 'slow query' --type Gene --since 2026-02-01
                                                   general ways that were published since then
  capsid node search --text 'retry with backoff'   by words of summaries and signals
  capsid node search TimeoutError --json           everything that the hub tells, with the score")]
pub struct NodeSearchArgs {
    /// What went wrong: names of signals, or the error's own text.
    #[arg(value_name = "SIGNAL", required_unless_present_any = ["text", "meaning"])]
    signals: Vec<String>,
    /// Search by what is meant instead: describe the trouble in your own words.
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["signals", "text"])]
    meaning: Option<String>,
    /// Search by words instead.
    #[arg(long, value_name = "QUERY", conflicts_with = "signals")]
    text: Option<String>,
    /// Only this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = KINDS)]
    kind: Option<String>,
    /// With --meaning or --text: only this kind of change.
    #[arg(long, value_name = "CATEGORY", conflicts_with = "signals", value_parser = CATEGORIES)]
    category: Option<String>,
    /// With --meaning or --text: only what was published from this time on, such as 2026-02-07 or 2026-02-07T15:20:54Z.
    #[arg(long, value_name = "TIME", conflicts_with = "signals", value_parser = time)]
    since: Option<Time>,
    /// With --meaning or --text: only what was published before this time.
    #[arg(long, value_name = "TIME", conflicts_with = "signals", value_parser = time)]
    until: Option<Time>,
    /// With --meaning or --text: only what was made there or is known to work there, such as linux_x64.
    #[arg(long, value_name = "PLATFORM_ARCH", conflicts_with = "signals")]
    environment: Option<String>,
    /// How many at most: 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    limit: u16,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

impl NodeSearchArgs {
    /// Whether only some of what answers is wanted.
    fn is_narrowed(&self) -> bool {
        let is_some = [self.kind.is_some(), self.category.is_some(), self.environment.is_some()];
        is_some.contains(&true) || self.since.is_some() || self.until.is_some()
    }
}

/// Runs the command.
pub fn run(arguments: &NodeSearchArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    // Outside of a repository nothing was promoted.
    let policy = workspace(folder).map(|workspace| ReusePolicy::load(&workspace)).unwrap_or_default();
    let mut hits = find(arguments, &node)?;
    if arguments.meaning.is_none() {
        hits.sort_by(|one, other| value(&policy, other).total_cmp(&value(&policy, one)));
    }
    if output::is_json() {
        let rows: Vec<Value> = hits.iter().map(|row| document(&policy, row)).collect();
        output::document(&json!({"count": rows.len(), "results": rows}));
    } else {
        print(&policy, &hits, arguments.is_narrowed());
    }
    Ok(0)
}

fn find(arguments: &NodeSearchArgs, node: &NodeClient) -> Result<Vec<SearchRow>> {
    let (kind, limit) = (arguments.kind.as_deref(), usize::from(arguments.limit));
    let mut redactor = OutboundRedactor::default();
    let (words, mode) = match (&arguments.meaning, &arguments.text) {
        (Some(words), _) => (words, "hybrid"),
        (None, Some(words)) => (words, "keyword"),
        (None, None) => {
            let signals = redactor.some_signals(&arguments.signals)?;
            redactor.print_removed();
            return node.search(&signals, kind, limit);
        }
    };
    let (words, limit_text) = (redactor.text(words), limit.to_string());
    redactor.print_removed();
    let [since, until] = [arguments.since, arguments.until].map(|time| time.map(Time::iso));
    let filters = [
        ("type", kind),
        ("category", arguments.category.as_deref()),
        ("since", since.as_deref()),
        ("until", until.as_deref()),
        ("environment", arguments.environment.as_deref()),
    ];
    let mut query = vec![("q", words.as_str()), ("mode", mode), ("limit", &limit_text)];
    query.extend(filters.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let answer = node.get("/a2a/assets/semantic-search", &query)?;
    Ok(print::list(&answer, "assets").iter().filter_map(row).take(limit).collect())
}

fn value(policy: &ReusePolicy, row: &SearchRow) -> f64 {
    policy.score(row.confidence, row.streak, row.reputation)
}

/// Only a capsule is a solution, and only a solution has a score.
fn is_solution(row: &SearchRow) -> bool {
    row.kind == "Capsule"
}

/// What a cycle would make of it.
fn meaning(policy: &ReusePolicy, row: &SearchRow) -> &'static str {
    match is_solution(row) {
        true => policy.mode(&row.asset_id, value(policy, row)).map_or("below", ReuseMode::as_str),
        false => "-",
    }
}

fn document(policy: &ReusePolicy, row: &SearchRow) -> Value {
    let mut document = row.row.clone();
    document.insert("reuse_score".to_owned(), is_solution(row).then(|| value(policy, row)).into());
    document.insert("reuse_mode".to_owned(), meaning(policy, row).into());
    document.into()
}

fn print(policy: &ReusePolicy, hits: &[SearchRow], is_narrowed: bool) {
    if hits.is_empty() {
        output::talk(match is_narrowed {
            true => "Nothing fits all of this. Leave out an option to see more.",
            false => "Nobody has published a solution for this yet.",
        });
        return;
    }
    let cells = |row: &SearchRow| {
        let mode = match meaning(policy, row) {
            "direct" => paint(GOOD, "direct"),
            "reference" => paint(NAME, "reference"),
            other => paint(DIM, other),
        };
        let publisher = row.source_node_id.as_deref().map_or_else(|| "unknown".to_owned(), |id| line(id, 40));
        let reputation =
            row.reputation.map_or_else(String::new, |it| format!(" ({})", print::amount(it.round())));
        vec![
            if is_solution(row) { format!("{:.3}", value(policy, row)) } else { "-".to_owned() },
            mode,
            line(&row.kind, 20),
            declared(row),
            format!("{publisher}{reputation}"),
            line(&row.summary, 90),
        ]
    };
    let ids: Vec<String> = hits.iter().map(below).collect();
    let head = ["score", "use", "type", "declared", "publisher", "summary"];
    print::table(&head, hits.iter().map(cells).collect(), &ids);
    if let Some(best) = hits.first() {
        print::next(format_args!("capsid node fetch {}", line(&best.asset_id, 100)));
    }
}

/// Confidence and streak as the publisher declares them. A hub that sends them only as far as others bear them out has
/// them apart.
fn declared(row: &SearchRow) -> String {
    let apart = row.row.get("declared");
    let number = |name: &str| apart?.get(name)?.as_f64().filter(|number| number.is_finite());
    let confidence = number("confidence").unwrap_or(row.confidence);
    let streak = number("success_streak").map_or(row.streak, |streak| streak.clamp(0.0, 1e6) as u64);
    format!("{confidence:.2} x {streak}")
}

/// The lines under a row: its id, why it matched where the hub explains it, and what the hub proved.
fn below(row: &SearchRow) -> String {
    let id = line(&row.asset_id, 100);
    let found = match row.row.get("why").map(explain_hit).filter(|why| !why.is_empty()) {
        Some(why) => format!("{id}  {why}"),
        None => id,
    };
    format!("{found}\n  hub: {}", proven(row))
}

/// What the hub proved of an asset, in its own words.
fn proven(row: &SearchRow) -> String {
    let text = row.row.get("trust").and_then(|trust| trust.get("text")).and_then(Value::as_str);
    text.filter(|text| !text.trim().is_empty())
        .map_or_else(|| "It does not say whether anybody tested this.".to_owned(), |text| line(text, 200))
}

/// Why something was found, in a line: the words it answers, the way through the graph, how near it is.
fn explain_hit(reasons: &Value) -> String {
    let words: Vec<String> = print::list(reasons, "words")
        .iter()
        .filter_map(Value::as_str)
        .take(8)
        .map(|word| line(word, 30))
        .collect();
    let steps: Vec<String> = print::list(reasons, "path").iter().take(4).map(step).collect();
    let similarity = reasons.get("similarity").and_then(Value::as_f64);
    let parts = [
        (!words.is_empty()).then(|| format!("says {}", words.join(", "))),
        (!steps.is_empty()).then(|| steps.join(", ")),
        similarity.map(|similarity| format!("{:.0} % alike", similarity * 100.0)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A step of the path; what somebody reported to the hub names its reporter.
fn step(relation: &Value) -> String {
    let name = |end: &str| {
        let name = relation.get(end).and_then(|end| end.get("name")).and_then(Value::as_str);
        line(name.unwrap_or("?"), 40)
    };
    let kind = relation.get("kind").and_then(Value::as_str).unwrap_or("?").replace('_', " ");
    let sentence = format!("{} {} {}", name("from"), line(&kind, 30), name("to"));
    if relation.get("told").and_then(Value::as_bool) != Some(true) {
        return sentence;
    }
    let by = relation.get("said_by").and_then(Value::as_str).unwrap_or("somebody");
    format!("{sentence} (reported by {})", line(by, 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_means_what_a_cycle_would_make_of_it() {
        let of = |kind: &str, confidence: f64, streak: u64, reputation: f64| {
            let id = format!("sha256:{:064}", 0);
            let response = json!({"asset_id": id, "type": kind, "confidence": confidence,
                "success_streak": streak, "reputation_score": reputation});
            let policy = ReusePolicy { trusts_hub: true, ..ReusePolicy::default() };
            meaning(&policy, &row(&response).unwrap())
        };
        assert_eq!(of("Capsule", 0.85, 3, 80.0), "direct");
        assert_eq!(of("Capsule", 0.85, 2, 100.0), "direct");
        assert_eq!(of("Capsule", 0.9, 2, 70.0), "reference");
        assert_eq!(of("Capsule", 0.9, 1, 50.0), "below");
        assert_eq!(of("Gene", 0.9, 5, 100.0), "-");
    }

    #[test]
    fn a_row_tells_what_the_hub_proved_from_what_the_publisher_declares() {
        let shown = |more: &Value| {
            let mut response = json!({"asset_id": format!("sha256:{:064}", 0), "type": "Capsule",
                "confidence": 1.0, "success_streak": 50, "reputation_score": 50.0});
            response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let row = row(&response).unwrap();
            (declared(&row), proven(&row))
        };
        let silent = "It does not say whether anybody tested this.";
        assert_eq!(shown(&json!({})), ("1.00 x 50".to_owned(), silent.to_owned()));
        assert_eq!(shown(&json!({"trust": 7, "declared": 7})).1, silent);
        let borne_out = json!({"confidence": 0.1, "success_streak": 1,
            "declared": {"confidence": 1.0, "success_streak": 50},
            "trust": {"level": "untested", "text": "Not tested by anyone else.\u{1b}[2J"}});
        let (declared, proven) = shown(&borne_out);
        assert_eq!(declared, "1.00 x 50");
        assert!(proven.starts_with("Not tested by anyone else.") && !proven.contains('\u{1b}'), "{proven}");
    }

    #[test]
    fn a_row_says_why_it_was_found() {
        let reasons = json!({"words": ["upload", "hangs"], "similarity": 0.914,
            "path": [{"from": {"name": "timeout"}, "kind": "solved_by", "to": {"name": "Retry \u{1b}[31mit"}}]});
        let sentence = explain_hit(&reasons);
        assert!(sentence.starts_with("says upload, hangs; timeout solved by Retry"), "{sentence}");
        assert!(sentence.ends_with("; 91 % alike") && !sentence.contains('\u{1b}'), "{sentence}");
        let step = |is_told: bool| {
            explain_hit(
                &json!({"path": [{"from": {"name": "gateway"}, "kind": "suffers_from", "to": {"name": "timeout"},
                "said_by": "user:u\u{1b}1", "told": is_told}]}),
            )
        };
        assert_eq!(step(false), "gateway suffers from timeout");
        assert!(step(true).starts_with("gateway suffers from timeout (reported by user:u"), "{}", step(true));
        assert!(!step(true).contains('\u{1b}'));
        assert_eq!(explain_hit(&json!({"words": [], "path": [], "similarity": null})), "");
        assert_eq!(explain_hit(&json!("odd")), "");
    }
}
