//! Titles that state facts, for changes about which nobody wrote one.

use super::change_facts::DiffFacts;
use super::clip::cut_chars;
use capsid_model::text::inert_line;
use capsid_model::text_enum;
use serde::{Deserialize, Serialize};

/// The longest text of a problem in a title.
const MAX_PROBLEM_CHARS: usize = 60;
/// The longest name of a file or a function in a title.
const MAX_NAME_CHARS: usize = 60;

/// The language of generated texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TextLanguage {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh")]
    Chinese,
}

text_enum!(TextLanguage { English = "en", Chinese = "zh" });

/// The problem that a change solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SolvedProblem<'a> {
    pub tool: &'a str,
    pub code: Option<&'a str>,
    pub text: &'a str,
    /// The function of the topmost frame of the user's own code.
    pub function: Option<&'a str>,
}

/// What a generated title depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TitleFacts<'a> {
    pub change: &'a DiffFacts,
    /// None for a feature request.
    pub problem: Option<SolvedProblem<'a>>,
    /// Whether it is proven that the problem is gone.
    pub is_solved: bool,
    /// For the line of the reference engine.
    pub gene_id: &'a str,
    pub signals: &'a [String],
}

/// The generated title in the language of the configuration.
pub fn generate_title(facts: &TitleFacts<'_>, language: TextLanguage) -> String {
    match language {
        TextLanguage::English => generate_english(facts),
        TextLanguage::Chinese => generate_chinese(facts),
    }
}

/// `Change parse_port in src/config.rs: rustc E0308 mismatched types is gone (1 file, +1 -1)`.
fn generate_english(facts: &TitleFacts<'_>) -> String {
    let change = facts.change;
    let count = change.files.len() as u64;
    let verb = match () {
        () if count == 0 => return "Change nothing".to_owned(),
        () if change.new_files == count => "Add",
        () if change.deleted_files == count => "Remove",
        () => "Change",
    };
    let clip = |text: &str| cut_chars(&inert_line(text), MAX_NAME_CHARS);
    let files = name_first(&change.files, "file").map(|name| clip(&name)).unwrap_or_default();
    let frame = facts.problem.and_then(|problem| problem.function).map(str::to_owned);
    let functions = name_first(&change.functions, "").or(frame).map(|name| clip(&name));
    let subject = match functions {
        Some(functions) if verb == "Change" => format!("{functions} in {files}"),
        _ => files,
    };
    let problem = facts.problem.map(|problem| name_problem(&problem)).filter(|name| !name.is_empty());
    let problem = match problem {
        Some(problem) if facts.is_solved => format!(": {problem} is gone"),
        Some(problem) => format!(" for {problem}"),
        None => String::new(),
    };
    let plural = if count == 1 { "" } else { "s" };
    let (added, removed) = (change.added_lines, change.removed_lines);
    format!("{verb} {subject}{problem} ({count} file{plural}, +{added} -{removed})")
}

/// `a.rs`, `a.rs and b.rs`, `a.rs and 2 more files`.
fn name_first(names: &[String], noun: &str) -> Option<String> {
    Some(match names {
        [] => return None,
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, rest @ ..] => {
            let noun = if noun.is_empty() { String::new() } else { format!(" {noun}s") };
            format!("{one} and {} more{noun}", rest.len())
        }
    })
}

/// `rustc E0308 mismatched types`.
fn name_problem(problem: &SolvedProblem<'_>) -> String {
    let text = inert_line(problem.text);
    // What follows the colon are the values of this one case.
    let short = text.split_once(": ").map_or(text.as_str(), |(front, _)| front);
    let code = problem.code.filter(|code| !code.is_empty() && !short.starts_with(*code)).map(inert_line);
    let words = [Some(inert_line(problem.tool)), code, Some(cut_chars(short, MAX_PROBLEM_CHARS))];
    words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The line of the reference engine.
fn generate_chinese(facts: &TitleFacts<'_>) -> String {
    let signals = if facts.signals.is_empty() { "(none)".to_owned() } else { facts.signals.join(", ") };
    let lines = facts.change.added_lines.saturating_add(facts.change.removed_lines);
    format!(
        "固化：{} 命中信号 {signals}，变更 {} 文件 / {lines} 行。",
        facts.gene_id,
        facts.change.files.len()
    )
}
