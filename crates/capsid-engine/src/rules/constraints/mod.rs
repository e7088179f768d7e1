//! The constraint check: whether a change stays within what the gene, the owner and the protocol allow.

mod ethics;
pub mod paths;

use crate::tree::{ChangeKind, Changes, FileChange};
use capsid_model::event::BlastRadius;
use capsid_model::gene::Gene;
use paths::{PathSet, contains_part};

/// The most files a gene may change when it does not say.
pub const DEFAULT_MAX_FILES: u64 = 20;

/// Forbidden anywhere in a path, whatever the gene allows.
const NEVER: [&str; 2] = [".git", "node_modules"];

/// The most that any gene may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardCaps {
    pub files: u64,
    pub lines: u64,
}

impl Default for HardCaps {
    fn default() -> Self {
        Self { files: 60, lines: 20_000 }
    }
}

/// What the check looks at.
#[derive(Debug, Clone, Copy)]
pub struct ConstraintInput<'a> {
    pub changes: &'a Changes,
    pub gene: Option<&'a Gene>,
    /// The most that any gene may change.
    pub caps: HardCaps,
    /// How many files the personality would rather not go above.
    pub soft_limit: Option<u64>,
    /// How many files the run expected to change.
    pub estimated_files: Option<u64>,
    /// Files that may not be changed at all.
    pub protected: &'a [String],
}

/// The size of a change compared with its limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeSeverity {
    #[default]
    WithinLimit,
    /// Above four fifths of the limit.
    ApproachingLimit,
    Exceeded,
    CriticalOverrun,
    /// Above what any gene may change.
    HardCapBreach,
}

impl ChangeSeverity {
    /// The word that events record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WithinLimit => "within_limit",
            Self::ApproachingLimit => "approaching_limit",
            Self::Exceeded => "exceeded",
            Self::CriticalOverrun => "critical_overrun",
            Self::HardCapBreach => "hard_cap_breach",
        }
    }

    fn classify(blast: BlastRadius, max_files: u64, caps: HardCaps) -> Self {
        let files = blast.files;
        match () {
            () if files > caps.files || blast.lines > caps.lines => Self::HardCapBreach,
            () if files > max_files.saturating_mul(2) => Self::CriticalOverrun,
            () if files > max_files => Self::Exceeded,
            // files > 0.8 x max, in integers.
            () if files.saturating_mul(5) > max_files.saturating_mul(4) => Self::ApproachingLimit,
            () => Self::WithinLimit,
        }
    }
}

/// What the check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConstraintReport {
    /// What makes the cycle fail.
    pub violations: Vec<String>,
    /// What its owner should know.
    pub warnings: Vec<String>,
    /// How large the change is.
    pub severity: ChangeSeverity,
}

impl ConstraintReport {
    /// Whether nothing was violated.
    pub fn ok(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Checks a change.
///
/// Without a gene only the rules that hold for everyone apply: protected files, `.git`, `node_modules`.
pub fn check(input: &ConstraintInput<'_>) -> ConstraintReport {
    let mut report = ConstraintReport::default();
    if let Some(gene) = input.gene {
        check_size(input, gene, &mut report);
    }
    check_paths(input, &mut report);
    if let Some(gene) = input.gene {
        let objections = ethics::objections(gene);
        report.violations.extend(objections);
    }
    report
}

fn check_size(input: &ConstraintInput<'_>, gene: &Gene, report: &mut ConstraintReport) {
    let blast = input.changes.blast();
    let BlastRadius { files, lines } = blast;
    let max = gene.max_files.filter(|max| *max > 0).unwrap_or(DEFAULT_MAX_FILES);
    let caps = input.caps;
    report.severity = ChangeSeverity::classify(blast, max, caps);
    match report.severity {
        ChangeSeverity::HardCapBreach => report.violations.push(format!(
            "HARD CAP BREACH: {files} files / {lines} lines exceeds system limit ({} files / {} lines)",
            caps.files, caps.lines
        )),
        ChangeSeverity::CriticalOverrun => report
            .violations
            .push(format!("CRITICAL OVERRUN: {files} files is more than twice the limit of {max}")),
        ChangeSeverity::Exceeded => report.violations.push(format!("max_files exceeded: {files} > {max}")),
        ChangeSeverity::ApproachingLimit => {
            report.warnings.push(format!("approaching max_files: {files} of {max}"));
        }
        ChangeSeverity::WithinLimit => {}
    }
    if let Some(soft) = input.soft_limit.filter(|soft| files > *soft && files <= max) {
        report.warnings.push(format!("soft file limit passed: {files} > {soft}"));
    }
    if let Some(guess) = input.estimated_files.filter(|guess| files > guess.saturating_mul(3)) {
        report.warnings.push(format!("more than three times the estimate: {files} files, {guess} expected"));
    }
}

fn check_paths(input: &ConstraintInput<'_>, report: &mut ConstraintReport) {
    let forbidden = PathSet::new(input.gene.map_or(&[][..], |gene| &gene.forbidden_paths));
    let protected = PathSet::new(input.protected);
    for file in &input.changes.files {
        let names = [file.old_path.as_deref(), Some(file.path.as_str())];
        for name in names.into_iter().flatten() {
            if forbidden.contains(name) || NEVER.iter().any(|part| contains_part(name, part)) {
                report.violations.push(format!("forbidden_path touched: {name}"));
            }
            if protected.contains(name) {
                report.violations.push(format!("critical_path_modified: {name}"));
                report.violations.extend(destruction(file, name));
            }
        }
    }
}

/// What a change to a protected file destroyed, if it did.
fn destruction(file: &FileChange, name: &str) -> Option<String> {
    let gone = file.kind == ChangeKind::Deleted || file.old_path.as_deref() == Some(name);
    match () {
        () if gone => Some(format!("CRITICAL_FILE_DELETED: {name}")),
        () if file.emptied && file.kind != ChangeKind::Added => {
            Some(format!("CRITICAL_FILE_EMPTIED: {name}"))
        }
        () => None,
    }
}
