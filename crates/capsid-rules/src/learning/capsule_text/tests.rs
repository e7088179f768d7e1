use super::change_facts::DiffFacts;
use super::commit_message::{CommitFacts, render_commit_message};
use super::generated::{SolvedProblem, TextLanguage, TitleFacts, generate_title};
use super::note::parse_cost;
use super::old_asset::{find_old_title, is_boilerplate};
use super::*;
use proptest::prelude::*;

const DIFF: &str = "\
diff --git a/src/config.rs b/src/config.rs
--- a/src/config.rs
+++ b/src/config.rs
@@ -10,3 +10,3 @@ fn parse_port(text: &str) -> u16 {
     let text = text.trim();
-    text
+    text.parse().unwrap_or(80)
 }
";

fn facts(change: &DiffFacts) -> TitleFacts<'_> {
    let text = "mismatched types: expected `u16`, found `&str`";
    let problem = SolvedProblem { tool: "rustc", code: Some("E0308"), text, function: None };
    TitleFacts { change, problem: Some(problem), is_solved: true, gene_id: "gene_repair", signals: &[] }
}

#[test]
fn a_generated_title_states_facts() {
    let change = DiffFacts::parse(DIFF);
    assert_eq!(
        generate_title(&facts(&change), TextLanguage::English),
        "Change parse_port in src/config.rs: rustc E0308 mismatched types is gone (1 file, +1 -1)"
    );
    let unproven = TitleFacts { is_solved: false, ..facts(&change) };
    assert_eq!(
        generate_title(&unproven, TextLanguage::English),
        "Change parse_port in src/config.rs for rustc E0308 mismatched types (1 file, +1 -1)"
    );
    let feature = TitleFacts { problem: None, ..facts(&change) };
    assert_eq!(
        generate_title(&feature, TextLanguage::default()),
        "Change parse_port in src/config.rs (1 file, +1 -1)"
    );
}

#[test]
fn a_code_that_begins_the_text_is_said_once() {
    let change = DiffFacts::parse("--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-a\n+b\n");
    let problem = SolvedProblem {
        tool: "node",
        code: Some("ECONNREFUSED"),
        text: "ECONNREFUSED port 5432",
        function: Some("connect"),
    };
    let facts = TitleFacts { problem: Some(problem), ..facts(&change) };
    assert_eq!(
        generate_title(&facts, TextLanguage::English),
        "Change connect in x.js: node ECONNREFUSED port 5432 is gone (1 file, +1 -1)"
    );
}

#[test]
fn the_chinese_line_is_that_of_the_reference_engine() {
    let change = DiffFacts::parse(DIFF);
    let signals = ["log_error".to_owned(), "errsig:x".to_owned()];
    let facts = TitleFacts { signals: &signals, ..facts(&change) };
    let line = "固化：gene_repair 命中信号 log_error, errsig:x，变更 1 文件 / 2 行。";
    assert_eq!(generate_title(&facts, TextLanguage::Chinese), line);
    assert_eq!(TextLanguage::parse("zh"), Some(TextLanguage::Chinese));
}

#[test]
fn files_functions_and_lines_are_read_from_a_diff() {
    let diff = format!(
        "{DIFF}diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+def price(items):\n+    return 1\n\
         --- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n--- dashes\n\\ No newline at end of file\n"
    );
    let facts = DiffFacts::parse(&diff);
    assert_eq!(facts.files, ["src/config.rs", "new.py", "old.txt"]);
    assert_eq!(facts.functions, ["parse_port", "price"]);
    assert_eq!((facts.added_lines, facts.removed_lines), (3, 2));
    assert_eq!((facts.new_files, facts.deleted_files), (1, 1));
    let added = "--- /dev/null\n+++ b/a b.py\t\n@@ -0,0 +1 @@\n+x = 1\n";
    let title = generate_title(
        &TitleFacts { problem: None, ..self::facts(&DiffFacts::parse(added)) },
        TextLanguage::English,
    );
    assert_eq!(title, "Add a b.py (1 file, +1 -0)");
}

#[test]
fn the_function_of_a_changed_line_wins_over_the_header() {
    let diff =
        "--- a/x.rs\n+++ b/x.rs\n@@ -1,4 +1,4 @@ fn first() {\n }\n \n fn second() {\n-    1\n+    2\n";
    assert_eq!(DiffFacts::parse(diff).functions, ["second"]);
}

fn inputs<'a>() -> TextInputs<'a> {
    TextInputs { generated_title: "Change a (1 file, +1 -1)", ..TextInputs::default() }
}

const NOTE: &str =
    "Parse the port before it is stored\r\n\r\nThe text was stored. It is parsed now.\r\nCost: 0.12\r\n";

#[test]
fn the_sources_of_a_text_are_used_in_order() {
    let stdout =
        "talk\n```capsid-note\nFirst block\n```\nmore\n```capsid-note\nTitle of the block\n\nWhy.\n```\nbye";
    let all = TextInputs {
        title_option: Some("Title of the option"),
        note_file: Some(NOTE),
        stdout: Some(stdout),
        commit_message: Some("Subject of the commit\n\nBody.\n\nSigned-off-by: A <a@example.org>\n"),
        ..inputs()
    };
    let option = choose_text(&all);
    assert_eq!((option.title.as_str(), option.source), ("Title of the option", TextSource::Option));
    assert_eq!(option.explanation, "The text was stored. It is parsed now.");
    let note = choose_text(&TextInputs { title_option: None, ..all });
    assert_eq!(
        (note.title.as_str(), note.source),
        ("Parse the port before it is stored", TextSource::NoteFile)
    );
    assert_eq!(note.cost_usd, Some(0.12));
    let block = choose_text(&TextInputs { title_option: None, note_file: Some("\n\n"), ..all });
    assert_eq!((block.title.as_str(), block.explanation.as_str()), ("Title of the block", "Why."));
    let commit =
        choose_text(&TextInputs { stdout: None, title_option: None, note_file: Some("done"), ..all });
    assert_eq!((commit.title.as_str(), commit.explanation.as_str()), ("Subject of the commit", "Body."));
    let generated = choose_text(&inputs());
    assert_eq!(
        (generated.title.as_str(), generated.source),
        ("Change a (1 file, +1 -1)", TextSource::Generated)
    );
    let summary = choose_text(&TextInputs { summary_option: Some("Because."), ..inputs() });
    assert_eq!(summary.explanation, "Because.");
}

#[test]
fn texts_that_say_nothing_are_no_titles() {
    for text in [
        "",
        "  ",
        "done",
        "Done.",
        "**Done!**",
        "src/config.rs",
        "config.rs",
        "./a/b",
        "C:\\a",
        "`src/a.rs`",
        "gene_repair_errors",
        "capsule_17",
        "固化：gene_x 命中信号",
        "gene_x answered log_error by a change",
        "---",
        "\u{0}",
    ] {
        assert!(!is_title(text), "{text}");
    }
    for text in [
        "Parse the port",
        "Fix config.rs",
        "gene_x no longer loops",
        "修复端口解析",
        "Done with global state",
    ] {
        assert!(is_title(text), "{text}");
    }
}

#[test]
fn long_titles_are_cut_and_kept_whole_in_the_explanation() {
    let long = format!("# {}", "端口 ".repeat(50));
    let text = choose_text(&TextInputs { note_file: Some(&long), ..inputs() });
    assert!(text.title.chars().count() <= MAX_TITLE_CHARS && text.title.ends_with('…'));
    assert_eq!(text.explanation, "端口 ".repeat(50).trim());
    let huge = format!("A title\n\n{}", "é".repeat(5_000));
    let text = choose_text(&TextInputs { note_file: Some(&huge), ..inputs() });
    assert_eq!(text.explanation.chars().count(), MAX_EXPLANATION_CHARS);
}

#[test]
fn control_characters_are_escaped() {
    let note = "Color \u{1b}[31mred\u{202e}\n\nline one\n\tline two\u{7}";
    let text = choose_text(&TextInputs { note_file: Some(note), ..inputs() });
    assert_eq!(text.title, "Color \\u{1b}[31mred\\u{202e}");
    assert_eq!(text.explanation, "line one\n\tline two\\u{7}");
}

#[test]
fn a_block_must_be_closed() {
    assert_eq!(note::find_note_block("```capsid-note\nA title\n"), None);
    assert_eq!(
        note::find_note_block("````capsid-note\nA\n```rust\nx\n```\n````\n").as_deref(),
        Some("A\n```rust\nx\n```")
    );
}

#[test]
fn a_cost_is_a_plain_number() {
    for (line, cost) in [
        ("Cost: 0.12", Some(0.12)),
        ("cost: $3", Some(3.0)),
        ("  Cost: 0.5 USD", Some(0.5)),
        ("Cost: -1", None),
        ("Cost: NaN", None),
        ("Cost: 1e9", None),
        ("Cost: 0,12", None),
        ("Cost:", None),
        ("The cost: 3", None),
    ] {
        assert_eq!(parse_cost(line), cost, "{line}");
    }
}

#[test]
fn a_summary_is_the_title_and_the_first_sentence() {
    let text = choose_text(&TextInputs { note_file: Some(NOTE), ..inputs() });
    assert_eq!(text.to_summary(1, 2), "Parse the port before it is stored. The text was stored.");
    let short = choose_text(&TextInputs { note_file: Some("Trim it"), ..inputs() });
    assert_eq!(short.to_summary(1, 2), "Trim it (a change of 1 file, 2 lines)");
}

#[test]
fn the_first_sentence_ends_at_its_own_period() {
    assert_eq!(
        first_sentence("Use v1.2 of it, e.g. here. Then go.").as_deref(),
        Some("Use v1.2 of it, e.g. here.")
    );
    assert_eq!(first_sentence("修复。然后").as_deref(), Some("修复。"));
    assert_eq!(first_sentence("No end\nhere\n\nNext.").as_deref(), Some("No end here"));
    assert_eq!(first_sentence("  "), None);
}

#[test]
fn an_old_asset_gets_its_error_as_title_if_its_summary_is_boilerplate() {
    assert_eq!(find_old_title("Parse the port. More.", &["errsig:x"]), "Parse the port.");
    for summary in ["固化：gene_x 命中信号 a", "gene_x answered log_error", "gene_x (repair) answered a", ""]
    {
        assert_eq!(
            find_old_title(summary, &["log_error", "errsig:rust E0308: mismatched"]),
            "rust E0308: mismatched"
        );
    }
    assert_eq!(find_old_title("固化：x", &["log_error"]), "log_error");
    assert_eq!(find_old_title("", &[] as &[&str]), "Change without a title");
    assert!(!is_boilerplate("The server answered with 404; retry it."));
}

#[test]
fn a_commit_message_names_problem_proof_and_capsule() {
    let text = choose_text(&TextInputs { note_file: Some(NOTE), ..inputs() });
    let facts = CommitFacts {
        problem: Some("rustc E0308 mismatched types"),
        proof: Some("`cargo test` failed before and passes now."),
        capsule_id: Some("capsule_1"),
    };
    assert_eq!(
        render_commit_message(&text, &facts),
        "Parse the port before it is stored\n\nThe text was stored. It is parsed now.\n\n\
         Problem: rustc E0308 mismatched types\nProof: `cargo test` failed before and passes now.\nCapsule: capsule_1\n"
    );
    let bare = choose_text(&inputs());
    assert_eq!(render_commit_message(&bare, &CommitFacts::default()), "Change a (1 file, +1 -1)\n");
}

proptest! {
    #[test]
    fn no_text_panics_and_limits_hold(
        note in "(?s).{0,300}",
        stdout in "(?s)(```capsid-note\n)?.{0,100}(\n```)?",
        diff in "(?s)(--- a\n\\+\\+\\+ b\n@@ -1,9 \\+1,9 @@ fn x\n)?.{0,200}",
    ) {
        let change = DiffFacts::parse(&diff);
        let title = generate_title(&TitleFacts { problem: None, ..facts(&change) }, TextLanguage::English);
        let text = choose_text(&TextInputs {
            title_option: None,
            summary_option: None,
            note_file: Some(&note),
            stdout: Some(&stdout),
            commit_message: Some(&note),
            generated_title: &title,
        });
        prop_assert!(text.source == TextSource::Generated || text.title.chars().count() <= MAX_TITLE_CHARS);
        prop_assert!(!text.title.is_empty() && !text.title.contains(char::is_control));
        prop_assert!(text.explanation.chars().count() <= MAX_EXPLANATION_CHARS);
        prop_assert!(text.to_summary(1, 2).chars().count() >= 20 || text.source == TextSource::Generated);
        find_old_title(&note, &[stdout]);
        render_commit_message(&text, &CommitFacts { problem: Some(&note), ..CommitFacts::default() });
    }
}
