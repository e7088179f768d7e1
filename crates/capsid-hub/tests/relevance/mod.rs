//! How well the search finds: recall and mean reciprocal rank over questions with known answers.
//!
//! Half of the questions are set aside: nothing is chosen by looking at them, they are only measured. See `README.md`.

use crate::common::{Bundle, On, TestHub};
use capsid_testkit::rounds::is_soak;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// How much better the search by meaning has to be than that by words, on the half that is set aside.
const BETTER_BY: f64 = 0.10;
/// How many answers are looked at.
const LOOKED_AT: usize = 20;

#[derive(Deserialize)]
struct SampleAsset {
    key: String,
    category: String,
    signals: Vec<String>,
    gene: String,
    strategy: Vec<String>,
    summary: String,
    content: Option<String>,
    env: Value,
}

#[derive(Deserialize)]
struct Query {
    half: String,
    lang: String,
    kind: String,
    query: String,
    relevant: Vec<String>,
}

fn lines<T: for<'de> Deserialize<'de>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bundle(told: &SampleAsset) -> Bundle {
    let signals = &told.signals;
    // A hub takes no shorter ones.
    let gene = match told.gene.chars().count() < 10 {
        true => format!("{}，{}", told.gene, told.strategy.first().unwrap()),
        false => told.gene.clone(),
    };
    let mut capsule = json!({
        "type": "Capsule", "schema_version": "1.5.0", "trigger": signals, "summary": told.summary,
        "confidence": 0.85, "blast_radius": {"files": 1, "lines": 10},
        "outcome": {"status": "success", "score": 0.85}, "env_fingerprint": told.env, "success_streak": 3,
    });
    if let Some(content) = &told.content {
        capsule["content"] = json!(content);
    }
    Bundle::from_assets(
        json!({
            "type": "Gene", "schema_version": "1.5.0", "category": told.category, "signals_match": signals,
            "summary": gene, "strategy": told.strategy, "validation": ["node tests/retry.test.js"],
        }),
        capsule,
        json!({
            "type": "EvolutionEvent", "intent": told.category, "outcome": {"status": "success", "score": 0.85},
            "mutations_tried": 1, "total_cycles": 1,
        }),
    )
}

/// Publishes all bundles and gives the key of each capsule.
fn fill(hub: &TestHub) -> HashMap<String, String> {
    let told: Vec<SampleAsset> = lines(include_str!("bundles.jsonl"));
    let mut keys = HashMap::new();
    for (n, told) in told.into_iter().enumerate() {
        let bundle = bundle(&told);
        hub.publish(&format!("node_{}", n / 20), &bundle).expect(200);
        keys.insert(bundle.capsule_id().to_owned(), told.key);
    }
    hub.follow();
    let candidates = hub.get("/a2a/assets?type=Capsule&status=candidate&limit=1").expect(200);
    assert_eq!(candidates["total"], keys.len(), "all of them can be found");
    keys
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The keys of what is found, the best first.
fn found(hub: &TestHub, keys: &HashMap<String, String>, mode: &str, query: &str) -> Vec<String> {
    let answer = hub
        .get(&format!(
            "/a2a/assets/semantic-search?type=Capsule&status=candidate&limit={LOOKED_AT}&fields=asset_id&mode={mode}&q={}",
            encoded(query)
        ))
        .expect(200);
    let rows = answer["assets"].as_array().unwrap();
    rows.iter().map(|row| keys[row["asset_id"].as_str().unwrap()].clone()).collect()
}

/// What a group of questions comes to.
#[derive(Debug, Default, Clone, Copy)]
struct Measure {
    queries: usize,
    recall: f64,
    reciprocal: f64,
}

impl Measure {
    fn add(&mut self, query: &Query, found: &[String]) {
        let is_answer = |key: &&String| query.relevant.contains(key);
        self.queries += 1;
        self.recall += found.iter().take(5).filter(is_answer).count() as f64 / query.relevant.len() as f64;
        self.reciprocal += found
            .iter()
            .position(|key| query.relevant.contains(key))
            .map_or(0.0, |at| 1.0 / (at as f64 + 1.0));
    }

    fn recall(&self) -> f64 {
        self.recall / self.queries.max(1) as f64
    }

    fn mrr(&self) -> f64 {
        self.reciprocal / self.queries.max(1) as f64
    }
}

/// Measures of groups of questions, by group and mode.
type Table = BTreeMap<(String, &'static str), Measure>;

fn measured(hub: &TestHub) -> Table {
    let keys = fill(hub);
    let mut table = Table::new();
    for query in &lines::<Query>(include_str!("queries.jsonl")) {
        for mode in ["keyword", "hybrid"] {
            let found = found(hub, &keys, mode, &query.query);
            let half = &query.half;
            for group in [half.clone(), format!("{half}, {}", query.lang), format!("{half}, {}", query.kind)]
            {
                table.entry((group, mode)).or_default().add(query, &found);
            }
        }
    }
    table
}

fn print(table: &Table) {
    println!(
        "{:<20} {:>7}  {:>16} {:>16}  {:>12} {:>12}",
        "", "queries", "recall@5 keyword", "recall@5 hybrid", "MRR keyword", "MRR hybrid"
    );
    for ((group, mode), hybrid) in table {
        if *mode == "hybrid" {
            let keyword = table.get(&(group.clone(), "keyword")).copied().unwrap_or_default();
            println!(
                "{group:<20} {:>7}  {:>16.3} {:>16.3}  {:>12.3} {:>12.3}",
                hybrid.queries,
                keyword.recall(),
                hybrid.recall(),
                keyword.mrr(),
                hybrid.mrr()
            );
        }
    }
}

fn is_good_enough(table: &Table) {
    let mrr = |mode| table[&("aside".to_owned(), mode)].mrr();
    let (keyword, hybrid) = (mrr("keyword"), mrr("hybrid"));
    assert!(hybrid >= keyword + BETTER_BY, "by meaning {hybrid:.3}, by words {keyword:.3}");
}

#[test]
fn meaning_finds_better_than_words() {
    let table = measured(&TestHub::start(On::Sqlite, |_| {}));
    print(&table);
    is_good_enough(&table);
}

#[test]
fn meaning_finds_better_than_words_on_postgresql() {
    // That both databases give the same order is tested elsewhere; the long way round is for soaking.
    if !is_soak() {
        return;
    }
    let table = measured(&TestHub::start(On::Postgres, |_| {}));
    print(&table);
    is_good_enough(&table);
}
