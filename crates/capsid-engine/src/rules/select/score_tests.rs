use super::*;

#[test]
fn distilled_genes_count_four_fifths_and_boosts_multiply() {
    assert_eq!(score("gene_a", 2, 0.0, 0.0), 2.0);
    assert_eq!(score("gene_distilled_a", 2, 0.0, 0.0), 1.6);
    assert_eq!(score("gene_a", 2, 0.5, 0.1), 3.3000000000000003);
}

#[test]
fn the_newest_mark_for_the_environment_counts_and_is_bounded() {
    let mark = |context: &str, boost| EpigeneticMark { context: context.to_owned(), boost };
    let marks = [mark("linux", 0.1), mark("linux", -9.0), mark("darwin", 0.3)];
    assert_eq!(mark_boost(&marks, "linux"), -0.5);
    assert_eq!(mark_boost(&marks, "win32"), 0.0);
}
