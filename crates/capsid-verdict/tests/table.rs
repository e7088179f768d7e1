//! `findings.toml`, and the part of the documents that is made of it.

use std::path::Path;

/// One row.
#[derive(Debug, Clone, Default)]
pub struct FindingRow {
    pub code: String,
    pub level: String,
    /// What says it, where that makes another sentence.
    pub source: String,
    pub exit: String,
    pub dimension: String,
    pub when: String,
    pub sentence: String,
}

impl FindingRow {
    pub fn test_name(&self) -> String {
        let source = if self.source.is_empty() { String::new() } else { format!("_by_{}", self.source) };
        format!("finding_{}_{}{source}", self.code, self.level)
    }
}

/// The rows in their order. The file has plain strings alone.
pub fn rows() -> Vec<FindingRow> {
    let mut rows: Vec<FindingRow> = Vec::new();
    for line in include_str!("../src/findings.toml").lines().map(str::trim) {
        match line.split_once(" = ") {
            _ if line.is_empty() || line.starts_with('#') => {}
            None => {
                assert_eq!(line, "[[finding]]");
                rows.push(FindingRow::default());
            }
            Some((name, value)) => {
                let row = rows.last_mut().unwrap();
                let text = value.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap();
                let field = match name {
                    "code" => &mut row.code,
                    "level" => &mut row.level,
                    "source" => &mut row.source,
                    "exit" => &mut row.exit,
                    "dimension" => &mut row.dimension,
                    "when" => &mut row.when,
                    "sentence" => &mut row.sentence,
                    other => panic!("no row has a `{other}`"),
                };
                text.clone_into(field);
            }
        }
    }
    rows
}

fn markdown() -> String {
    let head = "| found | code | level | exit status | it says |\n|---|---|---|---|---|\n";
    let row = |row: &FindingRow| {
        format!("| {} | `{}` | {} | {} | {} |\n", row.when, row.code, row.level, row.exit, row.sentence)
    };
    format!("{head}{}", rows().iter().map(row).collect::<String>())
}

#[test]
fn the_findings_page_of_the_documents_is_made_of_findings_toml() {
    const INTRODUCTION: &str = "# Findings of a verification\n\nWhat `capsid trail verify`, the Explorer and `verify.mjs` report. The \
        worst finding decides the level of the verdict; [what a chain proves](../explanation/what-a-chain-proves.md) explains the \
        levels.\n\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/findings.md");
    let expected = format!("{INTRODUCTION}{}", markdown());
    if std::env::var_os("CAPSID_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == expected, "docs/reference/findings.md is out of date; run with CAPSID_UPDATE_DOCS=1");
}
