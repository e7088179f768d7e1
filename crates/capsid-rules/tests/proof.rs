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
    // What is certain to be weak or vacuous is never taken for more.
    let weak = misses.iter().filter(|(label, _)| *label == ProofLevel::Weak).count();
    assert_eq!(weak, 0, "weak commands taken for something else");
    let accused = misses.iter().filter(|(label, _)| *label == ProofLevel::Real).count();
    assert_eq!(accused, 0, "honest commands accused");
    assert!(misses.len() * 20 <= labelled.len(), "{} of {} wrong", misses.len(), labelled.len());
}

#[test]
fn the_set_is_large_and_even() {
    let labelled = labelled();
    assert_eq!(labelled.len(), lines().count(), "a line without a label");
    let real = labelled.iter().filter(|(label, _)| *label == ProofLevel::Real).count();
    let weak = labelled.iter().filter(|(label, _)| *label == ProofLevel::Weak).count();
    assert!(labelled.len() >= 400 && real >= 150 && weak >= 50 && labelled.len() - real - weak >= 150);
    let mut commands: Vec<_> = labelled.iter().map(|(_, command)| command).collect();
    commands.sort_unstable();
    commands.dedup();
    assert_eq!(commands.len(), labelled.len());
}

/// The finding: `npm test --if-present`, `jest --passWithNoTests` and `mocha --dry-run` pass as real tests.
#[test]
fn commands_that_pass_without_a_test_are_no_real_tests() {
    for (command, level) in [
        ("npm test --if-present", ProofLevel::Weak),
        ("jest --passWithNoTests", ProofLevel::Weak),
        ("mocha --dry-run", ProofLevel::Vacuous),
    ] {
        assert_eq!(finding(command).verdict, level, "{command}");
    }
}

#[test]
fn a_wrapper_never_changes_a_verdict() {
    const WRAPPERS: [&str; 12] = [
        "cross-env A=b",
        "env A=b",
        "env -u A",
        "timeout 60",
        "timeout -k 5 60",
        "nice",
        "nice -n 5",
        "c8",
        "c8 --reporter text",
        "nyc --reporter=text",
        "dotenv --",
        "dotenv -e .env.test --",
    ];
    let simple =
        |command: &&str| !command.contains(['|', '&', ';', '(', '{']) && !command.starts_with(['!', ':']);
    for (_, command) in labelled().into_iter().filter(|(_, command)| simple(command)) {
        let alone = finding(command).verdict;
        for wrapper in WRAPPERS {
            let wrapped = format!("{wrapper} {command}");
            assert_eq!(finding(&wrapped).verdict, alone, "{wrapped}");
        }
        let quoted =
            command.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`");
        let wrapped = format!("concurrently \"{quoted}\"");
        assert_eq!(finding(&wrapped).verdict, alone, "{wrapped}");
    }
}
