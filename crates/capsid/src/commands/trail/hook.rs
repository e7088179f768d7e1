//! `capsid trail hook`: what the tools call.

use super::install::tool;
use super::seal::{desk, places};
use crate::commands::{key, variable};
use crate::output;
use capsid_model::{Clock, Code, Problem, Result, SystemClock};
use capsid_seal::TrailHome;
use capsid_trail::payload::{self, HookPayload};
use capsid_trail::{log, session::check_session};
use capsid_transcript::session_paths::{find, source_of};
use capsid_transcript::{Tool, TranscriptSource};
use clap::Args;
use serde_json::value::RawValue;
use std::io::{IsTerminal, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The most that a tool tells its hook.
const PAYLOAD_LIMIT: u64 = 16 << 20;

/// How long a tool may take to tell it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the tools call at the end of a turn: seals what is new. Never fails, and tells its troubles to hook.log.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail hook claude-code < payload.json
  capsid trail hook codex '{\"type\":\"agent-turn-complete\",\"thread-id\":\"...\"}'")]
pub(super) struct TrailHookArgs {
    /// claude-code, codex, cursor or cline. Another name does nothing.
    tool: String,
    /// What the tool tells on the command line (Codex).
    #[arg(value_name = "PAYLOAD")]
    payload: Option<String>,
    /// Seal secrets too. They can never be taken out again.
    #[arg(long)]
    no_redact: bool,
}

/// Runs the hook. Whatever happens, the agent that called it goes on.
pub(super) fn run(arguments: &TrailHookArgs, home: Option<&Path>) {
    let Ok(tool) = tool(&arguments.tool) else { return };
    // Said first: the tool waits for it, and it does not depend on what follows.
    output::print(payload::reply(tool));
    // A panic is told to the log only; the agent's terminal is not ours.
    std::panic::set_hook(Box::new(|_| {}));
    let Ok(home) = TrailHome::find(home, &variable) else { return };
    let sealed = catch_unwind(AssertUnwindSafe(|| seal(tool, arguments, &home)));
    let line = match sealed {
        Ok(Ok(line)) => line,
        Ok(Err(problem)) => Some(format!("ERROR [{}] {}", problem.code, problem.message)),
        Err(_) => Some("ERROR [internal] The hook stopped on a bug.".to_owned()),
    };
    if let Some(line) = line {
        // With nowhere to write there is nobody to tell.
        let _ = log::append_line(&home, tool.name(), &line, SystemClock.now());
    }
}

/// Seals what is new; gives the line for the log.
fn seal(tool: Tool, arguments: &TrailHookArgs, home: &TrailHome) -> Result<Option<String>> {
    let stdin = if arguments.payload.is_none() { stdin(PATIENCE)? } else { String::new() };
    let told = payload::parse(tool, &stdin, arguments.payload.as_slice())?;
    if told.ignore {
        return Ok(None);
    }
    let source = source(tool, told.clone())?;
    let own = key::own_of(home)?;
    if own.is_new {
        let line = key::new_key(&own.sealer.public().fingerprint());
        log::append_line(home, tool.name(), &line, SystemClock.now())?;
    }
    let desk = desk(home, &own.sealer, !arguments.no_redact);
    let sealed = desk.seal(&source, told.finalize)?;
    if !told.finalize {
        return Ok(Some(format!(
            "append session={} +{} total={}",
            source.session, sealed.appended, sealed.total
        )));
    }
    let finished = desk.finish(tool.name(), &source.session)?;
    let broken = finished.verdict.broken_at.map_or_else(|| "None".to_owned(), |at| at.to_string());
    Ok(Some(format!(
        "finalize session={} appended={} total={} valid={} broken_at={broken} head={}",
        source.session,
        sealed.appended,
        sealed.total,
        if finished.verdict.valid { "True" } else { "False" },
        sealed.head.as_deref().and_then(|head| head.get(..12)).unwrap_or("genesis"),
    )))
}

/// What the tool tells on stdin. Some tools leave it open, so a whole JSON document is taken for the end, and nobody
/// waits for ever.
pub(in crate::commands) fn stdin(patience: Duration) -> Result<String> {
    if std::io::stdin().is_terminal() {
        return Ok(String::new());
    }
    let (send, parts) = sync_channel(1);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().take(PAYLOAD_LIMIT);
        let mut part = vec![0; 64 * 1024];
        // An error ends it as the end does, and the log says what was missing.
        while let Ok(read @ 1..) = stdin.read(&mut part) {
            if send.send(part[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    let until = Instant::now() + patience;
    let mut bytes = Vec::new();
    loop {
        match parts.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(part) => bytes.extend(part),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(Problem::new(
                    Code::InputInvalid,
                    "The tool did not finish telling what it had to tell.",
                )
                .fix("By hand, end the payload with the end of the file."));
            }
        }
        if serde_json::from_slice::<&RawValue>(&bytes).is_ok() {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The transcript that a payload speaks of.
fn source(tool: Tool, told: HookPayload) -> Result<TranscriptSource> {
    let session = told.session.ok_or_else(|| {
        Problem::new(Code::InputInvalid, "The payload names no session.")
            .fix("Let the tool call the hook; by hand use `capsid trail seal`.")
    })?;
    check_session(&session)?;
    if tool == Tool::Cursor {
        // Its transcript holds texts only; the whole conversation is in its database.
        let mut source = find(&places()?, tool, &session)?;
        source.text_transcript = told.transcript.or(source.text_transcript);
        source.told = told.told;
        return Ok(source);
    }
    match told.transcript {
        Some(path) => source_of(tool, &path, &session),
        None => find(&places()?, tool, &session),
    }
}
