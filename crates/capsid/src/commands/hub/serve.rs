//! `capsid hub serve`: runs a hub until it is told to stop.

use super::HubLocation;
use super::starter::SandboxedStarter;
use crate::commands::variable;
use capsid_disk::files;
use capsid_hub::config::{HubConfig, SecretText};
use capsid_hub::random::{Random, SystemRandom};
use capsid_hub::run::serve_hub;
use capsid_hub::server;
use capsid_hub::server::file_limit::raise_file_limit;
use capsid_hub::server::log_format;
use capsid_hub::server::log_format::LogFormat;
use capsid_hub::server::tls;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::{Clock, Code, Problem, Result, SystemClock};
use capsid_store::Store;
use clap::{Args, ValueEnum};
use std::io::{ErrorKind, IsTerminal, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// Run a hub as a service does: the log goes to stderr, and SIGTERM ends it in order.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub serve
  capsid hub serve --listen 0.0.0.0:4000 --public-url https://hub.example.org --log-format json
  capsid hub serve --database postgres://capsid@db/capsid --no-migrate

When it listens, it prints one line on stdout: `listening on http://127.0.0.1:4000`. Port 0 takes a free one.
CAPSID_LOG sets the level of the log, such as `warn` or `capsid_hub=debug`.")]
pub struct HubServeArgs {
    #[command(flatten)]
    options: ServeOptions,
}

/// What both `capsid up` and `capsid hub serve` take.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// The address and port to listen on (default: 127.0.0.1:4000).
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// How others reach the hub, when that is not the address it listens on.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,

    #[command(flatten)]
    location: HubLocation,

    /// Refuse a database that is not up to date instead of bringing it there.
    #[arg(long)]
    no_migrate: bool,

    /// How the lines of the log look.
    #[arg(long = "log-format", alias = "log", value_enum, default_value_t = LogFormatArg::Text, value_name = "FORMAT")]
    log: LogFormatArg,
}

/// How the lines of the log look.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormatArg {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Runs the command.
pub fn run(arguments: &HubServeArgs) -> Result<u8> {
    start(&arguments.options, "info", |hub| {
        let data = hub.config.data.display();
        tracing::info!(address = hub.config.base_url(), %data, "the hub listens");
        if hub.is_exposed {
            tracing::warn!("{EXPOSED}");
        }
        if is_exposed(&hub.config) {
            tracing::warn!(
                "other machines can reach this hub, and without TLS they send their secrets in the clear"
            );
        }
    })
}

/// Runs a hub. `level` is how much is logged unless CAPSID_LOG says otherwise; `announce` reports the start.
pub(crate) fn start(options: &ServeOptions, level: &str, announce: impl FnOnce(&SharedHub)) -> Result<u8> {
    run_hub(options.config()?, options, level, announce)
}

/// The same with settings that come from elsewhere.
pub(crate) fn run_hub(
    mut config: HubConfig,
    options: &ServeOptions,
    level: &str,
    announce: impl FnOnce(&SharedHub),
) -> Result<u8> {
    let format = match options.log {
        LogFormatArg::Text => LogFormat::Text,
        LogFormatArg::Json => LogFormat::Json,
    };
    let filter = variable("CAPSID_LOG").filter(|filter| !filter.trim().is_empty());
    let _log =
        log_format::start(format, filter.as_deref().unwrap_or(level), std::io::stderr().is_terminal())?;
    // What can be refused is refused before the database is touched.
    config.check_profile()?;
    config.tls.as_ref().map(tls::acceptor).transpose()?;
    let listener = listen(&mut config)?;
    let mut database = capsid_store::StoreOptions::new(&config.data, config.database.clone());
    database.read_database.clone_from(&config.read_database);
    database.migrate = !options.no_migrate;
    database.min_free_bytes = config.admission.min_free_bytes;
    let store = Store::open(&database, SystemClock.now())?;
    set_runner_token(&mut config)?;
    let hub = Hub::new(store, config, Arc::new(SystemClock), Arc::new(SystemRandom))?;
    hub.starter.set_runner(Arc::new(SandboxedStarter));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| not_started(&error))?;
    runtime.block_on(async {
        let stop = server::stop_signal()?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| not_started(&error))?;
        warn_of_few_files(&hub.config);
        print_address(&hub.config);
        // It may look into the database.
        tokio::task::block_in_place(|| announce(&hub));
        serve_hub(Arc::clone(&hub), listener, stop).await
    })?;
    // What still runs lets go of the hub, so that its database is closed in order.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(hub);
    Ok(0)
}

impl ServeOptions {
    /// The requested address, or the default.
    pub(crate) fn listen(&self) -> &str {
        self.listen.as_deref().unwrap_or("127.0.0.1:4000")
    }

    fn config(&self) -> Result<HubConfig> {
        let listen = self.listen.clone().map(|address| ("server.listen", address));
        let public = self.public_url.clone().map(|url| ("server.public_url", url));
        Ok(self.location.load(listen.into_iter().chain(public).collect())?.config)
    }
}

/// The token that the runner shows: as it is set, or as it stands in the data folder, where it is made once.
fn set_runner_token(config: &mut HubConfig) -> Result<()> {
    if !config.runner.is_on || !config.runner.token.0.is_empty() {
        return Ok(());
    }
    let path = config.data.join("runner-token");
    let random: &dyn Random = &SystemRandom;
    files::create_secret(&path, format!("runner_{}\n", random.hex(32)).as_bytes())?;
    let token = files::read_optional(&path)?.unwrap_or_default();
    config.runner.token = SecretText(token.trim().to_owned());
    Ok(())
}

/// What the operator of a hub for friends should know when strangers can reach it.
pub(crate) const EXPOSED: &str = "The whole internet can reach this hub, and its profile is `private`, which trusts whoever \
    comes. Set server.profile to `public`, or listen on a local address.";

/// A system that allows few open files allows few connections.
fn warn_of_few_files(config: &HubConfig) {
    if let Some(fewer) = raise_file_limit(config.max_connections) {
        tracing::warn!(
            "the system allows about {fewer} connections at one time, fewer than server.max_connections; raise the \
             limit of open files (ulimit -n, LimitNOFILE=)"
        );
    }
}

/// Whether other machines can come in without TLS. A public address says that something before the hub has it.
pub(crate) fn is_exposed(config: &HubConfig) -> bool {
    !config.listen.ip().is_loopback() && !config.base_url().starts_with("https://")
}

/// Takes the address, and notes the port that the system chose where that was left to it.
fn listen(config: &mut HubConfig) -> Result<TcpListener> {
    let listener = TcpListener::bind(config.listen).map_err(|error| address_in_use(config.listen, &error))?;
    listener.set_nonblocking(true).map_err(|error| not_started(&error))?;
    config.listen = listener.local_addr().map_err(|error| not_started(&error))?;
    Ok(listener)
}

fn address_in_use(address: SocketAddr, error: &std::io::Error) -> Problem {
    let refused = |code, why: &str| Problem::new(code, format!("The hub cannot listen on {address}: {why}."));
    match error.kind() {
        ErrorKind::AddrInUse => {
            refused(Code::AddressInUse, "another program already does, perhaps a hub that runs already")
                .fix("Stop it, or choose another address with --listen, such as --listen 127.0.0.1:4001.")
        }
        ErrorKind::PermissionDenied => refused(Code::PermissionDenied, "the system does not allow it")
            .fix("Choose a port above 1023 with --listen, and put a proxy before the hub."),
        _ => refused(Code::InputInvalid, &error.to_string())
            .fix("Choose an address of this machine with --listen."),
    }
}

fn not_started(error: &std::io::Error) -> Problem {
    Problem::new(Code::IoError, format!("The hub could not be started: {error}."))
}

/// The one line on stdout, for whoever started the hub. Nobody reading it is no reason to stop.
fn print_address(config: &HubConfig) {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let mut stdout = std::io::stdout().lock();
    let _unread = writeln!(stdout, "listening on {scheme}://{}", config.listen).and_then(|()| stdout.flush());
}
