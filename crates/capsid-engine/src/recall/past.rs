//! What this repository's past tells about some words: what was tried and how it ended. Reads only, and no more than a
//! bounded part of it, the newest first.

use crate::memory::graph::{Edge, GraphStats};
use crate::solidify::narrative;
use crate::store::events::object;
use crate::store::lines::{self, Backwards};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::event::Event;
use capsid_model::redact::{Profile, redact};
use capsid_model::text::{collapse, cut};
use capsid_model::{Object, Result, Value};
use capsid_rules::meaning::{Corpus, Judge, Meaning, Question, Text};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// The most lines of a log that are looked through, and their bytes.
const MOST_LINES: usize = 20_000;
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// How much of a text is searched, and how much of it is shown.
const SEARCHED: usize = 6000;
const SHOWN: usize = 300;
/// What answers less than this share of what the best one does is no answer.
const WORTH: f64 = 0.2;
/// How many answers of one conversation are told.
const OF_ONE: usize = 2;

/// Where something was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the event log.
    Event,
    /// In the narrative.
    Narrative,
    /// In the memory graph.
    Memory,
    /// In a sealed record of what an agent did.
    Trail,
}

impl Place {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Narrative => "narrative",
            Self::Memory => "memory",
            Self::Trail => "trail",
        }
    }
}

/// Something that was written down. Its text holds no secrets; whoever shows it makes it inert first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Where.
    pub place: Place,
    /// Its name there.
    pub id: String,
    /// When, as ISO text, where that is known.
    pub at: Option<String>,
    /// How it ended, where that is known.
    pub ended: Option<String>,
    /// What it says, in a line.
    pub text: String,
    /// The command that shows it.
    pub show: String,
}

/// What answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// What was written down.
    #[serde(flatten)]
    pub piece: Piece,
    /// How well it answers; comparable within one search only.
    pub score: f64,
    /// The words that it answers.
    pub words: Vec<String>,
}

/// A search through texts that come one after the other. Only those that may answer are held.
#[derive(Debug)]
pub struct Search {
    question: Question,
    asked: HashSet<String>,
    corpus: Corpus,
    held: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    piece: Piece,
    meaning: Meaning,
    /// What belongs together, such as the records of one conversation.
    group: Option<String>,
}

impl Search {
    /// A search for words and signals.
    pub fn new(words: &str, signals: &[String]) -> Self {
        let question = Question::of(&redact(words, Profile::Secrets), signals);
        let asked = question.terms.iter().map(|asked| asked.term.clone()).collect();
        Self { question, asked, corpus: Corpus::default(), held: Vec::new() }
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.question.is_empty()
    }

    /// Looks at a text; what it comes from is worked out only where it may answer.
    pub fn look(&mut self, text: &Text<'_>, group: Option<&str>, piece: impl FnOnce() -> Piece) {
        let meaning =
            Meaning::of(&Text { title: cut(text.title, SEARCHED), body: cut(text.body, SEARCHED), ..*text });
        self.corpus.texts += 1;
        let mut answers = false;
        for term in meaning.terms().into_iter().filter(|term| self.asked.contains(*term)) {
            *self.corpus.counts.entry(term.to_owned()).or_default() += 1;
            answers = true;
        }
        if answers {
            self.held.push(Held { piece: piece(), meaning, group: group.map(str::to_owned) });
        }
    }

    /// The best answers; of equals the newer.
    pub fn best(self, limit: usize) -> Vec<Found> {
        let Self { question, corpus, held, .. } = self;
        let judge = Judge::new(&question, &corpus);
        let mut found: Vec<(Found, Option<String>)> = held
            .into_iter()
            .filter_map(|Held { piece, meaning, group }| {
                let answer = judge.judge(&meaning)?;
                Some((Found { piece, score: answer.score, words: answer.words }, group))
            })
            .collect();
        found.sort_by(|(one, _), (other, _)| {
            other.score.total_cmp(&one.score).then_with(|| other.piece.at.cmp(&one.piece.at))
        });
        let worth = found.first().map_or(0.0, |(best, _)| best.score * WORTH);
        let mut of_one: HashMap<String, usize> = HashMap::new();
        let mut told: Vec<Found> = Vec::new();
        for (mut one, group) in found {
            if told.len() == limit || one.score < worth {
                break;
            }
            let count = group.map(|group| {
                let count = of_one.entry(group).or_default();
                *count += 1;
                *count
            });
            if count.is_none_or(|count| count <= OF_ONE) {
                one.score = (one.score * 1000.0).round() / 1000.0;
                told.push(one);
            }
        }
        told
    }
}

/// A text as it may be shown: without secrets, on one line, cut.
pub fn shown(text: &str) -> String {
    let start = cut(text, 4 * SHOWN);
    cut(&redact(&collapse(start), Profile::Secrets), SHOWN).to_owned()
}

/// Looks through what was recorded of cycles: the event log, and what the narrative tells beyond it.
pub fn look_at_events(workspace: &Workspace, search: &mut Search) -> Result<()> {
    let capsules = workspace.store.capsules.documents()?;
    let summaries: HashMap<&str, &str> =
        capsules.iter().map(|capsule| (text_of(capsule, "id"), text_of(capsule, "summary"))).collect();
    let mut seen: HashSet<String> = HashSet::new();
    let mut reader = Backwards::open(workspace.store.events.path())?;
    let mut bytes = 0;
    for _ in 0..MOST_LINES {
        let Some(line) = reader.next_line()?.filter(|_| bytes < MOST_BYTES) else { break };
        bytes += line.len();
        let Some(document) = object(&line) else { continue };
        let Some(event) = Event::read(&document) else { continue };
        let summary = event.capsule_id.as_deref().and_then(|id| summaries.get(id).copied());
        look_at_event(search, &event, &document, summary.unwrap_or_default());
        seen.insert(event.id);
    }
    look_at_narrative(workspace, search, &seen)
}

fn look_at_event(search: &mut Search, event: &Event, document: &Object, summary: &str) {
    let meta = document.get("meta");
    let part = |name: &str| meta.and_then(|meta| meta.get(name));
    let reason = part("failure_reason").and_then(Value::as_str).unwrap_or_default();
    let own = text_of(document, "summary");
    let title = [summary, own, reason].into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let effect =
        part("mutation").and_then(|mutation| mutation.get("expected_effect")).and_then(Value::as_str);
    let mut body = vec![event.intent.as_str(), reason, effect.unwrap_or_default()];
    body.extend(event.genes_used.iter().map(String::as_str));
    let files = part("git").and_then(|git| git.get("files")).and_then(Value::as_array);
    body.extend(files.into_iter().flatten().filter_map(Value::as_str));
    let signals: Vec<&str> = event.signals.iter().map(String::as_str).collect();
    search.look(&Text { signals: &signals, title, body: &body.join("\n") }, None, || {
        let told = match title {
            "" => event.signals.join(", "),
            title => title.to_owned(),
        };
        let status = match &event.failure_class {
            Some(class) => format!("{} ({class})", event.outcome.status),
            None => event.outcome.status.clone(),
        };
        Piece {
            place: Place::Event,
            id: event.id.clone(),
            at: event.at.map(|at| at.iso()),
            ended: Some(shown(&status)),
            text: shown(&format!("{} by {}: {told}", event.intent, event.genes_used.join(", "))),
            show: format!("capsid events show {}", quoted(&event.id)),
        }
    });
}

/// The narrative tells of the same cycles; an entry counts where its event is not in the log.
fn look_at_narrative(workspace: &Workspace, search: &mut Search, events: &HashSet<String>) -> Result<()> {
    let told = files::read_optional(&workspace.paths.narrative())?.unwrap_or_default();
    for entry in narrative::entries(&told) {
        let (head, rest) = entry.split_once('\n').unwrap_or((entry, ""));
        let event = rest.split_once("Event: ").and_then(|(_, rest)| rest.split_whitespace().next());
        if event.is_some_and(|event| events.contains(event)) {
            continue;
        }
        let at = head.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(at, _)| at.to_owned());
        search.look(&Text { title: head, body: rest, ..Text::default() }, None, || Piece {
            place: Place::Narrative,
            id: shown(event.unwrap_or(head.trim_start_matches("# "))),
            ended: head.rsplit_once(" - ").map(|(_, ended)| shown(ended)),
            at,
            text: shown(entry),
            show: format!("less {}", quoted(&workspace.paths.narrative().display().to_string())),
        });
    }
    Ok(())
}

/// Looks through the memory graph: which gene was tried on which signals, and what was told of it.
pub fn look_at_memory(workspace: &Workspace, search: &mut Search) -> Result<()> {
    let path = workspace.paths.memory_graph();
    let mut statistics = GraphStats::default();
    let mut bytes = 0;
    lines::scan(&path, |line| {
        bytes += line.len();
        if let Some(record) = object(line) {
            look_at_words(search, &record, &path.display().to_string());
            statistics.add(&record);
        }
        if bytes < MOST_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    for ((_, gene), edge) in &statistics.edges {
        look_at_edge(search, gene, edge);
    }
    Ok(())
}

/// What somebody told about an outcome in words.
fn look_at_words(search: &mut Search, record: &Object, path: &str) {
    let outcome = record.get("outcome");
    let Some(summary) = outcome.and_then(|outcome| outcome.get("summary")).and_then(Value::as_str) else {
        return;
    };
    let listed = record.get("signal").and_then(|signal| signal.get("signals")).and_then(Value::as_array);
    let signals: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    search.look(&Text { signals: &signals, title: summary, body: "" }, None, || Piece {
        place: Place::Memory,
        id: shown(text_of(record, "id")),
        at: Some(shown(text_of(record, "ts"))).filter(|at| !at.is_empty()),
        ended: outcome.and_then(|outcome| outcome.get("status")).and_then(Value::as_str).map(shown),
        text: shown(summary),
        show: format!("grep {} {}", quoted(text_of(record, "id")), quoted(path)),
    });
}

fn look_at_edge(search: &mut Search, gene: &str, edge: &Edge) {
    let signals: Vec<&str> = edge.signals.iter().map(String::as_str).collect();
    search.look(&Text { signals: &signals, title: gene, body: "" }, None, || {
        let tally = edge.tally;
        let ended = match (tally.success, tally.fail) {
            (_, 0) => "success",
            (0, _) => "failed",
            _ => "mixed",
        };
        let (went_well, all) = (tally.success, tally.attempts());
        Piece {
            place: Place::Memory,
            id: shown(gene),
            at: tally.last.map(|at| at.iso()),
            ended: Some(ended.to_owned()),
            text: shown(&format!("{gene} on {}: {went_well} of {all} went well", signals.join(", "))),
            show: format!("capsid events --gene {}", quoted(gene)),
        }
    });
}

/// Signals that this repository knows: of its genes, its solutions, its last cycles and its memory, in lower case.
pub fn known_signals(workspace: &Workspace) -> Result<HashSet<String>> {
    let mut known: HashSet<String> = HashSet::new();
    let mut add =
        |names: &mut dyn Iterator<Item = &String>| known.extend(names.map(|name| name.to_lowercase()));
    for card in workspace.store.gene_cards()? {
        add(&mut card.patterns.iter());
    }
    for capsule in workspace.store.capsules.documents()? {
        add(&mut capsid_model::capsule::Capsule::read(&capsule).trigger.iter());
    }
    for event in workspace.store.events.recent(200)? {
        add(&mut event.signals.iter());
    }
    for edge in workspace.graph().statistics_as_is()?.edges.values() {
        add(&mut edge.signals.iter());
    }
    Ok(known)
}

/// A name as a shell takes it.
pub fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,".contains(c);
    match !name.is_empty() && !name.starts_with('-') && name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

fn text_of<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(id: &str, at: &str) -> Piece {
        Piece {
            place: Place::Trail,
            id: id.to_owned(),
            at: Some(at.to_owned()),
            ended: None,
            text: String::new(),
            show: String::new(),
        }
    }

    fn found(words: &str, texts: &[(&str, Option<&str>)]) -> Vec<usize> {
        let mut search = Search::new(words, &[]);
        for (n, (title, group)) in texts.iter().enumerate() {
            search.look(&Text { title, ..Text::default() }, *group, || piece(&n.to_string(), &n.to_string()));
        }
        search.best(9).into_iter().map(|found| found.piece.id.parse().unwrap()).collect()
    }

    #[test]
    fn what_answers_more_words_comes_first_and_of_equals_the_newer() {
        let texts = [
            ("the cart total is wrong", None),
            ("the cart is slow", None),
            ("nothing of the kind", None),
            ("the cart total is wrong", None),
        ];
        assert_eq!(found("cart total", &texts)[..2], [3, 0]);
        assert_eq!(found("zebra", &texts), Vec::<usize>::new());
        assert_eq!(found("", &texts), Vec::<usize>::new());
    }

    #[test]
    fn chinese_words_are_found() {
        let texts = [("购物车总价计算错误", None), ("登录页面很慢", None)];
        assert_eq!(found("购物车总价", &texts)[0], 0);
    }

    #[test]
    fn one_conversation_does_not_fill_the_list() {
        let texts =
            [("parser", Some("s1")), ("parser", Some("s1")), ("parser", Some("s1")), ("parser", Some("s2"))];
        assert_eq!(found("parser", &texts), [3, 2, 1]);
    }

    #[test]
    fn what_is_shown_holds_no_secret_and_a_command_no_surprise() {
        let text = shown(&format!("token ghp_{} in\n a line", "a1B2".repeat(9)));
        assert!(!text.contains("ghp_a1") && !text.contains('\n'), "{text}");
        assert_eq!(quoted("evt_1"), "evt_1");
        assert_eq!(quoted("a; rm -rf 'x'"), r"'a; rm -rf '\''x'\'''");
        assert_eq!(quoted("-x"), "'-x'");
    }
}
