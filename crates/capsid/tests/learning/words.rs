//! What a capsule says, and what the next agent is told.

use super::*;

const NOTE: &str = r#"printf 'Write the state that the check expects\n\nThe state file held start. The check reads good.\n' > "$CAPSID_NOTE_FILE""#;

#[test]
fn a_title_says_what_was_fixed_and_keeps_the_agents_explanation() {
    let desk = broken();
    assert_status(0, &desk.evolve(&[], &format!("{GOOD}\n{NOTE}")));
    let capsule = capsules(&desk).remove(0);
    assert_eq!(capsule["title"], "Write the state that the check expects");
    assert_eq!(capsule["explanation"], "The state file held start. The check reads good.");
    let listed = desk.program.expect(0, &desk.repo, &["capsules"]).stdout;
    assert!(listed.contains("Write the state that the check expects"), "{listed}");
}

#[test]
fn without_a_note_the_title_states_facts_in_english() {
    let desk = broken();
    assert_status(0, &desk.evolve(&[], GOOD));
    let capsule = capsules(&desk).remove(0);
    let summary = capsule["summary"].as_str().unwrap();
    let title = capsule["title"].as_str().unwrap();
    assert!(title.contains("state.txt") && title.contains("TypeError"), "{title}");
    assert!(summary.starts_with(title) && summary.is_ascii(), "{summary}");
}

#[test]
fn a_failed_try_leaves_its_diff_and_output_for_the_next_prompt() {
    let desk = broken();
    assert_status(1, &desk.evolve(&[], "echo almost > state.txt"));
    let prompt = shown_prompt(&desk, &["--force"]);
    let tried = prompt.split("## Tried before on this problem").nth(1).unwrap_or_else(|| panic!("{prompt}"));
    assert!(tried.contains("+almost"), "{tried}");
    assert!(tried.contains("x is not a function"), "{tried}");
}

#[test]
fn the_prompt_states_each_fact_once() {
    let desk = broken();
    let prompt = shown_prompt(&desk, &[]);
    assert!(prompt.chars().count() <= 6_000, "{}", prompt.len());
    for once in ["Find the cause.", "Remove it.", "## Problem", "## Limits", "(/srv/app/check.js:3:9)"] {
        assert_eq!(prompt.matches(once).count(), 1, "{once}\n{prompt}");
    }
    let lines: Vec<&str> = prompt.lines().collect();
    let opened = lines.iter().filter(|line| line.starts_with("<<<DATA")).count();
    let closed = lines.iter().filter(|line| line.starts_with("DATA") && line.ends_with(">>>")).count();
    assert_eq!(opened, closed, "marks stand in pairs\n{prompt}");
}
