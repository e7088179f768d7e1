//! `capsid-bench report`: the page `docs/reference/performance.md`, from the results of a run.

use crate::results::{BenchResult, Machine, Results, RowResult};
use crate::{Result, root};
use std::fmt::Write;

/// The first argument that writes the page.
pub const NAME: &str = "report";

/// The results that the page was written from. They are kept beside it.
const KEPT: &str = "docs/reference/performance.json";
const PAGE: &str = "docs/reference/performance.md";

const INTRODUCTION: &str = "\
# Performance

`make bench` measures Capsid beside other programs, or beside a floor: the least that any program has to do for the same result.
All sides take turns in one run, so a ratio says more than a figure. This page is written by `capsid-bench report` from such a
run; [bench/README.md](../../bench/README.md) says what each bench does.
";

/// Writes the page from the results of the last run, and keeps these.
pub fn run() -> Result<()> {
    let results = Results::load(&root().join("bench/results.json"))?;
    if !results.machine.is_release {
        return Err("the results are of a debug build, which says nothing about speed".into());
    }
    results.save(&root().join(KEPT))?;
    std::fs::write(root().join(PAGE), page(&results)?)?;
    println!("wrote {PAGE} and {KEPT}");
    Ok(())
}

/// The whole page.
fn page(results: &Results) -> Result<String> {
    let Machine { processor, cores, memory_mb, kernel, .. } = &results.machine;
    let mut page = INTRODUCTION.to_owned();
    let rows = || results.benches.iter().flat_map(|bench| &bench.rows);
    let met = rows().filter(|row| row.met == Some(true)).count();
    let missed = rows().filter(|row| row.met == Some(false)).count();
    let gigabytes = memory_mb.div_ceil(1024);
    writeln!(
        page,
        "\n- Machine: {processor}, {cores} cores, {gigabytes} GB of memory, Linux {kernel}\n- Commit: `{}`\n- Goals: {met} met, \
         {missed} missed",
        results.commit
    )?;
    for bench in &results.benches {
        section(&mut page, bench)?;
    }
    Ok(page)
}

fn section(page: &mut String, bench: &BenchResult) -> Result<()> {
    let day = bench.date.split('T').next().unwrap_or_default();
    writeln!(page, "\n## {}\n\n{day}, {:.0} s.\n", bench.name, bench.seconds)?;
    writeln!(page, "| goal | work | ours | peer or floor | ratio | wanted | |")?;
    writeln!(page, "|---|---|---|---|---|---|---|")?;
    for row in &bench.rows {
        let verdict = match row.met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        let peer = row.peer.map_or(String::new(), |peer| figure(peer, row));
        let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}x"));
        let (goal, work, wanted) = (cell(&row.goal), cell(&row.work), cell(&row.wanted));
        writeln!(
            page,
            "| {goal} | {work} | {} | {peer} | {ratio} | {wanted} | {verdict} |",
            figure(row.ours, row)
        )?;
    }
    let notes: Vec<&RowResult> = bench.rows.iter().filter(|row| !row.note.is_empty()).collect();
    if !notes.is_empty() {
        writeln!(page)?;
    }
    for row in notes {
        writeln!(page, "- {}: {}", cell(&row.work), cell(&row.note))?;
    }
    Ok(())
}

fn figure(value: f64, row: &RowResult) -> String {
    let unit = &row.unit;
    match value {
        large if large >= 100.0 => format!("{large:.0} {unit}"),
        small => format!("{small:.3} {unit}"),
    }
}

/// A text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Results {
        let row = |work: &str, ours: f64, peer: Option<f64>, met: Option<bool>| RowResult {
            goal: "3a".to_owned(),
            work: work.to_owned(),
            unit: "/s".to_owned(),
            ours,
            peer,
            ratio: peer.map(|peer| ours / peer),
            wanted: ">= 3x the floor".to_owned(),
            met,
            note: if met.is_none() { "Only told.".to_owned() } else { String::new() },
        };
        Results {
            machine: Machine {
                processor: "Some CPU".to_owned(),
                cores: 2,
                memory_mb: 24_100,
                kernel: "6.1".to_owned(),
                is_release: true,
            },
            commit: "0123456789ab".to_owned(),
            benches: vec![BenchResult {
                name: "hub-publish".to_owned(),
                date: "2026-11-20T01:02:03.000Z".to_owned(),
                seconds: 61.4,
                rows: vec![
                    row("publish a|b", 2000.0, Some(1000.0), Some(false)),
                    row("other", 0.5, None, Some(true)),
                    row("third", 1.0, None, None),
                ],
            }],
        }
    }

    #[test]
    fn a_page_says_where_what_and_how_each_goal_stands() {
        let page = page(&sample()).unwrap();
        for line in [
            "- Machine: Some CPU, 2 cores, 24 GB of memory, Linux 6.1",
            "- Commit: `0123456789ab`",
            "- Goals: 1 met, 1 missed",
            "## hub-publish",
            "2026-11-20, 61 s.",
            "| 3a | publish a\\|b | 2000 /s | 1000 /s | 2.00x | >= 3x the floor | **missed** |",
            "| 3a | other | 0.500 /s |  |  | >= 3x the floor | met |",
            "- third: Only told.",
        ] {
            assert!(page.lines().any(|each| each == line), "`{line}` is not in\n{page}");
        }
    }

    #[test]
    fn the_page_is_the_one_of_the_results_beside_it() {
        let (results, text) = (root().join(KEPT), std::fs::read_to_string(root().join(PAGE)));
        match text {
            Ok(text) => assert_eq!(
                text,
                page(&Results::load(&results).unwrap()).unwrap(),
                "run `capsid-bench report`"
            ),
            Err(_) => assert!(!results.exists(), "there are results and no page; run `capsid-bench report`"),
        }
    }
}
