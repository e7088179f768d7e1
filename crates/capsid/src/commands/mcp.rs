//! `capsid mcp`: a server for coding agents.

use crate::commands::variable;
use crate::output;
use capsid_mcp::context::ServerContext;
use capsid_mcp::http::{self, HttpGuard};
use capsid_mcp::server::McpServer;
use capsid_mcp::stdio;
use capsid_model::{Code, Problem, Result, SystemClock};
use clap::Args;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Where it listens when `--http` has no value.
const DEFAULT: &str = "127.0.0.1:4100";
/// How long work that was begun may go on after the client has gone. What it writes survives being cut off.
const GRACE: Duration = Duration::from_secs(2);

/// Serve this repository to a coding agent over the Model Context Protocol, on stdio or HTTP.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid mcp                               on stdio, as agents start it
  capsid mcp --compat                      also with the names of gep-mcp-server (gep_evolve, ...)
  capsid mcp --http                        on http://127.0.0.1:4100/mcp, for this machine alone
  CAPSID_MCP_TOKEN=... capsid mcp --http 0.0.0.0:4100

On stdio, stdout carries JSON-RPC only. With --http one line on stdout says where it listens; port 0 takes a free one.
`capsid init --agent NAME` enters it into an agent's settings; docs/how-to/set-up-an-agent.md shows how to do it by hand.")]
pub struct McpArgs {
    /// Serve streamable HTTP on this address (default: 127.0.0.1:4100) instead of stdio.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = DEFAULT)]
    http: Option<String>,

    /// Let in only who shows this token; needed where other machines can reach the address.
    #[arg(long, value_name = "TOKEN", env = "CAPSID_MCP_TOKEN", hide_env_values = true, requires = "http")]
    token: Option<String>,

    /// Also serve the tools under the names that gep-mcp-server gives them.
    #[arg(long)]
    compat: bool,
}

/// Runs the command.
pub fn run(arguments: &McpArgs, folder: &Path, program: clap::Command) -> Result<u8> {
    let folder = folder.canonicalize().map_err(|error| Problem::io("open", folder, &error))?;
    let context = ServerContext {
        folder,
        env: Arc::new(variable),
        clock: Arc::new(SystemClock),
        commands: Arc::new(move || commands(program.clone())),
        compat: arguments.compat,
        whole_machine: arguments.http.is_none(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| not_started(&error))?;
    let served = runtime.block_on(serve(arguments, McpServer::new(context)));
    // Reading stdin may never end, so nothing is waited for here; `serve` waited for what counts.
    runtime.shutdown_background();
    served.map(|()| 0)
}

async fn serve(arguments: &McpArgs, server: McpServer) -> Result<()> {
    let stop = stop_signal()?;
    let served = match &arguments.http {
        None => stdio::serve(server.clone(), stop).await,
        Some(address) => {
            let address: SocketAddr = address.parse().map_err(|_| bad_address(address))?;
            let door = HttpGuard::new(address, arguments.token.as_deref())?;
            let listener = listen(address)?;
            let at = listener.local_addr().map_err(|error| not_started(&error))?;
            output::line(format_args!("listening on http://{at}{}", http::PATH));
            http::serve(server.clone(), listener, door, stop).await
        }
    };
    let _ = tokio::time::timeout(GRACE, server.idle()).await;
    served
}

fn listen(address: SocketAddr) -> Result<tokio::net::TcpListener> {
    let listener = TcpListener::bind(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            Problem::new(Code::AddressInUse, format!("Another program already listens on `{address}`."))
                .fix("Choose another port; port 0 takes a free one.")
        }
        _ => Problem::new(Code::IoError, format!("Cannot listen on `{address}`: {error}.")),
    })?;
    listener.set_nonblocking(true).map_err(|error| not_started(&error))?;
    tokio::net::TcpListener::from_std(listener).map_err(|error| not_started(&error))
}

fn bad_address(address: &str) -> Problem {
    Problem::new(Code::UsageError, format!("`{address}` is no address with a port."))
        .fix("Write it as 127.0.0.1:4100.")
}

fn not_started(error: &std::io::Error) -> Problem {
    Problem::new(Code::Internal, format!("The server could not be started: {error}."))
}

/// Ends when the process is asked to stop.
fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| not_started(&error))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| not_started(&error))?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async move {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Every command with its help, for the tool that explains.
fn commands(mut root: clap::Command) -> Vec<(String, String)> {
    root.build();
    let mut pages = Vec::new();
    collect(&mut root, "", &mut pages);
    pages
}

fn collect(command: &mut clap::Command, parent: &str, pages: &mut Vec<(String, String)>) {
    for sub in command.get_subcommands_mut() {
        if sub.get_name() == "help" || sub.is_hide_set() {
            continue;
        }
        let name = format!("{parent} {}", sub.get_name()).trim_start().to_owned();
        pages.push((name.clone(), sub.render_long_help().to_string()));
        collect(sub, &name, pages);
    }
}
