//! What in a pasted error says where it happened and not what: paths, numbers, hosts, frames of a stack.

/// What a piece of text between spaces is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoiseChunk<'a> {
    Words(&'a str),
    /// Words that say little: the name of a file, the kind of an address.
    Weak(&'a str),
    Nothing,
}

/// Numbers that mean something to people: answers of servers, exit codes, ports and states of databases.
const TELLING: &[&str] = &[
    "127.0.0.1",
    "137",
    "139",
    "143",
    "2147483647",
    "23503",
    "23505",
    "27017",
    "301",
    "302",
    "3306",
    "40001",
    "400",
    "401",
    "403",
    "404",
    "405",
    "408",
    "409",
    "40p01",
    "410",
    "413",
    "415",
    "422",
    "429",
    "431",
    "499",
    "4xx",
    "500",
    "502",
    "503",
    "504",
    "520",
    "521",
    "522",
    "524",
    "5432",
    "5xx",
    "6379",
    "utf8mb4",
];

/// What a chunk without the signs around it is.
pub(super) fn chunk(text: &str) -> NoiseChunk<'_> {
    if TELLING.contains(&text) {
        return NoiseChunk::Words(text);
    }
    if let Some((scheme, _)) = text.split_once("://") {
        let is_common = ["http", "https", "file"].contains(&scheme);
        return if is_common || scheme.len() > 16 { NoiseChunk::Nothing } else { NoiseChunk::Weak(scheme) };
    }
    let place = without_line(text);
    if is_mail(place) || is_measure(place) || is_hex(place) || is_host(place) {
        return NoiseChunk::Nothing;
    }
    if is_path(place) {
        let name = place.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
        return if is_measure(name) { NoiseChunk::Nothing } else { NoiseChunk::Weak(name) };
    }
    if place.len() < text.len() { NoiseChunk::Weak(place) } else { NoiseChunk::Words(text) }
}

/// Whether a run of letters and digits was made by a machine: part of a pod's name, a key, a hash.
pub(super) fn is_made_up(run: &str) -> bool {
    if run.len() < 5 || run.bytes().all(|b| b.is_ascii_alphabetic()) || TELLING.contains(&run) {
        return false;
    }
    let kinds = run.bytes().map(|b| b.is_ascii_digit());
    let switches = kinds.clone().zip(kinds.skip(1)).filter(|(one, next)| one != next).count();
    is_hex(run) || switches >= 3 || (switches >= 2 && run.len() >= 8)
}

/// Whether a run is a number that says nothing.
pub(super) fn is_number(run: &str) -> bool {
    run.bytes().all(|b| b.is_ascii_digit()) && !TELLING.contains(&run)
}

/// How much each line counts, from 0 to 1: frames little, and in a long text what names an error most.
pub(super) fn forces(lines: &[&str]) -> Vec<f64> {
    const FRAME: f64 = 0.12;
    const ASIDE: f64 = 0.4;
    const LONG: usize = 4;
    let is_long = lines.len() >= LONG && lines.iter().any(|line| is_telling(line));
    let mut after_frame = false;
    let force = |(at, line): (usize, &&str)| {
        let is_source = after_frame && line.starts_with("    ");
        let is_frame = is_frame(line);
        after_frame = is_frame && line.trim_start().starts_with("File ");
        match is_frame || is_source {
            true => FRAME,
            false if is_long && at > 0 && !is_telling(line) => ASIDE,
            false => 1.0,
        }
    };
    lines.iter().enumerate().map(force).collect()
}

/// Whether a line says what went wrong.
fn is_telling(line: &str) -> bool {
    const SIGNS: [&str; 15] = [
        "error",
        "exception",
        "fail",
        "fatal",
        "panic",
        "cannot",
        "denied",
        "refused",
        "timed out",
        "unable",
        "错误",
        "异常",
        "失败",
        "无法",
        "报错",
    ];
    let line = line.to_ascii_lowercase();
    SIGNS.iter().any(|sign| line.contains(sign))
}

/// Whether a line is a frame of a stack, in any common language.
fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_place = || {
        names_a_line(line)
            || ["<anonymous>", "(native", "Unknown Source", ":line "].iter().any(|sign| line.contains(sign))
    };
    (line.starts_with("at ") && has_place())
        || (line.starts_with("File \"") && line.contains(", line "))
        || (line.starts_with("from ") && line.contains(":in "))
        || (line.starts_with('#') && line[1..].starts_with(|c: char| c.is_ascii_digit()))
        || line.starts_with("--> ")
        || (line.starts_with('/') && names_a_line(line))
        || line.starts_with("goroutine ")
        || (line.starts_with("... ") && (line.ends_with(" more") || line.contains("frames omitted")))
        || (numbered.len() < line.len() && numbered.starts_with(": ") && line.contains("::"))
}

/// Whether a text has a colon with a number after it.
pub(super) fn names_a_line(text: &str) -> bool {
    text.split(':').skip(1).any(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// A chunk without the line and column after it.
fn without_line(text: &str) -> &str {
    let cut = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ')');
    let rest = text.get(cut.len()..).unwrap_or_default();
    let has_end = cut.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if rest.starts_with(':') && has_end { cut } else { text }
}

fn is_mail(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// Numbers with or without a unit, versions, dates, times.
fn is_measure(text: &str) -> bool {
    const UNITS: [&str; 26] = [
        "", "b", "k", "kb", "kib", "m", "mb", "mib", "g", "gb", "gib", "gi", "mi", "tb", "ms", "s", "sec",
        "secs", "min", "mins", "h", "hrs", "d", "px", "x", "us",
    ];
    let text = text.trim_start_matches(['v', '^', '~', '=', '-', '+', '<', '>', '$', '#']);
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:-+/_%".contains(c));
    let is_date =
        number.starts_with('T') && number.len() > 1 && number.bytes().all(|b| !b.is_ascii_lowercase());
    text.starts_with(|c: char| c.is_ascii_digit())
        && (is_date
            || UNITS.contains(&number.to_ascii_lowercase().as_str())
            || (text.contains('.')
                && ["alpha", "beta", "rc", "dev", "next", "canary"]
                    .iter()
                    .any(|name| number.starts_with(name))))
}

/// Hexadecimal numbers, hashes and unique ids.
fn is_hex(text: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let has_digit = text.bytes().any(|b| b.is_ascii_digit());
    text.strip_prefix("0x").is_some_and(hex) || (text.len() >= 8 && has_digit && hex(text))
}

fn is_host(text: &str) -> bool {
    let host = text.split(':').next().unwrap_or_default();
    let labels = host.split('.').count();
    let end = host.rsplit('.').next().unwrap_or_default();
    let is_plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
    is_plain
        && ((labels >= 2 && ["com", "org", "local", "internal", "cn"].contains(&end))
            || (labels >= 3 && ["net", "io", "dev", "app", "svc", "lan", "co", "ai"].contains(&end)))
}

fn is_path(text: &str) -> bool {
    let separators = text.matches(['/', '\\']).count();
    let begins = ["/", "./", "../", "~/", "\\"].iter().any(|start| text.starts_with(start));
    let has_end = || {
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && (1..=5).contains(&end.len()))
    };
    separators > 0 && (begins || separators >= 2 || has_end() || text.get(1..3) == Some(":\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_numbers_say_nothing() {
        for text in [
            "3000ms",
            "1.2.3",
            "v18.17.0",
            "^4.0.1",
            "2026-11-16T05:26:01Z",
            "12:30:00.123",
            "10.0.0.7:8080",
            "0x7fff5fbff8c0",
            "550e8400-e29b-41d4-a716-446655440000",
            "9f86d081884c7d65",
            "https://api.example.com/v1/items?x=1",
            "db.prod.internal",
            "ann@example.com",
            "1.0.0-beta.2",
            "100%",
            "api.example.com:443",
        ] {
            assert_eq!(chunk(text), NoiseChunk::Nothing, "{text}");
        }
        for (text, name) in [
            ("/usr/lib/node_modules/npm/index.js:10:5", "index.js"),
            ("src/main.rs", "main.rs"),
            ("main.go:12", "main.go"),
            ("C:\\Users\\ann\\app.py", "app.py"),
            ("postgres://u:p@db/x", "postgres"),
        ] {
            assert_eq!(chunk(text), NoiseChunk::Weak(name), "{text}");
        }
        for text in [
            "502",
            "137",
            "ECONNRESET",
            "TS2322",
            "E0308",
            "read/write",
            "application/json",
            "node.js",
            "socket.io",
        ] {
            assert_eq!(chunk(text), NoiseChunk::Words(text), "{text}");
        }
    }

    #[test]
    fn names_that_machines_made_up_are_known() {
        for run in ["7d9f8b6c5d", "x2x4z", "a1b2c3"] {
            assert!(is_made_up(run), "{run}");
        }
        for run in
            ["oauth2", "sha256", "k8s", "i18n", "utf8mb4", "ts2322", "e0308", "40p01", "base64", "log4j"]
        {
            assert!(!is_made_up(run), "{run}");
        }
    }

    #[test]
    fn frames_count_little() {
        let trace = "TypeError: x is not a function\n    at run (/a/b.js:1:2)\n    at new Promise (<anonymous>)\nsome aside";
        let lines: Vec<&str> = trace.lines().collect();
        assert_eq!(forces(&lines), [1.0, 0.12, 0.12, 0.4]);
        let python =
            "Traceback (most recent call last):\n  File \"/a.py\", line 3, in f\n    go()\nKeyError: 'x'";
        assert_eq!(forces(&python.lines().collect::<Vec<_>>()), [1.0, 0.12, 0.12, 1.0]);
        assert_eq!(forces(&["at night the job fails"]), [1.0]);
    }
}
