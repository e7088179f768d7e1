//! Sending traces to a receiver of OpenTelemetry (OTLP over HTTP, as JSON).

use crate::address::{host_of, is_loopback};
use crate::config::{CALL, ClientConfig};
use crate::http::HttpClient;
use crate::proxy;
use crate::retry::retry_after_header;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use ureq::http;

/// Where traces are posted unless the address has a path of its own.
const PATH: &str = "/v1/traces";
/// How often a request is made at most.
const ATTEMPTS: u64 = 5;
/// How long to wait where the receiver does not say.
const BACKOFF: BackoffPolicy = BackoffPolicy::doubling(200, 5_000);
/// The longest that a receiver is waited for between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// No answer is read further.
const MAX_ANSWER: u64 = 64 * 1024;
/// Allows `http://` for a host that is not this machine.
const ALLOW_INSECURE: &str = "CAPSID_OTLP_ALLOW_INSECURE";

/// A receiver of traces.
#[derive(Debug)]
pub struct OtlpReceiver {
    client: HttpClient,
    url: String,
    headers: Vec<(http::HeaderName, http::HeaderValue)>,
}

/// An attempt that failed.
struct FailedAttempt {
    problem: Problem,
    /// How long to wait before the next one; none if it would not go better.
    again: Option<Duration>,
}

impl OtlpReceiver {
    /// Prepares the connection; nothing is sent yet. Each header is a text such as `Authorization: Bearer …`.
    pub fn new(url: &str, headers: &[String], env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let set =
            |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let url = endpoint(url, set(ALLOW_INSECURE).as_deref() == Some("1"))?;
        let headers = headers.iter().map(|header| parse_header(header)).collect::<Result<_>>()?;
        let settings = ClientConfig {
            proxy: proxy::for_address(&url, &set)?,
            ca_file: set("CAPSID_CA_FILE").map(PathBuf::from),
            url: url.clone(),
            timeout: CALL,
            retries: 0,
            allow_insecure: false,
            from_repository: false,
        };
        Ok(Self { client: HttpClient::new(&settings)?, url, headers })
    }

    /// The address that is posted to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends the text of one request, compressed. Gives how many spans the receiver did not take.
    pub fn send(&self, request: &str) -> Result<u64> {
        let body = compress(request)?;
        let mut failures = 0;
        loop {
            match self.post(&body) {
                Ok(rejected) => return Ok(rejected),
                Err(FailedAttempt { problem, again }) => {
                    failures += 1;
                    let Some(asked) = again.filter(|_| failures < ATTEMPTS) else { return Err(problem) };
                    std::thread::sleep(asked.max(BACKOFF.pause(failures)).min(LONGEST_PAUSE));
                }
            }
        }
    }

    fn post(&self, body: &[u8]) -> Result<u64, FailedAttempt> {
        let for_good = |problem| FailedAttempt { problem, again: None };
        let mut request = http::Request::builder()
            .method("POST")
            .uri(&self.url)
            .header("content-type", "application/json")
            .header("content-encoding", "gzip")
            .header("accept", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request =
            request.body(body.to_vec()).map_err(|error| for_good(self.unreachable(&error.to_string())))?;
        let mut response = self.client.agent.run(request).map_err(|error| FailedAttempt {
            problem: self.unreachable(&error.to_string()),
            again: matches!(error, ureq::Error::Io(_) | ureq::Error::ConnectionFailed)
                .then_some(Duration::ZERO),
        })?;
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let asked = retry_after_header(header("retry-after"), header("date"));
        let answer = response.body_mut().with_config().limit(MAX_ANSWER).read_to_string().unwrap_or_default();
        match status {
            200..=299 => Ok(rejected_spans(&answer)),
            429 | 502 | 503 | 504 => Err(FailedAttempt {
                problem: self.refused(status, &answer),
                again: Some(asked.unwrap_or_default()),
            }),
            _ => Err(for_good(self.refused(status, &answer))),
        }
    }

    fn unreachable(&self, reason: &str) -> Problem {
        Problem::new(
            Code::ReceiverUnreachable,
            format!("`{}` cannot be reached: {}.", self.url, inert_line(cut(reason, 200))),
        )
        .fix("Check the address and that the receiver listens; OTLP over HTTP is usually on port 4318.")
    }

    fn refused(&self, status: u16, answer: &str) -> Problem {
        let words = inert_line(cut(answer.trim(), 200));
        let words = if words.is_empty() { String::new() } else { format!(": {words}") };
        Problem::new(Code::ReceiverRefused, format!("`{}` answered {status}{words}.", self.url))
            .fix("Check the address and the headers; the receiver must take OTLP as JSON.")
    }
}

/// How many spans an answer says were not taken.
fn rejected_spans(answer: &str) -> u64 {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let rejected = &answer["partialSuccess"]["rejectedSpans"];
    let text = || rejected.as_str().and_then(|text| text.parse().ok());
    rejected.as_u64().or_else(text).unwrap_or_default()
}

fn compress(request: &str) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let done = encoder.write_all(request.as_bytes()).and_then(|()| encoder.finish());
    done.map_err(|error| Problem::new(Code::Internal, format!("A request was not compressed: {error}.")))
}

/// The address to post to.
fn endpoint(url: &str, allow_insecure: bool) -> Result<String> {
    let wrong = |what: &str| {
        Problem::new(
            Code::InputInvalid,
            format!("`{}` cannot be used as a receiver's address: {what}.", inert_line(cut(url, 200))),
        )
        .fix("Give an address such as `http://127.0.0.1:4318`; put secrets into `--header`.")
    };
    let bare = url.trim();
    let rest = match bare.split_once("://") {
        Some(("https" | "http", rest)) => rest,
        _ => return Err(wrong("it does not begin with `https://` or `http://`")),
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.is_empty() || bare.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(wrong("it names no host"));
    }
    if host.contains('@') {
        // The address is not repeated: it may hold a password.
        return Err(Problem::new(
            Code::InputInvalid,
            "The receiver's address holds a user name or a password.",
        )
        .fix("Put it into `--header 'Authorization: …'`."));
    }
    if host.contains(['?', '#']) {
        return Err(wrong("its path is missing"));
    }
    if bare.starts_with("http://") && !allow_insecure && !is_loopback(host_of(bare)) {
        return Err(Problem::new(
            Code::InputInvalid,
            format!("`{bare}` is not encrypted, and what is sent there could be read on the way."),
        )
        .fix(format!("Use `https://`, or set {ALLOW_INSECURE}=1 for a network you trust.")));
    }
    let scheme = bare.split("://").next().unwrap_or_default();
    match path.trim_matches('/') {
        "" => Ok(format!("{scheme}://{host}{PATH}")),
        _ => Ok(bare.to_owned()),
    }
}

/// A header, whose value is never shown.
fn parse_header(header: &str) -> Result<(http::HeaderName, http::HeaderValue)> {
    let wrong = || {
        Problem::new(Code::InputInvalid, "A header is not of the form `NAME: VALUE`.")
            .fix("Write it as in `--header 'Authorization: Bearer TOKEN'`.")
    };
    let (name, value) = header.split_once(':').ok_or_else(wrong)?;
    let name = http::HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
    let mut value = http::HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_that_of_traces() {
        for (given, posted) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            ("https://otlp.example/api/otel?x=1", "https://otlp.example/api/otel?x=1"),
        ] {
            assert_eq!(endpoint(given, false).unwrap(), posted);
        }
        for bad in ["otlp.example", "ftp://x", "http://", "http://collector.lan:4318", "http://[::1]?x"] {
            assert_eq!(endpoint(bad, false).unwrap_err().code, Code::InputInvalid, "{bad}");
        }
        assert!(endpoint("http://collector.lan:4318", true).is_ok());
        let problem = endpoint("https://me:hunter2@x", false).unwrap_err();
        assert!(!format!("{problem:?}").contains("hunter2"));
    }

    #[test]
    fn a_header_is_taken_apart_and_its_value_never_shown() {
        let (name, value) = parse_header("Authorization: Bearer a:b").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("authorization", "Bearer a:b"));
        assert!(!format!("{value:?}").contains("Bearer"));
        for bad in ["hunter2", "a b: hunter2", "a: hunter2\u{1}"] {
            assert!(!format!("{:?}", parse_header(bad).unwrap_err()).contains("hunter2"), "{bad}");
        }
    }

    #[test]
    fn rejected_spans_are_counted_in_both_spellings() {
        assert_eq!(rejected_spans(r#"{"partialSuccess":{"rejectedSpans":"3"}}"#), 3);
        assert_eq!(rejected_spans(r#"{"partialSuccess":{"rejectedSpans":4}}"#), 4);
        for none in ["", "{}", r#"{"partialSuccess":{}}"#, "<html>"] {
            assert_eq!(rejected_spans(none), 0);
        }
    }
}
