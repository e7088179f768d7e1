//! Goal 5: choosing among 100,000 genes with all kinds of patterns.

use crate::measure::{interleaved, seconds};
use crate::report::Row;
use crate::{Result, peer};
use capsid_engine::rules::select::{GeneIndex, GenePoolRef, SelectInput, Selection, select};
use capsid_engine::store::AssetStore;
use capsid_model::{Value, json};
use capsid_rules::memory::advice::Advice;
use std::hint::black_box;

const GENES: usize = 100_000;
/// One warm selection is too short to time alone.
const REPEATS: usize = 100;
const CATEGORIES: [&str; 3] = ["repair", "optimize", "innovate"];
const SIGNALS: [&str; 5] = [
    "log_error",
    "errsig:TypeError: topic_0042_alpha is not a function",
    "error_30043 while reading",
    "other_0077 was slow",
    "perf_bottleneck",
];

pub fn run() -> Result<Vec<Row>> {
    let home = tempfile::tempdir()?;
    let folder = home.path().join("assets/gep");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("genes.json"), json!({"version": 1, "genes": genes()}).to_string())?;

    let store = AssetStore::at(&folder);
    let cards = store.gene_cards()?;
    let index = GeneIndex::build(cards.clone());
    let plain = choose(GenePoolRef::Plain(&cards));
    let indexed = choose(GenePoolRef::Indexed(&index));
    if (&plain.selected, &plain.alternatives) != (&indexed.selected, &indexed.alternatives) {
        return Err("the index and the plain algorithm disagree".into());
    }

    let script = |name: &str, way: &str| peer::script(name, home.path(), &[&json!(SIGNALS).to_string(), way]);
    let of_node = script("select.mjs", "warm")?;
    if of_node["selected"] != json!(plain.selected) || of_node["alternatives"] != json!(plain.alternatives) {
        return Err(format!("Node chose {of_node}, we {:?}", plain.selected).into());
    }
    let time_of = |name: &'static str, way: &'static str| {
        Box::new(move || peer::number(&script(name, way)?, "seconds"))
    };

    let [warm, cold, js_warm, js_cold, evolver_warm, evolver_cold] = interleaved([
        Box::new(|| {
            let time = seconds(|| {
                (0..REPEATS).for_each(|_| drop(black_box(choose(GenePoolRef::Indexed(&index)))));
                Ok(())
            })?;
            Ok(time / REPEATS as f64)
        }),
        Box::new(|| {
            seconds(|| {
                let index = GeneIndex::build(store.gene_cards()?);
                black_box(choose(GenePoolRef::Indexed(&index)));
                Ok(())
            })
        }),
        time_of("select.mjs", "warm"),
        time_of("select.mjs", "cold"),
        time_of("evolver_select.cjs", "warm"),
        time_of("evolver_select.cjs", "cold"),
    ])?;
    let whole = peer::number(&script("evolver_select.cjs", "whole")?, "seconds")?;

    let row = |how: &str, ours: f64, peer: f64| Row {
        goal: "5",
        work: format!("select among 100k genes, {how}"),
        ours: ours * 1000.0,
        peer: Some(peer * 1000.0),
        unit: "ms",
        wanted: "",
        met: None,
        note: String::new(),
    };
    Ok(vec![
        Row {
            wanted: "<= 1/100 of Node (stretch 1/1000)",
            met: Some(warm * 100.0 <= evolver_warm),
            note: format!(
                "Node: the pattern matching of evolver 1.94.0 alone. Its whole selectGene, which also compares words, \
                 took {whole:.1} s in one round."
            ),
            ..row("warm", warm, evolver_warm)
        },
        Row {
            note: "Node: the plain algorithm in readable JavaScript, patterns compiled once; same winner and \
                   alternatives as ours."
                .to_owned(),
            ..row("warm, against plain JavaScript", warm, js_warm)
        },
        Row {
            wanted: "<= 1/2 of Node",
            met: Some(cold * 2.0 <= evolver_cold),
            note: "Read genes.json, prepare the patterns, select once. Node: loadGenes and pattern matching of evolver 1.94.0."
                .to_owned(),
            ..row("cold with load", cold, evolver_cold)
        },
        row("cold with load, against plain JavaScript", cold, js_cold),
    ])
}

fn choose(genes: GenePoolRef<'_>) -> Selection {
    select(SelectInput {
        signals: &SIGNALS.map(str::to_owned),
        genes,
        capsules: &[],
        advice: &Advice::default(),
        failed: &[],
        env_context: "linux/x64/rust-1.95",
        platform: "linux",
        drift: None,
    })
}

/// Genes of which every tenth has a regex, every tenth an alias, and all have substrings that many share.
fn genes() -> Vec<Value> {
    (0..GENES)
        .map(|at| {
            let topic = at % 5000;
            let mut patterns = vec![format!("topic_{topic:04}_alpha"), format!("Topic_{topic:04}_Beta")];
            match at % 10 {
                3 => patterns.push(format!("/err(or)?_{at}\\b/i")),
                5 => patterns.push(format!("/^perf_[a-z]+_{at}$/")),
                6 => patterns.push(format!("alias_{at} | other_{:04}|third_{at}", at % 777)),
                _ => {}
            }
            json!({
                "type": "Gene", "schema_version": "1.5.0", "id": format!("gene_{at:06}"),
                "category": CATEGORIES[at % 3],
                "signals_match": patterns,
                "strategy": ["Find the cause", "Make the smallest change", "Run the tests"],
                "constraints": {"max_files": 3, "forbidden_paths": [".git", "node_modules"]},
                "validation": ["npm test"],
            })
        })
        .collect()
}
