//! `capsid trail hook`: what the tools call.

use super::install::tool;
use super::seal::{session_paths, session_sealer};
use crate::commands::{key, variable};
use crate::output;
use capsid_model::{Clock, Code, Problem, Result, SystemClock};
use capsid_seal::TrailHome;
use capsid_trail::payload::{self, HookPayload};
use capsid_trail::session_sealer::SealOutcome;
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

/// The longest payload that a tool sends to its hook.
const PAYLOAD_LIMIT: u64 = 16 << 20;

/// How long a tool may take to send it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the tools call at the end of a turn: seals what is new. Never fails, and writes its troubles to hook.log.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail hook claude-code < payload.json
  capsid trail hook codex '{\"type\":\"agent-turn-complete\",\"thread-id\":\"...\"}'")]
pub(super) struct TrailHookArgs {
    /// claude-code, codex, cursor or cline. Another name does nothing.
    tool: String,
    /// What the tool passes on the command line (Codex).
    #[arg(value_name = "PAYLOAD")]
    payload: Option<String>,
    /// Seal secrets too. They can never be redacted later.
    #[arg(long)]
    no_redact: bool,
}

/// Runs the hook. Whatever happens, the agent that called it goes on.
pub(super) fn run(arguments: &TrailHookArgs, home: Option<&Path>) {
    let Ok(tool) = tool(&arguments.tool) else { return };
    // Printed first: the tool waits for it, and it does not depend on what follows.
    output::print(payload::reply(tool));
    // Inside the private view of a run there is no key. The program that started the agent seals its session.
    if capsid_sandbox::inside_sandbox() {
        return;
    }
    // A panic goes to the log only; the agent's terminal is not ours.
    std::panic::set_hook(Box::new(|_| {}));
    let Ok(home) = TrailHome::find(home, &variable) else { return };
    let sealed = catch_unwind(AssertUnwindSafe(|| seal(tool, arguments, &home)));
    let line = match sealed {
        Ok(Ok(line)) => line,
        Ok(Err(problem)) => Some(format!("ERROR [{}] {}", problem.code, problem.message)),
        Err(_) => Some("ERROR [internal] The hook stopped on a bug.".to_owned()),
    };
    if let Some(line) = line {
        // Where the log cannot be written there is nothing left to report to.
        let _ = log::append_line(&home, tool.name(), &line, SystemClock.now());
    }
}

/// Seals what is new; gives the line for the log.
fn seal(tool: Tool, arguments: &TrailHookArgs, home: &TrailHome) -> Result<Option<String>> {
    let stdin = if arguments.payload.is_none() { stdin(PATIENCE)? } else { String::new() };
    let payload = payload::parse(tool, &stdin, arguments.payload.as_slice())?;
    if payload.ignore {
        return Ok(None);
    }
    let source = source(tool, payload.clone())?;
    let own = key::own_of(home)?;
    if own.is_new {
        let line = key::new_key(&own.sealer.public().fingerprint());
        log::append_line(home, tool.name(), &line, SystemClock.now())?;
    }
    let session_sealer = session_sealer(home, &own.sealer, !arguments.no_redact);
    let hook_seal = session_sealer.seal_or_divert(&source, payload.finalize)?;
    let (sealed, session) = (hook_seal.outcome, hook_seal.session);
    if let Some(problem) = hook_seal.diverted {
        let line = format!(
            "diverted session={} to={session} reason={} {}",
            source.session, problem.code, problem.message
        );
        log::append_line(home, tool.name(), &line, SystemClock.now())?;
    }
    if !payload.finalize {
        return Ok(Some(format!(
            "append session={session} +{} total={}{}",
            sealed.appended,
            sealed.total,
            waiting(&sealed)
        )));
    }
    let finished = session_sealer.finish(tool.name(), &session)?;
    let broken = finished.verdict.broken_at.map_or_else(|| "None".to_owned(), |at| at.to_string());
    Ok(Some(format!(
        "finalize session={session} appended={} total={} valid={} broken_at={broken} head={}{}",
        sealed.appended,
        sealed.total,
        if finished.verdict.valid { "True" } else { "False" },
        sealed.head.as_deref().and_then(|head| head.get(..12)).unwrap_or("genesis"),
        waiting(&sealed),
    )))
}

/// How many records wait for the signing service.
fn waiting(sealed: &SealOutcome) -> String {
    match sealed.pending {
        0 => String::new(),
        pending => format!(" pending={pending}"),
    }
}

/// What the tool sends on stdin. Some tools leave it open, so a whole JSON document is taken for the end, and nobody
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
                return Err(Problem::new(Code::InputInvalid, "The tool did not finish sending its payload.")
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
fn source(tool: Tool, payload: HookPayload) -> Result<TranscriptSource> {
    let session = payload.session.ok_or_else(|| {
        Problem::new(Code::InputInvalid, "The payload names no session.")
            .fix("Let the tool call the hook; by hand use `capsid trail seal`.")
    })?;
    check_session(&session)?;
    if tool == Tool::Cursor {
        // Its transcript holds texts only; the whole conversation is in its database.
        let mut source = find(&session_paths()?, tool, &session)?;
        source.text_transcript = payload.transcript.or(source.text_transcript);
        source.hook_fields = payload.fields;
        return Ok(source);
    }
    match payload.transcript {
        Some(path) => source_of(tool, &path, &session),
        None => find(&session_paths()?, tool, &session),
    }
}
