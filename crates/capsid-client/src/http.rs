//! One HTTP call: bounded in size and time, JSON in and JSON out, no redirects.

use crate::config::ClientConfig;
use crate::retry;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value};
use std::sync::Arc;
use std::time::Duration;
use ureq::http;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// The largest answer that is read.
pub const MAX_ANSWER: u64 = 8 * 1024 * 1024;

/// What is called.
#[derive(Debug, Clone, Copy)]
pub struct HttpCall<'a> {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: &'a str,
    /// The path, with its query.
    pub path: &'a str,
    /// What is sent.
    pub body: Option<&'a Value>,
    /// A secret, a session token or an API key.
    pub bearer: Option<&'a str>,
    /// The version of the secret, which the hub likes to know.
    pub secret_version: Option<u64>,
}

/// Stands as the hub's code where it said nothing in time; its status is missing then.
pub const TIMEOUT: &str = "timeout";

/// What came back.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The JSON in the body.
    pub body: Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
    /// How long the hub asks to wait.
    pub retry_after: Option<Duration>,
}

impl HttpAnswer {
    /// Whether the hub accepted the request.
    pub fn ok(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A call that got no answer that could be used.
#[derive(Debug)]
pub(crate) struct HttpFailure {
    pub(crate) problem: Problem,
    /// Whether the hub may have got the request, and done what it asks for.
    pub(crate) sent: bool,
    /// Whether it could go better at once.
    pub(crate) again: bool,
}

impl HttpFailure {
    fn for_good(problem: Problem) -> Self {
        Self { problem, sent: true, again: false }
    }
}

/// A connection to one hub.
#[derive(Debug, Clone)]
pub struct HttpClient {
    pub(crate) agent: ureq::Agent,
    settings: ClientConfig,
}

impl HttpClient {
    /// Prepares the connection; nothing is sent yet.
    pub fn new(settings: &ClientConfig) -> Result<Self> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(settings.timeout))
            .max_response_header_size(64 * 1024)
            // A connection that waited for long may be closed at the other end, which is noticed too late.
            .max_idle_age(Duration::from_secs(3))
            .user_agent(concat!("capsid/", env!("CARGO_PKG_VERSION")));
        let proxy = settings.proxy.as_ref().map(|proxy| ureq::Proxy::new(&proxy.0)).transpose();
        config = config.proxy(proxy.map_err(|_| {
            Problem::new(Code::ConfigInvalid, "The proxy's address cannot be used.")
                .fix("Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY.")
        })?);
        if settings.url.starts_with("https://") {
            config = config.tls_config(tls(settings)?);
        }
        Ok(Self { agent: config.build().new_agent(), settings: settings.clone() })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &ClientConfig {
        &self.settings
    }

    /// Makes one call, once. Every answer that is JSON is given, whatever its status.
    pub fn call(&self, call: HttpCall<'_>) -> Result<HttpAnswer> {
        self.attempt(call).map_err(|failure| failure.problem)
    }

    /// The same, and reports with a failure whether the hub may have received the request.
    pub(crate) fn attempt(&self, call: HttpCall<'_>) -> Result<HttpAnswer, HttpFailure> {
        let request = self.request(call).map_err(HttpFailure::for_good)?;
        let mut response = self.agent.run(request).map_err(|error| self.failed(&error, false))?;
        let status = response.status().as_u16();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        if (300..400).contains(&status) {
            let to = inert_line(cut(&header("location").unwrap_or_default(), 200));
            return Err(HttpFailure::for_good(
                self.odd(&format!("it answered {status} and points to `{to}`, where nothing was sent")),
            ));
        }
        let named = retry::retry_after_header(header("retry-after").as_deref(), header("date").as_deref());
        let kind = header("content-type").unwrap_or_default();
        if !is_json(&kind) {
            // A proxy in front of an unreachable hub answers itself, in HTML.
            if matches!(status, 429 | 502 | 503 | 504) {
                return Ok(HttpAnswer { status, body: Value::Null, bytes: Vec::new(), retry_after: named });
            }
            let shown = if kind.is_empty() { "no type".to_owned() } else { inert_line(cut(&kind, 60)) };
            return Err(HttpFailure::for_good(
                self.odd(&format!("it answered {status} with {shown} instead of JSON")),
            ));
        }
        let read = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        let bytes = read.map_err(|error| self.failed(&error, true))?;
        let body = self.json(&bytes).map_err(HttpFailure::for_good)?;
        let retry_after = retry::retry_after_body(&body).or(named);
        Ok(HttpAnswer { status, body, bytes, retry_after })
    }

    fn request(&self, call: HttpCall<'_>) -> Result<http::Request<Vec<u8>>> {
        let url = format!("{}{}", self.settings.url, call.path);
        let mut request =
            http::Request::builder().method(call.method).uri(&url).header("accept", "application/json");
        if let Some(bearer) = call.bearer {
            let mut value = http::HeaderValue::from_str(&format!("Bearer {bearer}"))
                .map_err(|_| self.unusable("the token or secret holds characters that no token has"))?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        if let Some(version) = call.secret_version {
            request = request.header("x-evomap-node-secret-version", version.to_string());
        }
        let body = call.body.map(|value| serde_json::to_vec(value).unwrap_or_default());
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        request.body(body.unwrap_or_default()).map_err(|error| self.unusable(&error.to_string()))
    }

    fn json(&self, bytes: &[u8]) -> Result<Value> {
        if bytes.is_empty() {
            return Err(self.odd("its answer is empty"));
        }
        // The reader has a bound for how deep things are nested.
        serde_json::from_slice(bytes).map_err(|error| self.odd(&format!("its JSON cannot be read: {error}")))
    }

    fn unusable(&self, what: &str) -> Problem {
        Problem::new(
            Code::InputInvalid,
            format!("The request to `{}` cannot be made: {what}.", self.settings.url),
        )
    }

    /// An answer that the protocol does not allow.
    pub(crate) fn odd(&self, what: &str) -> Problem {
        Problem::new(
            Code::HubAnswerInvalid,
            format!("`{}` does not answer as a hub: {what}. Nothing of it was used.", self.settings.url),
        )
        .fix("Check the address; a proxy or another service may stand in front of the hub.")
    }

    fn failed(&self, error: &ureq::Error, is_started: bool) -> HttpFailure {
        use std::io::ErrorKind as Kind;
        let again = |problem: Problem, sent: bool| HttpFailure { problem, sent, again: true };
        match error {
            ureq::Error::BodyExceedsLimit(_) => HttpFailure::for_good(
                self.odd(&format!("its answer is larger than {} MiB", MAX_ANSWER >> 20)),
            ),
            ureq::Error::LargeResponseHeader(..) | ureq::Error::Protocol(_) | ureq::Error::Http(_) => {
                HttpFailure::for_good(self.odd(&format!("its answer is no HTTP ({})", format_error(error))))
            }
            // A hub that took all the time there was would take it again.
            ureq::Error::Timeout(_) => HttpFailure::for_good(self.too_slow()),
            ureq::Error::Io(error) if error.kind() == Kind::TimedOut => {
                HttpFailure::for_good(self.too_slow())
            }
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
                HttpFailure { problem: self.untrusted(error), sent: false, again: false }
            }
            ureq::Error::Io(error) if error.kind() == Kind::InvalidData && !is_started => {
                HttpFailure { problem: self.untrusted(error), sent: false, again: false }
            }
            ureq::Error::Io(_) if is_started => {
                again(self.odd("its answer ends before it is complete"), true)
            }
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::ConnectProxyFailed(_) => again(self.away(error), false),
            ureq::Error::Io(inner) => {
                let never = matches!(
                    inner.kind(),
                    Kind::ConnectionRefused | Kind::HostUnreachable | Kind::NetworkUnreachable
                );
                again(self.away(error), !never)
            }
            _ => HttpFailure { problem: self.away(error), sent: true, again: false },
        }
    }

    fn too_slow(&self) -> Problem {
        let (url, seconds) = (&self.settings.url, self.settings.timeout.as_secs_f32());
        Problem::new(Code::HubUnreachable, format!("`{url}` did not answer within {seconds} s."))
            .fix("Try again later; work on this machine goes on without the hub.")
            .hub_code(TIMEOUT)
    }

    fn away(&self, error: &ureq::Error) -> Problem {
        Problem::new(
            Code::HubUnreachable,
            format!("`{}` cannot be reached: {}.", self.settings.url, format_error(error)),
        )
        .fix("Check the address and the network; work on this machine goes on without the hub.")
    }

    fn untrusted(&self, error: &dyn std::fmt::Display) -> Problem {
        Problem::new(
            Code::HubUnreachable,
            format!("No safe connection to `{}` can be made: {}.", self.settings.url, format_error(error)),
        )
        .fix("If the hub has a certificate of your own authority, name that authority's PEM file in CAPSID_CA_FILE or as `ca_file` under `[hub]`.")
    }
}

/// An error's text may come from whoever answered.
fn format_error(error: &dyn std::fmt::Display) -> String {
    inert_line(cut(&error.to_string(), 200))
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// TLS with the system's authorities and the one that was named.
fn tls(settings: &ClientConfig) -> Result<TlsConfig> {
    let mut roots: Vec<Certificate<'static>> = rustls_native_certs::load_native_certs()
        .certs
        .iter()
        .map(|der| Certificate::from_der(der.as_ref()).to_owned())
        .collect();
    if let Some(path) = &settings.ca_file {
        let pem = capsid_disk::files::read_bytes(path)?.ok_or_else(|| {
            Problem::new(
                Code::FileNotFound,
                format!("The certificate file `{}` does not exist.", path.display()),
            )
            .fix("Correct CAPSID_CA_FILE or `ca_file` under `[hub]`.")
        })?;
        let before = roots.len();
        for item in ureq::tls::parse_pem(&pem).flatten() {
            if let ureq::tls::PemItem::Certificate(certificate) = item {
                roots.push(certificate);
            }
        }
        if roots.len() == before {
            return Err(Problem::new(
                Code::ConfigInvalid,
                format!("`{}` holds no certificate.", path.display()),
            )
            .fix("Name a PEM file with the certificate of the authority."));
        }
    }
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}
