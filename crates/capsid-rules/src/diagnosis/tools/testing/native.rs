//! CTest, doctest, Boost.Test and Qt Test.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

static CTEST: Pattern = Pattern::new(
    r"^\s*[0-9]+/[0-9]+ Test +#[0-9]+: (\S+) \.*\s*\*\*\*(Failed|Timeout|Exception: \w+|Not Run|Skipped)",
);
static CTEST_LIST: Pattern = Pattern::new(
    r"^\s*[0-9]+ - (\S+) \((Failed|SEGFAULT|Timeout|Subprocess aborted|Not Run|ILLEGAL|NUMERICAL|OTHER_FAULT|BAD_COMMAND)\)$",
);
static DOCTEST: Pattern = Pattern::new(
    r"^(\S+?)[:(]([0-9]+)\)?: (?:FATAL )?ERROR: (?:((?:CHECK|REQUIRE|WARN)\w*)\( ?(.+?) ?\)(?: is NOT correct!| threw exception.*)|test case THREW exception: (.+))$",
);
static DOCTEST_CASE: Pattern = Pattern::new(r"^TEST CASE:\s+(.+)$");
static BOOST: Pattern = Pattern::new(
    r#"^(\S+?)\(([0-9]+)\): (?:fatal )?error: in "([^"]+)": (?:(check|critical check) )?(.+?)(?: has failed.*)?$"#,
);
static QTEST: Pattern = Pattern::new(r"^FAIL!  : (\w+)::(\w+)\((.*?)\) (.+)$");
static QTEST_PLACE: Pattern = Pattern::new(r"^\s+Loc: \[(\S+)\(([0-9]+)\)\]$");

pub(super) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let failed = |tool: &str| {
        Finding::new(tool, "c", ProblemClass::TestFailure, at).code("fail").message("test failed")
    };
    if text.contains("***") && text.contains(" Test ") || text.ends_with(')') && text.contains(" - ") {
        let groups = CTEST.captures(text).or_else(|| CTEST_LIST.captures(text))?;
        if groups.get(2) == "Skipped" {
            return None;
        }
        return Some(failed("ctest").test(groups.get(1)).role(DiagnosticRole::Summary));
    }
    if text.contains(": ERROR: ") || text.contains(": FATAL ERROR: ") {
        let groups = DOCTEST.captures(text)?;
        let (_, test) = log
            .find_before(at, 30, |text| DOCTEST_CASE.captures(text).map(|groups| groups.get(1).to_owned()))?;
        let code = groups.some(3).unwrap_or("exception").to_owned();
        return Some(
            failed("doctest")
                .code(code)
                .message(groups.some(4).unwrap_or_else(|| groups.get(5)))
                .values(true)
                .test(test)
                .position(groups.get(1), groups.number(2)),
        );
    }
    if text.contains("rror: in \"") {
        let groups = BOOST.captures(text)?;
        return Some(
            failed("boost-test")
                .message(groups.get(5))
                .values(true)
                .test(groups.get(3))
                .position(groups.get(1), groups.number(2)),
        );
    }
    if text.starts_with("FAIL!  : ") {
        let groups = QTEST.captures(text)?;
        let place = log.find_after(at, 4, |text| QTEST_PLACE.captures(text));
        let finding = failed("qtest").message(groups.get(4)).values(true).test(format!(
            "{}::{}",
            groups.get(1),
            groups.get(2)
        ));
        return Some(match place {
            Some((last, place)) => finding.position(place.get(1), place.number(2)).until(last),
            None => finding,
        });
    }
    None
}
