//! Pages about the data of this machine, until Ctrl-C: `capsid trail explore` and `capsid events --web`.

use crate::output::{self, DIM, WARN, paint};
use capsid_hub::server::stop_signal;
use capsid_model::{Code, Problem, Result, json};
use capsid_web::local::{LocalData, LocalServer};
use clap::Args;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tempfile::NamedTempFile;

/// How to serve.
#[derive(Debug, Args)]
pub(super) struct ViewerOptions {
    /// The port on 127.0.0.1 (default: 4840, or a free one where that is taken).
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<u16>,
    /// Open the page in the browser too.
    #[arg(long)]
    pub(super) open: bool,
}

/// Serves until Ctrl-C. The address is the one line on stdout; whoever has it can read what is shown.
pub(super) fn serve(options: &ViewerOptions, as_json: bool, data: Arc<dyn LocalData>) -> Result<u8> {
    let server = LocalServer::open(options.port)?;
    let address = server.address(data.first_page());
    let failed = |error: std::io::Error| {
        Problem::new(Code::IoError, format!("The pages could not be served: {error}."))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    let opened = runtime.block_on(async {
        let stop = stop_signal()?;
        if as_json {
            output::document(&json!({ "address": address }));
        } else {
            output::line(&address);
        }
        output::talk(paint(DIM, "Only who has this address can read it. Stop with Ctrl-C."));
        let opened = if options.open { open(&address) } else { None };
        server.run(data, stop).await.map(|()| opened)
    });
    // A thread that still reads a large chain is not waited for.
    runtime.shutdown_timeout(Duration::from_millis(200));
    opened.map(|_page| 0)
}

/// Opens the browser. The key stands in a file that only this user can read: the words of a command are seen by all.
fn open(address: &str) -> Option<NamedTempFile> {
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>Capsid</title>"
    );
    let written =
        tempfile::Builder::new().prefix("capsid-").suffix(".html").tempfile().and_then(|mut file| {
            file.write_all(page.as_bytes())?;
            Ok(file)
        });
    let opened = match &written {
        Ok(file) => capsid_sandbox::browser::open_page(file.path()),
        Err(error) => Err(Problem::io("write", &std::env::temp_dir(), error)),
    };
    if let Err(problem) = opened {
        let why = capsid_model::text::inert_line(&problem.message);
        output::talk(format_args!("{} {why} Open the address yourself.", paint(WARN, "no browser:")));
    }
    written.ok()
}
