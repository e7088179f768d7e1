//! The index gives what the plain algorithm gives, whatever the genes and signals hold.

use capsid_engine::rules::select::{
    FailedCapsule, GeneCard, GeneIndex, GenePoolRef, SelectInput, Selection, select,
};
use capsid_model::gene::EpigeneticMark;
use capsid_rules::memory::advice::{Advice, GeneAdvice};
use proptest::collection::vec;
use proptest::prelude::*;

const ODD: [&str; 40] = [
    "",
    "//",
    "/",
    "/x",
    "|",
    " | ",
    "a| |B",
    "/(/",
    "/[/",
    "/a{2}/",
    "/a{/",
    r"/\d+/",
    r"/\w\b/",
    r"/[^a]/",
    "/a|b/g",
    "/A/u",
    "/^a.*b$/ms",
    "/(?=a)/",
    r"/(a)\1/",
    "/(ab)+|ſs/",
    "/s/",
    "/S/gi",
    "/σ/",
    "/ΑΣ/",
    "/k|Å/",
    "/.*/",
    "/[sſ]t/",
    "/a?b?/",
    "/é+/i",
    "/错误|异常/",
    "/ß/",
    "/İ/",
    "İ",
    "ΑΣ",
    "ς",
    "ß",
    "/(err|warn)ing?: (x|y)/",
    "/a/ii",
    "/((a{99}){99}){99}/",
    "/\\/",
];

const SIGNALS: [&str; 16] = [
    "log_error",
    "aab",
    "b",
    "A B",
    "",
    "ſtart",
    "ΑΣ",
    "ας Σα",
    "K Å",
    "错误：文件",
    "İx",
    "straße",
    "erring: x|y",
    "user_missing",
    "ban_gene:gene_1",
    "/(/ a{ \\",
];

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(&ODD[..]).prop_map(str::to_owned),
        "[aAbBsSkß错σ]{1,4}",
        "/\\^?[abS]{0,2}[.]?[*+]?[aBs]{0,2}[$]?/i?",
        "[abs]{0,2}\\|[ABS ]{0,2}\\|[x错]{0,2}",
        "/[abs.+?*()\\[\\]^$\\\\dwσ|-]{0,8}/[imsug]{0,2}",
    ]
}

fn signal() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(&SIGNALS[..]).prop_map(str::to_owned), "[aAbBsSſkKß错σς\\-1]{0,8}",]
}

fn gene() -> impl Strategy<Value = GeneCard> {
    let id = prop_oneof!["gene_[0-9]", "gene_distilled_[0-9]"];
    let mark = prop_oneof![Just(None), (-0.7..0.7).prop_map(Some)];
    (id, vec(pattern(), 0..5), mark).prop_map(|(id, patterns, mark)| GeneCard {
        id,
        patterns,
        marks: mark.map(|boost| EpigeneticMark { context: "here".to_owned(), boost }).into_iter().collect(),
    })
}

fn advice() -> impl Strategy<Value = Advice> {
    let known = vec(("gene_[0-9]", 0.0..1.2, 0..2_u64), 0..4);
    (known, vec("gene_[0-9]", 0..3)).prop_map(|(known, banned)| Advice {
        preferred: None,
        banned,
        genes: known
            .into_iter()
            .map(|(gene, combined, successes)| {
                (gene, GeneAdvice { combined, successes, ..GeneAdvice::default() })
            })
            .collect(),
    })
}

fn choose(genes: GenePoolRef<'_>, signals: &[String], advice: &Advice, drift: Option<u64>) -> Selection {
    let failed =
        FailedCapsule { gene: "gene_2".to_owned(), trigger: signals.to_vec(), ..FailedCapsule::default() };
    select(SelectInput {
        signals,
        genes,
        capsules: &[],
        advice,
        failed: &[failed.clone(), failed],
        env_context: "here",
        platform: "linux",
        drift,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_index_selects_as_the_plain_algorithm_does(
        cards in vec(gene(), 0..30),
        signals in vec(signal(), 0..5),
        advice in advice(),
        drift in proptest::option::of(0..9_u64),
    ) {
        let index = GeneIndex::build(cards.clone());
        let plain = choose(GenePoolRef::Plain(&cards), &signals, &advice, drift);
        prop_assert_eq!(&choose(GenePoolRef::Indexed(&index), &signals, &advice, drift), &plain);
        prop_assert_eq!(&plain.replay(), &plain);
    }
}

#[test]
fn a_pool_with_more_matches_than_are_kept_selects_the_same() {
    let card = |n: usize| GeneCard {
        id: format!("gene_{n}"),
        patterns: vec!["error".to_owned(); 1 + n % 7],
        marks: Vec::new(),
    };
    let cards: Vec<GeneCard> = (0..900).map(card).collect();
    let index = GeneIndex::build(cards.clone());
    let signals = ["log_error".to_owned()];
    let best: Vec<String> = (0..400).map(|n| format!("gene_{}", n * 7 / 3)).collect();
    for banned in [Vec::new(), best] {
        let advice = Advice { banned, ..Advice::default() };
        let plain = choose(GenePoolRef::Plain(&cards), &signals, &advice, None);
        assert_eq!(plain.scores.len(), 200);
        assert!(plain.selected.is_some());
        assert_eq!(choose(GenePoolRef::Indexed(&index), &signals, &advice, None), plain);
    }
}
