//! What the URL of a database says, with what the environment adds as it does for every PostgreSQL program.

use super::passfile;
use super::tls::{TlsSettings, Verification};
use capsid_model::problem::{Code, Problem, Result};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, Host, LoadBalanceHosts, SslMode, TargetSessionAttrs};

/// How to reach a database.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    pub config: Config,
    pub tls: TlsSettings,
}

/// What the parts of a URL say before defaults are filled in.
#[derive(Debug, Default)]
struct UrlParts {
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    hosts: Vec<String>,
    ports: Vec<u16>,
    settings: Vec<(String, String)>,
}

impl PostgresSettings {
    /// Reads `postgres://user:password@host:5432,other:5432/name?key=value`.
    pub fn parse(url: &str) -> Result<Self> {
        Self::from_parts(url, |name| std::env::var(name).ok()).ok_or_else(unreadable_url)
    }

    /// Reads the URL of a standby. Of several hosts, one that takes no writes is meant.
    pub fn parse_for_reads(url: &str) -> Result<Self> {
        let mut settings = Self::parse(url)?;
        if settings.has_several_hosts() {
            settings.config.target_session_attrs(TargetSessionAttrs::ReadOnly);
        }
        Ok(settings)
    }

    /// Whether there is another server to go to when one takes no writes.
    pub fn has_several_hosts(&self) -> bool {
        self.config.get_hosts().len() > 1
    }

    fn from_parts(url: &str, env: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut parts = UrlParts::read(url)?;
        let mut settings = Self::with_timeouts();
        settings.read_environment(&env)?;
        for (key, value) in std::mem::take(&mut parts.settings) {
            settings.set(&key, &value, &mut parts)?;
        }
        settings.set_place(parts, &env)?;
        Some(settings)
    }

    /// A server that vanished is noticed within half a minute, and the next of the list is tried after three seconds.
    fn with_timeouts() -> Self {
        let mut config = Config::new();
        config
            .application_name("capsid")
            .connect_timeout(Duration::from_secs(3))
            .keepalives_idle(Duration::from_secs(10))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3)
            .tcp_user_timeout(Duration::from_secs(30));
        Self { config, tls: TlsSettings::default() }
    }

    fn read_environment(&mut self, env: &impl Fn(&str) -> Option<String>) -> Option<()> {
        if let Some(mode) = env("PGSSLMODE") {
            self.set_tls_mode(&mode)?;
        }
        self.tls.roots = env("PGSSLROOTCERT");
        self.tls.certificate = env("PGSSLCERT");
        self.tls.key = env("PGSSLKEY");
        if let Some(options) = env("PGOPTIONS") {
            self.config.options(options);
        }
        if let Some(attributes) = env("PGTARGETSESSIONATTRS") {
            self.set_target(&attributes)?;
        }
        Some(())
    }

    fn set(&mut self, key: &str, value: &str, parts: &mut UrlParts) -> Option<()> {
        let seconds = || value.parse().ok().map(Duration::from_secs);
        let owned = || Some(value.to_owned());
        match key {
            "sslmode" | "ssl-mode" => self.set_tls_mode(value)?,
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => self.tls.roots = owned(),
            "sslcert" | "ssl-cert" => self.tls.certificate = owned(),
            "sslkey" | "ssl-key" => self.tls.key = owned(),
            // A host here replaces the one before the path, which then only fills its place.
            "host" => parts.hosts = value.split(',').map(str::to_owned).collect(),
            "hostaddr" => {
                for address in value.split(',') {
                    self.config.hostaddr(address.parse().ok()?);
                }
            }
            "port" => parts.ports = value.split(',').map(str::parse).collect::<Result<_, _>>().ok()?,
            "dbname" => parts.database = owned(),
            "user" => parts.user = owned(),
            "password" => parts.password = owned(),
            "application_name" => drop(self.config.application_name(value)),
            "options" => self.add_option(value),
            "target_session_attrs" => self.set_target(value)?,
            "load_balance_hosts" => drop(self.config.load_balance_hosts(match value {
                "disable" => LoadBalanceHosts::Disable,
                "random" => LoadBalanceHosts::Random,
                _ => return None,
            })),
            "channel_binding" => drop(self.config.channel_binding(match value {
                "disable" => ChannelBinding::Disable,
                "prefer" => ChannelBinding::Prefer,
                _ => return None,
            })),
            "connect_timeout" => drop(self.config.connect_timeout(seconds()?)),
            "tcp_user_timeout" => drop(self.config.tcp_user_timeout(seconds()?)),
            "keepalives" => drop(self.config.keepalives(value != "0")),
            "keepalives_idle" => drop(self.config.keepalives_idle(seconds()?)),
            "keepalives_interval" => drop(self.config.keepalives_interval(seconds()?)),
            "keepalives_retries" => drop(self.config.keepalives_retries(value.parse().ok()?)),
            _ => match key.strip_prefix("options[").and_then(|rest| rest.strip_suffix(']')) {
                Some(name) => self.add_option(&format!("-c {name}={value}")),
                None => tracing::warn!(%key, "the URL of the database has a setting that is not known"),
            },
        }
        Some(())
    }

    fn add_option(&mut self, option: &str) {
        let options = match self.config.get_options() {
            Some(before) => format!("{before} {option}"),
            None => option.to_owned(),
        };
        self.config.options(options);
    }

    fn set_tls_mode(&mut self, mode: &str) -> Option<()> {
        let (mode, verification) = match mode {
            "disable" | "allow" => (SslMode::Disable, Verification::Nothing),
            "prefer" => (SslMode::Prefer, Verification::Nothing),
            "require" => (SslMode::Require, Verification::Nothing),
            "verify-ca" => (SslMode::Require, Verification::Authority),
            "verify-full" => (SslMode::Require, Verification::AuthorityAndName),
            _ => return None,
        };
        self.config.ssl_mode(mode);
        self.tls.verification = verification;
        Some(())
    }

    fn set_target(&mut self, attributes: &str) -> Option<()> {
        self.config.target_session_attrs(match attributes {
            "any" => TargetSessionAttrs::Any,
            "read-write" | "primary" => TargetSessionAttrs::ReadWrite,
            "read-only" | "standby" => TargetSessionAttrs::ReadOnly,
            _ => return None,
        });
        Some(())
    }

    /// Who connects, to what and where.
    fn set_place(&mut self, parts: UrlParts, env: &impl Fn(&str) -> Option<String>) -> Option<()> {
        let UrlParts { mut hosts, mut ports, .. } = parts;
        if hosts.is_empty() {
            hosts = self.config.get_hostaddrs().iter().map(ToString::to_string).collect();
        }
        if hosts.is_empty() {
            let host = env("PGHOSTADDR").or_else(|| env("PGHOST"));
            hosts = host
                .map_or_else(|| vec![default_host()], |hosts| hosts.split(',').map(str::to_owned).collect());
        }
        if ports.is_empty() {
            ports.push(env("PGPORT").and_then(|port| port.parse().ok()).unwrap_or(5432));
        }
        for host in &hosts {
            self.config.host(host);
        }
        for port in &ports {
            self.config.port(*port);
        }
        let user = parts
            .user
            .or_else(|| env("PGUSER"))
            .or_else(|| env("USER"))
            .unwrap_or_else(|| "unknown".to_owned());
        let database = parts.database.or_else(|| env("PGDATABASE")).unwrap_or_else(|| user.clone());
        let place = passfile::PasswordScope {
            host: hosts.first().map_or("localhost", String::as_str),
            port: ports.first().copied().unwrap_or(5432),
            database: &database,
            user: &user,
        };
        let password =
            parts.password.or_else(|| env("PGPASSWORD")).or_else(|| passfile::password(&place, env));
        if let Some(password) = password {
            self.config.password(password);
        }
        self.config.user(user).dbname(database);
        // A list is there to find the server that takes writes.
        if self.has_several_hosts() && self.config.get_target_session_attrs() == TargetSessionAttrs::Any {
            self.config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        // What TLS checks is a name, and a socket has none; the server offers no TLS there.
        if self.config.get_hosts().iter().all(is_local) {
            self.config.ssl_mode(SslMode::Disable);
        }
        Some(())
    }
}

impl UrlParts {
    fn read(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user_info, places) = authority.rsplit_once('@').unwrap_or(("", authority));
        let mut parts = Self::default();
        let (user, password) = match user_info.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (user_info, None),
        };
        parts.user = Some(decode(user)?).filter(|user| !user.is_empty());
        parts.password = password.map(decode).map_or(Some(None), |password| password.map(Some))?;
        parts.database = Some(decode(path)?).filter(|name| !name.is_empty());
        for place in places.split(',').filter(|place| !place.is_empty()) {
            let (host, port) = split_port(place)?;
            parts.hosts.push(decode(host)?);
            parts.ports.push(port.unwrap_or(5432));
        }
        // A port that nobody named may come from the environment.
        if !places.contains(':') {
            parts.ports.clear();
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=')?;
            parts.settings.push((decode(key)?, decode(&value.replace('+', "%20"))?));
        }
        Some(parts)
    }
}

/// `host:port`, where an address of IPv6 stands in brackets.
fn split_port(place: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match place.split_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((place, None)),
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

/// Where a server on this machine usually has its socket.
fn default_host() -> String {
    let folders = ["/run/postgresql", "/var/run/postgresql", "/tmp"];
    let socket = |folder: &&str| std::path::Path::new(folder).join(".s.PGSQL.5432").exists();
    folders.into_iter().find(socket).unwrap_or("localhost").to_owned()
}

fn unreadable_url() -> Problem {
    Problem::new(Code::InputInvalid, "The database URL cannot be read.")
        .fix("Write it as `postgres://user:password@host:5432/name`.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> PostgresSettings {
        PostgresSettings::from_parts(url, |_| None).unwrap()
    }

    fn tcp(hosts: &[&str]) -> Vec<Host> {
        hosts.iter().map(|host| Host::Tcp((*host).to_owned())).collect()
    }

    #[test]
    fn a_url_names_user_password_host_port_and_database() {
        let settings = read("postgres://cap%40sid:p%2Fw@db.example.org:6432/the%20hub");
        assert_eq!(settings.config.get_user(), Some("cap@sid"));
        assert_eq!(settings.config.get_password(), Some(&b"p/w"[..]));
        assert_eq!(settings.config.get_hosts(), tcp(&["db.example.org"]));
        assert_eq!(settings.config.get_ports(), [6432]);
        assert_eq!(settings.config.get_dbname(), Some("the hub"));
        assert_eq!(settings.config.get_target_session_attrs(), TargetSessionAttrs::Any);
    }

    #[test]
    fn a_list_of_hosts_looks_for_the_one_that_takes_writes() {
        let settings = read("postgresql://u@a:5433,[::1],c/x?target_session_attrs=read-write");
        assert_eq!(settings.config.get_hosts(), tcp(&["a", "::1", "c"]));
        assert_eq!(settings.config.get_ports(), [5433, 5432, 5432]);
        assert!(settings.has_several_hosts());
        let by_default = read("postgres://a,b/x");
        assert_eq!(by_default.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        let wished = read("postgres://a,b/x?target_session_attrs=read-only");
        assert_eq!(wished.config.get_target_session_attrs(), TargetSessionAttrs::ReadOnly);
    }

    #[test]
    fn a_host_in_the_query_replaces_the_one_before_the_path() {
        let settings = read("postgres://postgres@localhost/hub?host=/tmp/a,/tmp/b&port=5433,5434");
        let sockets: Vec<Host> = ["/tmp/a", "/tmp/b"].iter().map(|path| Host::Unix(path.into())).collect();
        assert_eq!(settings.config.get_hosts(), sockets);
        assert_eq!(settings.config.get_ports(), [5433, 5434]);
        assert_eq!(settings.config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn each_mode_of_tls_says_what_is_checked() {
        let modes = [
            ("disable", SslMode::Disable, Verification::Nothing),
            ("prefer", SslMode::Prefer, Verification::Nothing),
            ("require", SslMode::Require, Verification::Nothing),
            ("verify-ca", SslMode::Require, Verification::Authority),
            ("verify-full", SslMode::Require, Verification::AuthorityAndName),
        ];
        for (word, mode, verification) in modes {
            let settings = read(&format!("postgres://h/x?sslmode={word}&sslrootcert=%2Fca.pem"));
            assert_eq!(settings.config.get_ssl_mode(), mode, "{word}");
            assert_eq!(settings.tls.verification, verification, "{word}");
            assert_eq!(settings.tls.roots.as_deref(), Some("/ca.pem"));
        }
    }

    #[test]
    fn the_environment_fills_in_what_the_url_leaves_out() {
        let env = |name: &str| match name {
            "PGUSER" => Some("someone".to_owned()),
            "PGPASSWORD" => Some("secret".to_owned()),
            "PGPORT" => Some("6000".to_owned()),
            "PGSSLMODE" => Some("verify-full".to_owned()),
            _ => None,
        };
        let settings = PostgresSettings::from_parts("postgres://h", env).unwrap();
        assert_eq!(settings.config.get_user(), Some("someone"));
        assert_eq!(settings.config.get_dbname(), Some("someone"));
        assert_eq!(settings.config.get_password(), Some(&b"secret"[..]));
        assert_eq!(settings.config.get_ports(), [6000]);
        assert_eq!(settings.tls.verification, Verification::AuthorityAndName);
        let named = PostgresSettings::from_parts("postgres://me@h:1/x?sslmode=disable", env).unwrap();
        assert_eq!((named.config.get_user(), named.config.get_ports()), (Some("me"), &[1][..]));
        assert_eq!(named.config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn a_url_that_says_nonsense_is_refused() {
        let wrong = [
            "mysql://h/x",
            "postgres://h:port/x",
            "postgres://h/x?sslmode=maybe",
            "postgres://h/%zz",
            "postgres://h/x?hostaddr=there",
            "postgres://h/x?target_session_attrs=some",
        ];
        for url in wrong {
            let refused = PostgresSettings::parse(url).unwrap_err();
            assert_eq!(refused.code, Code::InputInvalid, "{url}");
        }
    }
}
