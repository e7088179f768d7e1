//! How well vacuous validation commands are told from honest ones, on a labelled set.

use capsid_rules::evaluation::proof::{ProofLevel, finding};

/// One line each: a label, a tab, a command.
const LABELLED: &str = include_str!("proof_commands.tsv");

fn lines() -> impl Iterator<Item = &'static str> {
    LABELLED.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

fn labelled() -> Vec<(ProofLevel, &'static str)> {
    let read = |line: &'static str| {
        line.split_once('\t').and_then(|(label, command)| Some((ProofLevel::parse(label)?, command)))
    };
    lines().filter_map(read).collect()
}

#[test]
fn almost_every_command_is_told_right_and_no_honest_one_is_accused() {
    let labelled = labelled();
    let misses: Vec<_> = labelled
        .iter()
        .map(|(label, command)| (*label, finding(command)))
        .filter(|(label, finding)| finding.verdict != *label)
        .collect();
    for (label, finding) in &misses {
        println!(
            "{} taken for {}: {} ({})",
            label.as_str(),
            finding.verdict.as_str(),
            finding.command,
            finding.why
        );
    }
    let accused = misses.iter().filter(|(label, _)| *label == ProofLevel::Real).count();
    assert_eq!(accused, 0, "honest commands accused");
    assert!(misses.len() * 20 <= labelled.len(), "{} of {} wrong", misses.len(), labelled.len());
}

#[test]
fn the_set_is_large_and_even() {
    let labelled = labelled();
    assert_eq!(labelled.len(), lines().count(), "a line without a label");
    let real = labelled.iter().filter(|(label, _)| *label == ProofLevel::Real).count();
    assert!(labelled.len() >= 300 && real >= 150 && labelled.len() - real >= 150);
    let mut commands: Vec<_> = labelled.iter().map(|(_, command)| command).collect();
    commands.sort_unstable();
    commands.dedup();
    assert_eq!(commands.len(), labelled.len());
}
