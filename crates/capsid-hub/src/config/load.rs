//! Where settings come from: the command line, then the environment, then `hub.toml`, then the defaults.

use super::keys::{KEYS, SettingKey};
use super::{HubConfig, HubProfile, TlsConfig};
use capsid_model::problem::{Code, Problem, Result};
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use toml::Value as Toml;

/// The commented file that explains every setting.
pub const SAMPLE: &str = include_str!("hub.toml");

/// No file of settings is longer.
const MAX_BYTES: u64 = 1024 * 1024;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    Default,
    File(PathBuf),
    Variable(String),
    CommandLine,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

/// What settings are read from.
pub struct SettingSources<'a> {
    /// The folder of the hub's data, where `hub.toml` is looked for.
    pub data: PathBuf,
    /// A file that must be there, instead of the one in the data folder.
    pub file: Option<PathBuf>,
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The names of all variables that are set.
    pub names: Vec<String>,
    /// What the command line sets: names of settings and their values as text.
    pub given: Vec<(&'static str, String)>,
}

/// The settings and where each came from.
#[derive(Debug)]
pub struct LoadedConfig {
    pub config: HubConfig,
    /// The origins, in the order of [`KEYS`].
    origins: Vec<SettingOrigin>,
}

impl LoadedConfig {
    /// Each setting: its name, its value as it may be shown, and where it came from.
    pub fn each(&self) -> impl Iterator<Item = (&'static SettingKey, Value, &SettingOrigin)> {
        KEYS.iter().zip(&self.origins).map(|(key, origin)| (key, key.to_json(&self.config), origin))
    }
}

/// Reads all settings. Anything that cannot be used is an error that names it.
pub fn load(source: &SettingSources<'_>) -> Result<LoadedConfig> {
    let loaded = load_over(source, HubConfig::default())?;
    match loaded.config.profile {
        HubProfile::Private => Ok(loaded),
        // Another profile has other defaults under what is set.
        profile => load_over(source, HubConfig::for_profile(profile)),
    }
}

fn load_over(source: &SettingSources<'_>, defaults: HubConfig) -> Result<LoadedConfig> {
    let config = HubConfig { data: source.data.clone(), ..defaults };
    let mut loaded = LoadedConfig { config, origins: vec![SettingOrigin::Default; KEYS.len()] };
    if let Some((path, text)) = read_file(source)? {
        loaded.apply_file(&path, &text)?;
    }
    for (index, key) in KEYS.iter().enumerate() {
        let variable = key.variable();
        if let Some(text) = (source.env)(&variable).filter(|text| !text.trim().is_empty()) {
            loaded.apply_text(index, key, &text, SettingOrigin::Variable(variable))?;
        }
        if let Some((_, text)) = source.given.iter().find(|(name, _)| *name == key.name) {
            loaded.apply_text(index, key, text, SettingOrigin::CommandLine)?;
        }
    }
    check_names(source)?;
    if let Some(TlsConfig { certificate, key }) = &loaded.config.tls
        && (certificate.as_os_str().is_empty() || key.as_os_str().is_empty())
    {
        return Err(Problem::new(Code::ConfigInvalid, "TLS needs both a certificate and a key.")
            .fix("Set both server.tls_certificate and server.tls_key, or neither."));
    }
    let search = &loaded.config.search;
    if search.embeddings_url.is_some() && search.embeddings_model.is_empty() {
        return Err(Problem::new(Code::ConfigInvalid, "Embeddings need a model.")
            .fix("Set search.embeddings_model, or leave out search.embeddings_url."));
    }
    Ok(loaded)
}

/// The variable of the data folder, which is where `hub.toml` is looked for and so no setting in it.
const DATA: &str = "CAPSID_HUB_DATA";

/// Refuses a variable that looks like a setting and is none.
fn check_names(source: &SettingSources<'_>) -> Result<()> {
    let known: Vec<String> = KEYS.iter().map(SettingKey::variable).chain([DATA.to_owned()]).collect();
    let mut ours = source.names.iter().filter(|name| name.starts_with("CAPSID_HUB_"));
    let set = |name: &str| (source.env)(name).is_some_and(|text| !text.trim().is_empty());
    match ours.find(|name| !known.contains(name) && set(name)) {
        Some(name) => {
            let what = unknown(name, known.iter().map(String::as_str));
            Err(Problem::new(Code::ConfigInvalid, format!("A variable cannot be used: {what}"))
                .fix(SEE_SAMPLE))
        }
        None => Ok(()),
    }
}

impl LoadedConfig {
    fn apply_file(&mut self, path: &Path, text: &str) -> Result<()> {
        let invalid = |what: String| {
            Problem::new(Code::ConfigInvalid, format!("`{}` cannot be used: {what}", path.display()))
        };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            // The line itself is not repeated: it may hold a secret.
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            invalid(format!("line {line}: {}.", error.message())).fix(SEE_SAMPLE)
        })?;
        for (section, members) in &table {
            let Some(members) = members.as_table().filter(|_| is_section(section)) else {
                return Err(invalid(unknown(section, sections())).fix(SEE_SAMPLE));
            };
            for (name, value) in members {
                let name = format!("{section}.{name}");
                let Some(index) = KEYS.iter().position(|key| key.name == name) else {
                    return Err(invalid(unknown(&name, KEYS.iter().map(|key| key.name))).fix(SEE_SAMPLE));
                };
                self.apply(index, &KEYS[index], value, SettingOrigin::File(path.to_owned()))?;
            }
        }
        Ok(())
    }

    fn apply_text(
        &mut self,
        index: usize,
        key: &SettingKey,
        text: &str,
        origin: SettingOrigin,
    ) -> Result<()> {
        match key.parse_text(text) {
            Some(value) => self.apply(index, key, &value, origin),
            None => Err(unusable(key, &origin)),
        }
    }

    fn apply(&mut self, index: usize, key: &SettingKey, value: &Toml, origin: SettingOrigin) -> Result<()> {
        (key.set)(&mut self.config, value).ok_or_else(|| unusable(key, &origin))?;
        if let Some(place) = self.origins.get_mut(index) {
            *place = origin;
        }
        Ok(())
    }
}

const SEE_SAMPLE: &str = "Correct or remove it; `capsid hub config --sample` explains every setting.";

/// The value itself is not repeated: it may be a secret.
fn unusable(key: &SettingKey, origin: &SettingOrigin) -> Problem {
    Problem::new(
        Code::ConfigInvalid,
        format!("`{}` should be {} (set by: {origin}).", key.name, key.expected),
    )
    .fix("Correct it, or leave it out for the default.")
}

fn read_file(source: &SettingSources<'_>) -> Result<Option<(PathBuf, String)>> {
    let path = source.file.clone().unwrap_or_else(|| source.data.join("hub.toml"));
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound && source.file.is_none() => return Ok(None),
        Err(error) => return Err(Problem::io("read", &path, &error)),
    };
    let mut text = String::new();
    let read =
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|e| Problem::io("read", &path, &e))?;
    if read as u64 > MAX_BYTES {
        return Err(Problem::new(Code::ConfigInvalid, format!("`{}` is far too long.", path.display()))
            .fix("Name a file of settings."));
    }
    Ok(Some((path, text)))
}

fn sections() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter_map(|key| key.name.split('.').next())
}

fn is_section(name: &str) -> bool {
    sections().any(|section| section == name)
}

/// Names what is not known, and what was probably meant.
fn unknown<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let nearest = known.map(|known| (distance(name, known), known)).min();
    match nearest {
        Some((steps, known)) if steps <= 1 + name.len() / 4 => {
            format!("there is no setting `{name}`; did you mean `{known}`?")
        }
        _ => format!("there is no setting `{name}`."),
    }
}

/// How many letters have to be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let least = (row[j] + usize::from(x != *y)).min(row[j + 1] + 1).min(next[j] + 1);
            next.push(least);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(file: &str, env: &[(&str, &str)], given: &[(&'static str, &str)]) -> Result<LoadedConfig> {
        let folder = tempfile::tempdir().unwrap();
        #[allow(clippy::disallowed_methods)]
        std::fs::write(folder.path().join("hub.toml"), file).unwrap();
        let find =
            |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let given = given.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
        let names = env.iter().map(|(name, _)| (*name).to_owned()).collect();
        load(&SettingSources { data: folder.path().to_owned(), file: None, env: &find, names, given })
    }

    fn problem(file: &str) -> Problem {
        let problem = with(file, &[], &[]).unwrap_err();
        assert_eq!(problem.code, Code::ConfigInvalid);
        problem
    }

    #[test]
    fn the_sample_names_every_setting_with_its_default() {
        let shown = |loaded: &LoadedConfig| {
            loaded.each().map(|(key, value, _)| (key.name, value)).collect::<Vec<_>>()
        };
        assert_eq!(shown(&with(SAMPLE, &[], &[]).unwrap()), shown(&with("", &[], &[]).unwrap()));
        // Lines such as `#listen = …` are settings; lines such as `# Where …` are words.
        let on: Vec<&str> = SAMPLE
            .lines()
            .map(|line| {
                line.strip_prefix('#').filter(|rest| rest.starts_with(char::is_alphabetic)).unwrap_or(line)
            })
            .collect();
        let loaded = with(&on.join("\n"), &[], &[]).unwrap();
        let examples = [
            "server.public_url",
            "server.tls_certificate",
            "server.tls_key",
            "database.url",
            "database.read_url",
            "search.embeddings_url",
            "search.embeddings_model",
            "search.embeddings_key",
            "validation.programs",
            "validation.runner_token",
            "tasks.reputation_gates",
            "tasks.model_tiers",
        ];
        for ((key, value, origin), (_, default, _)) in loaded.each().zip(with("", &[], &[]).unwrap().each()) {
            assert!(matches!(origin, SettingOrigin::File(_)), "the sample lacks {}", key.name);
            assert!(value == default || examples.contains(&key.name), "{}: {value} for {default}", key.name);
        }
    }

    #[test]
    fn the_command_line_wins_over_variables_and_they_over_the_file() {
        let file = "[server]\nlisten = \"127.0.0.1:1\"\nmax_connections = 7\n[limits]\nhello = \"5/day\"";
        let env = [
            ("CAPSID_HUB_LISTEN", "127.0.0.1:2"),
            ("CAPSID_HUB_MAX_CONNECTIONS", "8"),
            ("CAPSID_HUB_LIMITS_VOTE", " "),
        ];
        let loaded = with(file, &env, &[("server.listen", "127.0.0.1:3")]).unwrap();
        assert_eq!(loaded.config.listen.port(), 3);
        assert_eq!(loaded.config.max_connections, 8);
        assert_eq!(loaded.config.limits.hello.window_ms, 86_400_000);
        let origin = |name: &str| loaded.each().find(|(key, ..)| key.name == name).unwrap().2.to_string();
        assert_eq!(origin("server.listen"), "command line");
        assert_eq!(origin("server.max_connections"), "CAPSID_HUB_MAX_CONNECTIONS");
        assert!(origin("limits.hello").ends_with("hub.toml"));
        assert_eq!(origin("limits.vote"), "default");
    }

    #[test]
    fn a_hub_of_an_older_version_stays_private() {
        let old = "[server]\nlisten = \"0.0.0.0:4000\"\nmax_connections = 80\n[limits]\nhello = \"5/day\"";
        let config = with(old, &[], &[]).unwrap().config;
        assert_eq!(config.profile, HubProfile::Private);
        assert!(config.check_profile().is_ok());
        assert_eq!(config.connection_limits().per_address, 20, "a quarter, as ever");
        let public = with("[server]\nprofile = \"public\"", &[], &[]).unwrap().config;
        assert_eq!(public.connection_limits().per_address, 64);
    }

    #[test]
    fn an_unknown_setting_is_named_with_its_nearest() {
        let message = problem("[server]\nlisten_ = \"127.0.0.1:1\"").message;
        assert!(
            message.contains("`server.listen_`") && message.contains("did you mean `server.listen`"),
            "{message}"
        );
        let message = problem("[promotion]\nrequire_reports = true").message;
        assert!(message.contains("did you mean `promotion.require_report`"), "{message}");
        let message = problem("[limit]\nhello = \"1/day\"").message;
        assert!(message.contains("did you mean `limits`"), "{message}");
        assert!(!problem("[zebra]\nx = 1").message.contains("did you mean"));
        assert!(problem("listen = \"127.0.0.1:1\"").message.contains("`listen`"));
    }

    #[test]
    fn a_variable_that_is_no_setting_is_named_with_its_nearest() {
        let problem = with("", &[("CAPSID_HUB_LISTENS", "127.0.0.1:1")], &[]).unwrap_err();
        assert_eq!(problem.code, Code::ConfigInvalid);
        assert!(problem.message.contains("did you mean `CAPSID_HUB_LISTEN`"), "{problem}");
        let fine =
            [("CAPSID_HUB_DATA", "/x"), ("CAPSID_HOME", "/y"), ("HUB_LISTENS", "z"), ("CAPSID_HUB_OLD", " ")];
        assert!(with("", &fine, &[]).is_ok());
    }

    #[test]
    fn values_that_cannot_be_used_are_refused_and_not_repeated() {
        for file in [
            "[server]\nlisten = 4000",
            "[server]\nlisten = \"4000\"",
            "[server]\nmax_connections = 0",
            "[server]\npublic_url = \"hub\"",
            "[server]\ntls_key = \"only.key\"",
            "[server]\nallowed_hosts = \"hub\"",
            "[server]\nallowed_hosts = [\"http://hub\"]",
            "[server]\nallowed_origins = [\"app.example.org\"]",
            "[server]\nallowed_origins = [\"https://app.example.org/path\"]",
            "[server]\ntrusted_proxies = [\"10.0.0.0/99\"]",
            "[server]\nreserve_percent = 91",
            "[limits]\nmin_free_bytes = -1",
            "[identity]\nrequire_secret = \"sometimes\"",
            "[identity]\nopen_registration = \"yes\"",
            "[limits]\nhello = \"600\"",
            "[limits]\nhello = \"-1/hour\"",
            "[promotion]\nmin_gdi = 101",
            "[promotion]\nmin_gdi = nan",
            "[promotion]\nvalidators = 0",
            "[validation]\nprograms = [\"rm -rf /\"]",
            "[validation]\nprograms = \"python3\"",
            "[credits]\nnode_grant = -1",
            "[graph]\naccess = \"some\"",
            "[graph]\nquery_price = -1",
            "[graph]\nmost_told = 1.5",
            "[search]\nembeddings_url = \"http://127.0.0.1:1/v1\"",
            "[search]\nembeddings_url = \"ftp://127.0.0.1/v1\"\nembeddings_model = \"m\"",
            "[search]\nembeddings_url = \"http://me:s3cret@127.0.0.1/v1\"\nembeddings_model = \"m\"",
            "[search]\nembeddings_key = \"two words\"",
            "[search]\nembeddings_dimensions = 8193",
            "[search]\nembeddings_batch = 0",
            "[search]\nembeddings_timeout_seconds = 0",
            "[server\n",
        ] {
            problem(file);
        }
        let hidden = problem("[database]\nurl = \"mysql://me:s3cret@host/x\"");
        assert!(!hidden.message.contains("s3cret"), "{hidden}");
    }

    #[test]
    fn the_key_of_the_endpoint_is_used_and_never_shown() {
        let file = "[search]\nembeddings_url = \"http://127.0.0.1:1/v1/\"\nembeddings_model = \"m\"";
        let loaded = with(file, &[("CAPSID_HUB_SEARCH_EMBEDDINGS_KEY", "s3cret-key")], &[]).unwrap();
        let search = &loaded.config.search;
        assert_eq!(search.embeddings_url.as_deref(), Some("http://127.0.0.1:1/v1"));
        assert_eq!(search.embeddings_key.0, "s3cret-key");
        let shown: Vec<_> = loaded.each().map(|(_, value, origin)| format!("{value} {origin}")).collect();
        assert!(!shown.join("\n").contains("s3cret"), "{shown:?}");
        assert!(!format!("{loaded:?}").contains("s3cret"));
        let off = with("[search]\nembeddings_url = \"\"", &[], &[]).unwrap();
        assert_eq!(off.config.search.embeddings_url, None);
    }

    #[test]
    fn a_file_that_was_named_has_to_be_there() {
        let source = SettingSources {
            data: PathBuf::new(),
            file: Some("/nowhere/hub.toml".into()),
            env: &|_| None,
            names: Vec::new(),
            given: Vec::new(),
        };
        assert_eq!(load(&source).unwrap_err().code, Code::FileNotFound);
    }
}
