//! Which of the diagnostics is the live problem.

use super::diagnostic::{Diagnostic, DiagnosticRole, ProblemClass};
use super::segment::Segment;
use std::cmp::Reverse;
use std::collections::HashMap;

const MAX_ALSO: usize = 8;

/// The problem and the others.
#[derive(Default)]
pub(crate) struct ChosenProblem {
    pub problem: Option<Diagnostic>,
    pub also: Vec<Diagnostic>,
    pub command: Option<String>,
    pub passed: bool,
}

/// Chooses the live problem of a log. `in_stream` says whether a line is one of the stream of a running program, in
/// which the newest problem counts.
pub(crate) fn choose(
    diagnostics: Vec<Diagnostic>,
    segments: &[Segment],
    in_stream: &dyn Fn(usize) -> bool,
) -> ChosenProblem {
    let segment_at = |line: usize| segments.iter().rposition(|segment| segment.first <= line).unwrap_or(0);
    let live: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|found| {
            segments.get(segment_at(found.first_line)).is_none_or(|segment| !is_covered(found, segment))
        })
        .collect();
    let last = segments.last();
    let last_first = last.map_or(1, |segment| segment.first);
    let ends_well = last.is_some_and(Segment::has_passed)
        && !live.iter().any(|found| found.first_line >= last_first && found.role != DiagnosticRole::Generic);
    if live.is_empty() || ends_well {
        let passed = last.is_some_and(Segment::has_passed);
        return ChosenProblem { passed, ..ChosenProblem::default() };
    }
    let best_role = live.iter().map(|found| found.role).max();
    let (pool, rest): (Vec<_>, Vec<_>) = live.into_iter().partition(|found| Some(found.role) == best_role);
    let deciding = pool.iter().map(|found| segment_at(found.first_line)).max().unwrap_or(0);
    let (pool, earlier): (Vec<_>, Vec<_>) =
        pool.into_iter().partition(|found| segment_at(found.first_line) == deciding);
    let mut pool = merge(pool);
    let at = select(&pool, in_stream);
    let problem = (at < pool.len()).then(|| pool.remove(at));
    let mut also = pool;
    also.extend(merge(earlier));
    also.extend(
        rest.into_iter()
            .filter(|found| found.role != DiagnosticRole::Wrapper && found.role != DiagnosticRole::Generic),
    );
    also.truncate(MAX_ALSO);
    let command = segments.get(deciding).and_then(|segment| segment.command.clone());
    ChosenProblem { problem, also, command, passed: false }
}

/// The best of a few diagnostics, without segments.
pub(crate) fn best_of(diagnostics: Vec<Diagnostic>) -> Option<Diagnostic> {
    let best_role = diagnostics.iter().map(|found| found.role).max();
    let mut pool = merge(diagnostics.into_iter().filter(|found| Some(found.role) == best_role).collect());
    let at = select(&pool, &|_| false);
    (at < pool.len()).then(|| pool.remove(at))
}

/// A run whose summary says that everything passed may print errors: tests provoke them.
fn is_covered(found: &Diagnostic, segment: &Segment) -> bool {
    if !segment.has_passed() {
        return false;
    }
    let before = segment.passed_at.is_some_and(|line| found.first_line <= line);
    match found.role {
        DiagnosticRole::Generic => true,
        DiagnosticRole::Wrapper => false,
        _ => {
            before
                && !matches!(
                    found.class,
                    ProblemClass::CompileError
                        | ProblemClass::SyntaxError
                        | ProblemClass::LintError
                        | ProblemClass::LinkError
                        | ProblemClass::BuildError
                        | ProblemClass::TestFailure
                        | ProblemClass::DependencyError
                        | ProblemClass::VcsError
                        | ProblemClass::ConfigError
                )
        }
    }
}

/// Puts equal problems together and counts them.
fn merge(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut merged: Vec<Diagnostic> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for diagnostic in found {
        match known.get(&diagnostic.ids().exact).and_then(|at| merged.get_mut(*at)) {
            Some(same) => {
                same.count += diagnostic.count;
                if same.line.is_none() {
                    same.line = diagnostic.line;
                }
            }
            None => {
                known.insert(diagnostic.ids().exact, merged.len());
                merged.push(diagnostic);
            }
        }
    }
    merged
}

/// What has to be repaired first.
pub(super) fn rank(class: ProblemClass) -> u8 {
    match class {
        ProblemClass::SyntaxError | ProblemClass::CompileError | ProblemClass::DependencyError => 0,
        ProblemClass::BuildError | ProblemClass::LinkError | ProblemClass::ConfigError => 1,
        ProblemClass::NotFound => 2,
        _ => 3,
    }
}

fn select(pool: &[Diagnostic], in_stream: &dyn Fn(usize) -> bool) -> usize {
    let best = pool.iter().map(|found| rank(found.class)).min();
    let first: Vec<usize> = (0..pool.len()).filter(|at| Some(rank(pool[*at].class)) == best).collect();
    let tests: Vec<usize> =
        first.iter().copied().filter(|at| pool[*at].class == ProblemClass::TestFailure).collect();
    // An exception beside failing tests was printed by one of them.
    let only_exceptions = first.iter().all(|at| {
        matches!(
            pool[*at].class,
            ProblemClass::TestFailure | ProblemClass::Exception | ProblemClass::UnknownError
        )
    });
    if let Some(earliest) = first.iter().min_by_key(|at| pool[**at].first_line).copied()
        && !tests.is_empty()
        && (only_exceptions || tests.contains(&earliest))
    {
        return largest_group(pool, &tests);
    }
    let at_run_time = first.iter().all(|at| is_run_time(pool[*at].class) && in_stream(pool[*at].first_line));
    if at_run_time {
        let newest = first.iter().copied().max_by_key(|at| (pool[*at].last_line, pool[*at].count));
        return newest.unwrap_or(0);
    }
    first.iter().copied().min_by_key(|at| pool[*at].first_line).unwrap_or(0)
}

/// Whether a running program prints problems of this class one after the other.
fn is_run_time(class: ProblemClass) -> bool {
    !matches!(
        class,
        ProblemClass::CompileError
            | ProblemClass::SyntaxError
            | ProblemClass::LintError
            | ProblemClass::LinkError
            | ProblemClass::BuildError
            | ProblemClass::TestFailure
            | ProblemClass::DependencyError
            | ProblemClass::ConfigError
            | ProblemClass::CiError
    )
}

/// Among failing tests the first of those that most share their failure with.
fn largest_group(pool: &[Diagnostic], tests: &[usize]) -> usize {
    let key = |at: usize| (pool[at].code.as_deref(), pool[at].template.as_str(), pool[at].frame.as_deref());
    let mut sizes: HashMap<_, usize> = HashMap::new();
    for at in tests {
        *sizes.entry(key(*at)).or_default() += 1;
    }
    tests
        .iter()
        .copied()
        .min_by_key(|at| (Reverse(sizes.get(&key(*at)).copied().unwrap_or(0)), pool[*at].first_line))
        .unwrap_or(0)
}
