//! Why a problem of a log is not the one that is worked on.

use super::choose::rank;
use super::diagnostic::{Diagnostic, DiagnosticRole, ProblemClass};

/// Says in a few words why the problem was chosen before the other.
pub fn describe_not_chosen(problem: &Diagnostic, other: &Diagnostic) -> String {
    if other.role != problem.role {
        return match other.role {
            DiagnosticRole::Summary => "it is a summary without detail".to_owned(),
            DiagnosticRole::Annotation => "it is an annotation of the CI system".to_owned(),
            DiagnosticRole::Generic => "it is a line of level ERROR, and a tool names a defect".to_owned(),
            DiagnosticRole::Wrapper => "it only reports that a command failed".to_owned(),
            DiagnosticRole::Cause => "it is in another log, or of an earlier command".to_owned(),
        };
    }
    let (chosen, passed) = (problem.class, other.class);
    if rank(chosen) < rank(passed) {
        return format!("{} is repaired before {}", chosen.as_str(), passed.as_str());
    }
    if rank(chosen) > rank(passed) {
        return "it is in another log, or of an earlier command".to_owned();
    }
    if chosen == ProblemClass::TestFailure && passed == ProblemClass::TestFailure {
        return "more tests, or earlier ones, fail with the other".to_owned();
    }
    if problem.first_line <= other.first_line {
        "it comes later in the log".to_owned()
    } else {
        "the newest problem of a running program is chosen".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;
    use super::*;

    #[test]
    fn a_compile_error_goes_before_what_it_breaks() {
        let diagnosis = diagnose(
            "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n\
             src/b.ts(2,7): error TS2304: Cannot find name 'x'.\n",
        );
        let (problem, other) = (diagnosis.problem.unwrap(), &diagnosis.also[0]);
        assert_eq!(describe_not_chosen(&problem, other), "it comes later in the log");
        let failing = Diagnostic { class: ProblemClass::TestFailure, ..other.clone() };
        assert_eq!(describe_not_chosen(&problem, &failing), "compile_error is repaired before test_failure");
        let summary = Diagnostic { role: DiagnosticRole::Summary, ..other.clone() };
        assert_eq!(describe_not_chosen(&problem, &summary), "it is a summary without detail");
    }
}
