//! curl, wget, HTTP, gRPC and TLS.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

static CURL: Pattern = Pattern::new(r"^curl: \(([0-9]+)\) (.+)$");
static WGET: Pattern = Pattern::new(r"^(?:wget: )(.+)$|^(?:.*?)?ERROR ([45][0-9]{2}): (.+)$");
static GRPC: Pattern = Pattern::new(r"^(?:.*?: )?rpc error: code = (\w+) desc = (.+)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("curl: (") {
        let groups = CURL.captures(text)?;
        return Some(recognize_curl(at, groups.get(1), groups.get(2)));
    }
    if text.starts_with("wget: ") || text.contains("ERROR 4") || text.contains("ERROR 5") {
        return recognize_wget(log, at);
    }
    if text.contains("rpc error: code = ") && !text.starts_with(' ') {
        let groups = GRPC.captures(text)?;
        let mut finding = Finding::new("grpc", "grpc", ProblemClass::NetworkError, at);
        let error = errno::classify("", text).filter(|error| error.family == "grpc")?;
        finding.apply_system(error);
        return Some(finding.message(groups.get(2)));
    }
    if text.contains(" for url") && text.contains(" Error") {
        let error = errno::classify("", text).filter(|error| error.family == "http")?;
        let message = text.rsplit_once("HTTPError: ").map_or(text, |(_, message)| message);
        let mut finding = Finding::new("http", "http", ProblemClass::HttpError, at).message(message);
        finding.apply_system(error);
        return Some(finding);
    }
    None
}

fn recognize_curl(at: usize, number: &str, message: &str) -> Finding {
    let mut finding = Finding::new("curl", "curl", ProblemClass::NetworkError, at)
        .code(format!("curl_{number}"))
        .message(message);
    if let Some(error) = errno::classify("", message) {
        finding.apply_system(error);
        return finding;
    }
    match number {
        "28" => {
            finding.class = ProblemClass::Timeout;
            finding.family = "os".to_owned();
            finding.code("ETIMEDOUT").text("ETIMEDOUT")
        }
        "35" | "51" | "58" | "60" | "77" => {
            finding.class = ProblemClass::TlsError;
            finding
        }
        _ => finding,
    }
}

fn recognize_wget(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(message) = text.strip_prefix("wget: ") {
        return Some(
            Finding::new("wget", "wget", ProblemClass::NetworkError, at).message(message).or_system(),
        );
    }
    let groups = WGET.captures(text)?;
    let status = groups.some(2)?;
    // wget prints the time before; a level without time is not its form.
    let line = log.line(at)?;
    if !line.stamped && !text.starts_with("ERROR") {
        return None;
    }
    Some(
        Finding::new("wget", "http", ProblemClass::HttpError, at)
            .code(format!("http_{status}"))
            .message(format!("{status} {}", groups.get(3))),
    )
}
