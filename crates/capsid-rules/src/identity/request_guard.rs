//! Which requests a hub lets in, decided from their heads. A web page may not act as a node: it cannot reach the hub under
//! a name that its owner invented, nor from another site, nor with a body that a form can send.

/// What a request says of itself. A header that is there but cannot be read is an empty text, which matches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestHead<'a> {
    /// Whether the method can change something.
    pub is_write: bool,
    /// The host and port that the client asked for.
    pub host: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub fetch_site: Option<&'a str>,
    pub content_type: Option<&'a str>,
    pub has_body: bool,
    /// Whether it has a `Referer` or a `Cookie`, which only browsers send.
    pub is_from_browser: bool,
}

/// What the operator allows.
#[derive(Debug, Clone, Default)]
pub struct GuardPolicy {
    /// Whether only this machine can reach the hub.
    pub is_loopback: bool,
    /// The address by which others reach the hub.
    pub public_url: Option<String>,
    /// Further names of the hub.
    pub allowed_hosts: Vec<String>,
    /// Web pages of other sites that may call the hub, such as `https://app.example.org`.
    pub allowed_origins: Vec<String>,
}

/// A request that is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It comes from a program, or from a browser that asks for a page.
    Plain,
    /// It comes from a web page that may read the response.
    WebPage,
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardRefusal {
    /// The hub has no such name.
    Host,
    /// The web page that sent it is of another site.
    Origin,
    /// The browser says that another site caused it.
    FetchSite,
    /// The body is of a type that any web page can send.
    ContentType,
}

impl GuardRefusal {
    /// Its name in the metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Origin => "origin",
            Self::FetchSite => "fetch_site",
            Self::ContentType => "content_type",
        }
    }
}

/// Decides whether a request is let in.
///
/// Clients that are programs send neither `Origin` nor `Sec-Fetch-Site`; Node sends `Sec-Fetch-Mode`, so that says nothing.
pub fn admit(head: &RequestHead<'_>, policy: &GuardPolicy) -> Result<Admission, GuardRefusal> {
    if !is_host_allowed(head, policy) {
        return Err(GuardRefusal::Host);
    }
    let admission = match head.origin {
        None => Admission::Plain,
        Some(origin) if is_own_origin(origin, head.host) => Admission::WebPage,
        Some(origin) if is_listed_origin(origin, policy) => {
            return check_body(head).map(|()| Admission::WebPage);
        }
        Some(_) => return Err(GuardRefusal::Origin),
    };
    if head.is_write && matches!(head.fetch_site, Some("cross-site" | "same-site")) {
        return Err(GuardRefusal::FetchSite);
    }
    check_body(head).map(|()| admission)
}

fn is_host_allowed(head: &RequestHead<'_>, policy: &GuardPolicy) -> bool {
    // Every browser names a host; what does not is no browser.
    let Some(host) = head.host else { return true };
    let Some(name) = host_name(host) else { return false };
    let is_named = |other: &str| host_name(other).is_some_and(|other| other == name);
    let public = policy.public_url.as_deref().and_then(authority);
    if is_address(&name)
        || is_under(&name, "localhost")
        || public.is_some_and(is_named)
        || policy.allowed_hosts.iter().any(|host| is_named(host))
        || (!policy.is_loopback && is_local_name(&name))
    {
        return true;
    }
    let is_strict = policy.is_loopback || policy.public_url.is_some() || !policy.allowed_hosts.is_empty();
    !is_strict && head.origin.is_none()
}

/// A name that no stranger can own: it has no dot, or belongs to a local network.
fn is_local_name(name: &str) -> bool {
    !name.contains('.') || ["local", "internal", "lan", "home.arpa"].iter().any(|zone| is_under(name, zone))
}

fn is_under(name: &str, zone: &str) -> bool {
    name == zone || name.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
}

fn is_address(name: &str) -> bool {
    name.starts_with('[') || name.parse::<std::net::Ipv4Addr>().is_ok()
}

/// The name in a host and port, in lower case and without a dot at its end. Nothing when it is none.
fn host_name(host: &str) -> Option<String> {
    let host = host.trim();
    let name = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (port.is_empty() || is_port(port.strip_prefix(':')?)).then_some(host.get(..address.len() + 2)?)?
        }
        None => match host.rsplit_once(':') {
            Some((name, port)) => is_port(port).then_some(name)?,
            None => host,
        },
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    (!name.is_empty() && name.bytes().all(is_plain)).then_some(name)
}

fn is_port(port: &str) -> bool {
    port.parse::<u16>().is_ok() && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// The host and port of an address.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())
}

/// An origin in one form: lower case, without the port that its scheme has anyway.
fn canonical_origin(url: &str) -> Option<String> {
    let url = url.trim().to_ascii_lowercase();
    let (scheme, _) = url.split_once("://")?;
    let authority = authority(&url)?;
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    Some(format!("{scheme}://{}", authority.strip_suffix(usual).unwrap_or(authority)))
}

/// Whether a page of the hub itself sent it. A proxy before the hub may have TLS, so both schemes are the hub's.
fn is_own_origin(origin: &str, host: Option<&str>) -> bool {
    let Some(host) = host else { return false };
    let Some(origin) = canonical_origin(origin) else { return false };
    ["http", "https"]
        .iter()
        .any(|scheme| canonical_origin(&format!("{scheme}://{host}")).as_ref() == Some(&origin))
}

fn is_listed_origin(origin: &str, policy: &GuardPolicy) -> bool {
    let Some(origin) = canonical_origin(origin) else { return false };
    let listed = policy.allowed_origins.iter().chain(&policy.public_url);
    listed.filter_map(|url| canonical_origin(url)).any(|other| other == origin)
}

/// A body is JSON. A form's type, or none, is what `curl -d` sends; from a browser it can come from any page.
fn check_body(head: &RequestHead<'_>) -> Result<(), GuardRefusal> {
    if !head.has_body {
        return Ok(());
    }
    let kind =
        head.content_type.map(|text| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let is_browser = head.origin.is_some() || head.fetch_site.is_some() || head.is_from_browser;
    match kind.as_deref() {
        Some("application/json") => Ok(()),
        Some(kind) if kind.starts_with("application/") && kind.ends_with("+json") => Ok(()),
        None | Some("application/x-www-form-urlencoded") if !is_browser => Ok(()),
        _ => Err(GuardRefusal::ContentType),
    }
}

#[cfg(test)]
#[path = "request_guard_tests.rs"]
mod tests;
