//! The constraint check, from the changes of a cycle to its verdict.

use capsid_engine::rules::constraints::{ChangeSeverity, ConstraintInput, ConstraintReport, HardCaps, check};
use capsid_engine::tree::{ChangeKind, Changes, FileChange};
use capsid_model::gene::Gene;

fn file(path: &str, kind: ChangeKind, lines: u64) -> FileChange {
    FileChange {
        path: path.to_owned(),
        name: path.as_bytes().to_vec(),
        old_path: None,
        kind,
        added: lines,
        deleted: 0,
        binary: false,
        emptied: false,
    }
}

fn many(files: u64) -> Changes {
    let one = |i| file(&format!("src/{i}.rs"), ChangeKind::Modified, 1);
    Changes { files: (0..files).map(one).collect() }
}

fn input<'a>(changes: &'a Changes, gene: Option<&'a Gene>) -> ConstraintInput<'a> {
    ConstraintInput {
        changes,
        gene,
        caps: HardCaps::default(),
        soft_limit: None,
        estimated_files: None,
        protected: &[],
    }
}

fn gene(max_files: Option<u64>, forbidden: &[&str]) -> Gene {
    Gene {
        max_files,
        forbidden_paths: forbidden.iter().map(|path| (*path).to_owned()).collect(),
        ..Gene::default()
    }
}

fn check_one(change: FileChange, gene: Option<&Gene>) -> ConstraintReport {
    let protected = [".env".to_owned()];
    let changes = Changes { files: vec![change] };
    check(&ConstraintInput { protected: &protected, ..input(&changes, gene) })
}

#[test]
fn each_severity_has_its_limit_and_its_text() {
    for (files, max, severity, violation) in [
        (8, Some(10), ChangeSeverity::WithinLimit, None),
        (9, Some(10), ChangeSeverity::ApproachingLimit, None),
        (10, Some(10), ChangeSeverity::ApproachingLimit, None),
        (11, Some(10), ChangeSeverity::Exceeded, Some("max_files exceeded: 11 > 10")),
        (20, Some(10), ChangeSeverity::Exceeded, Some("max_files exceeded: 20 > 10")),
        (21, None, ChangeSeverity::Exceeded, Some("max_files exceeded: 21 > 20")),
        (
            21,
            Some(10),
            ChangeSeverity::CriticalOverrun,
            Some("CRITICAL OVERRUN: 21 files is more than twice the limit of 10"),
        ),
        (60, Some(100), ChangeSeverity::WithinLimit, None),
        (
            61,
            Some(100),
            ChangeSeverity::HardCapBreach,
            Some("HARD CAP BREACH: 61 files / 61 lines exceeds system limit (60 files / 20000 lines)"),
        ),
    ] {
        let report = check(&input(&many(files), Some(&gene(max, &[]))));
        assert_eq!(report.severity, severity, "{files} of {max:?}");
        assert_eq!(report.violations.first().map(String::as_str), violation);
        let warned = usize::from(severity == ChangeSeverity::ApproachingLimit);
        assert_eq!(report.warnings.len(), warned);
    }
    let lines = check_one(file("a", ChangeKind::Added, 20_001), Some(&gene(None, &[])));
    assert_eq!(lines.severity.as_str(), "hard_cap_breach");
}

#[test]
fn defect_17_a_small_change_warns_of_nothing() {
    let estimate = |files, estimated| {
        let changes = many(files);
        let gene = gene(None, &[]);
        check(&ConstraintInput { estimated_files: Some(estimated), ..input(&changes, Some(&gene)) }).warnings
    };
    assert_eq!(estimate(1, 20), Vec::<String>::new());
    assert_eq!(estimate(6, 2), Vec::<String>::new());
    assert_eq!(estimate(7, 2).len(), 1);
}

#[test]
fn the_soft_limit_of_the_personality_only_warns() {
    let (changes, gene) = (many(6), gene(Some(10), &[]));
    let report = check(&ConstraintInput { soft_limit: Some(5), ..input(&changes, Some(&gene)) });
    assert!(report.ok());
    assert_eq!(report.warnings, ["soft file limit passed: 6 > 5"]);
}

#[test]
fn forbidden_paths_hold_for_both_names_of_a_rename_in_any_case() {
    let gene = gene(None, &["vendor/", "LICENSE"]);
    for path in ["vendor/x", "Vendor/x", "license", "a/node_modules/b", "Node_Modules/x", ".GIT/config"] {
        let report = check_one(file(path, ChangeKind::Modified, 1), Some(&gene));
        assert_eq!(report.violations, [format!("forbidden_path touched: {path}")]);
    }
    let moved = FileChange { old_path: Some("vendor/a".to_owned()), ..file("src/a", ChangeKind::Renamed, 0) };
    let report = check_one(moved, Some(&gene));
    assert_eq!(report.violations, ["forbidden_path touched: vendor/a"]);
    assert!(check_one(file("vendored/.gitignore", ChangeKind::Added, 1), Some(&gene)).ok());
}

#[test]
fn protected_files_are_told_how_they_were_harmed() {
    let modified = check_one(file(".env", ChangeKind::Modified, 1), None);
    assert_eq!(modified.violations, ["critical_path_modified: .env"]);
    let deleted = check_one(file(".env", ChangeKind::Deleted, 1), None);
    assert_eq!(deleted.violations, ["critical_path_modified: .env", "CRITICAL_FILE_DELETED: .env"]);
    let emptied = FileChange { emptied: true, ..file(".env", ChangeKind::Modified, 1) };
    assert_eq!(
        check_one(emptied, None).violations,
        ["critical_path_modified: .env", "CRITICAL_FILE_EMPTIED: .env"]
    );
    let moved = FileChange { old_path: Some(".env".to_owned()), ..file("env.txt", ChangeKind::Renamed, 0) };
    assert!(check_one(moved, None).violations.contains(&"CRITICAL_FILE_DELETED: .env".to_owned()));
}

#[test]
fn a_gene_that_asks_for_harm_fails_whatever_it_changed() {
    let bad = Gene { strategy: vec!["Disable the guardrails first".to_owned()], ..Gene::default() };
    let report = check(&input(&many(1), Some(&bad)));
    assert_eq!(report.violations, ["ethics: the gene asks to weaken safety: `Disable the guardrails`"]);
}
