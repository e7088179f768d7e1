//! `capsid trail seal`: seal transcripts by hand.

use super::install::{tool, tools};
use crate::commands::{home_folder, key, variable};
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, SystemClock, Value, json};
use capsid_seal::{Sealer, TrailHome};
use capsid_trail::session_sealer::{FinishOutcome, SealOutcome, SessionSealer};
use capsid_transcript::session_paths::{OsFamily, SessionPaths, find, find_all, source_of};
use capsid_transcript::{Tool, TranscriptSource};
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Seal what a transcript tells and its chain does not hold yet. Doing it twice changes nothing.
///
/// Secrets are taken out first; a commitment stays in the place of each, so that it can be proved later.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail seal --all                                   every transcript of this user
  capsid trail seal --all --tool codex                      those of one tool
  capsid trail seal --tool claude-code --session 5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01
  capsid trail seal --tool claude-code --transcript session.jsonl --session mine --finalize")]
pub(super) struct TrailSealArgs {
    /// claude-code, codex, cursor or cline.
    #[arg(long, value_parser = tools(), required_unless_present = "all")]
    tool: Option<String>,
    /// The transcript: a JSONL file, Cursor's state.vscdb, or Cline's task folder. Without it, it is looked for.
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    transcript: Option<PathBuf>,
    /// The session.
    #[arg(long, value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    session: Option<String>,
    /// Every transcript of this user.
    #[arg(long)]
    all: bool,
    /// The session is over: hold nothing back, verify the chain, and note it in the meta-chain.
    #[arg(long)]
    finalize: bool,
    /// Seal secrets too. They can never be taken out again.
    #[arg(long)]
    no_redact: bool,
}

pub(super) fn run(arguments: &TrailSealArgs, home: &TrailHome) -> Result<u8> {
    let sources = sources(arguments)?;
    let sealer = key::sealer(home)?;
    let desk = desk(home, &sealer, !arguments.no_redact);
    if arguments.all { all(arguments, &desk, &sources) } else { one(arguments, &desk, &sources[0]) }
}

/// The desk of this process: the machine's clock, random ids.
pub(super) fn desk<'a>(home: &'a TrailHome, sealer: &'a Sealer, redact: bool) -> SessionSealer<'a> {
    SessionSealer { home, sealer, clock: &SystemClock, new_id: &capsid_trail::new_id, redact }
}

/// Where the tools of this user keep their sessions.
pub(in crate::commands) fn places() -> Result<SessionPaths> {
    Ok(SessionPaths::new(OsFamily::this(), &home_folder()?, &variable))
}

fn sources(arguments: &TrailSealArgs) -> Result<Vec<TranscriptSource>> {
    let wanted = arguments.tool.as_deref().map(tool).transpose()?;
    if arguments.all {
        let mut found = find_all(&places()?);
        found.retain(|source| wanted.is_none_or(|tool| source.tool == tool));
        return Ok(found);
    }
    let (Some(tool), Some(session)) = (wanted, &arguments.session) else {
        return Err(Problem::new(Code::UsageError, "A tool and a session are needed.").fix("Or give --all."));
    };
    capsid_trail::session::check_session(session)?;
    Ok(vec![match &arguments.transcript {
        Some(path) => by_hand(tool, path, session)?,
        None => find(&places()?, tool, session)?,
    }])
}

/// A transcript that says whose it is is not sealed under another name.
fn by_hand(tool: Tool, path: &Path, session: &str) -> Result<TranscriptSource> {
    let source = source_of(tool, path, session)?;
    let own = (tool == Tool::Codex).then(|| capsid_transcript::codex::session_id(path)).flatten();
    match own {
        Some(own) if own != session => {
            let message =
                format!("`{}` is the transcript of session `{own}`, not of `{session}`.", path.display());
            Err(Problem::new(Code::TranscriptUnreadable, message).fix(format!("Give `--session {own}`.")))
        }
        _ => Ok(source),
    }
}

fn one(arguments: &TrailSealArgs, desk: &SessionSealer<'_>, source: &TranscriptSource) -> Result<u8> {
    let (sealed, finished) = seal(desk, source, arguments.finalize)?;
    if output::is_json() {
        output::document(&entry(source, &sealed, finished.as_ref()));
    } else {
        print_sealed(source, &sealed, finished.as_ref());
    }
    Ok(u8::from(finished.is_some_and(|finished| !finished.verdict.valid)))
}

fn seal(
    desk: &SessionSealer<'_>,
    source: &TranscriptSource,
    finalize: bool,
) -> Result<(SealOutcome, Option<FinishOutcome>)> {
    let sealed = desk.seal(source, finalize)?;
    let finished = finalize.then(|| desk.finish(source.tool.name(), &source.session)).transpose()?;
    Ok((sealed, finished))
}

fn all(arguments: &TrailSealArgs, desk: &SessionSealer<'_>, sources: &[TranscriptSource]) -> Result<u8> {
    let mut entries: Vec<Value> = Vec::new();
    let (mut appended, mut failed) = (0, 0);
    for (index, source) in sources.iter().enumerate() {
        progress(index, sources.len(), source);
        match seal(desk, source, arguments.finalize) {
            Ok((sealed, finished)) => {
                appended += sealed.appended;
                failed += usize::from(finished.as_ref().is_some_and(|finished| !finished.verdict.valid));
                if output::is_json() {
                    entries.push(entry(source, &sealed, finished.as_ref()));
                } else {
                    clear_progress();
                    print_sealed(source, &sealed, finished.as_ref());
                }
            }
            Err(problem) => {
                failed += 1;
                clear_progress();
                if output::is_json() {
                    entries.push(json!({"tool": source.tool.name(), "session": source.session, "error": {"code": problem.code.as_str(), "message": problem.message}}));
                }
                output::complain(&problem);
            }
        }
    }
    clear_progress();
    if output::is_json() {
        output::document(&json!({"sessions": entries, "appended": appended, "failed": failed}));
    } else {
        output::talk(format_args!(
            "{} session(s), {appended} new capsule(s), {failed} failed",
            sources.len()
        ));
    }
    Ok(u8::from(failed > 0))
}

fn progress(index: usize, count: usize, source: &TranscriptSource) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[2K[{}/{count}] {} {}", index + 1, source.tool.name(), inert_line(&source.session));
    }
}

fn clear_progress() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[2K");
    }
}

fn print_sealed(source: &TranscriptSource, sealed: &SealOutcome, finished: Option<&FinishOutcome>) {
    output::line(describe_sealed(source, sealed));
    finished.iter().for_each(|finished| output::line(format_args!("  {}", describe_finish(finished))));
    remarks(sealed);
}

fn describe_sealed(source: &TranscriptSource, sealed: &SealOutcome) -> String {
    let head = sealed.head.as_deref().map_or("genesis", |head| &head[..12]);
    let new = match sealed.appended {
        0 => paint(DIM, "nothing new"),
        n => paint(GOOD, format_args!("+{n}")),
    };
    let session = inert_line(&source.session);
    format!("{}/{session}: {new}, {} capsules (head {head})", paint(NAME, source.tool.name()), sealed.total)
}

fn describe_finish(finished: &FinishOutcome) -> String {
    match &finished.verdict.failure {
        None if finished.verdict.total == 0 => "nothing was sealed, so nothing was noted".to_owned(),
        None if finished.recorded => format!("{} and noted in the meta-chain", paint(GOOD, "verified")),
        None => format!("{}; the meta-chain has it already", paint(GOOD, "verified")),
        Some(failure) => paint(BAD, format_args!("broken: {}", inert_line(&failure.message))),
    }
}

/// What somebody should know about a transcript.
fn remarks(sealed: &SealOutcome) {
    if sealed.held_back > 0 {
        output::talk(format_args!(
            "  {} {} action(s) wait for a result",
            paint(DIM, "note:"),
            sealed.held_back
        ));
    }
    if sealed.appended == 0 {
        return;
    }
    if sealed.report.broken > 0 {
        output::talk(format_args!(
            "  {} {} broken line(s) were passed over",
            paint(WARN, "note:"),
            sealed.report.broken
        ));
    }
    for (kind, count) in &sealed.report.unknown {
        let kind = inert_line(kind);
        output::talk(format_args!(
            "  {} {count} record(s) of the unknown type `{kind}` were kept verbatim",
            paint(WARN, "note:")
        ));
    }
}

fn entry(source: &TranscriptSource, sealed: &SealOutcome, finished: Option<&FinishOutcome>) -> Value {
    let mut entry = json!({
        "tool": source.tool.name(),
        "session": source.session,
        "appended": sealed.appended,
        "total": sealed.total,
        "head": sealed.head,
        "held_back": sealed.held_back,
        "broken": sealed.report.broken,
        "unknown": sealed.report.unknown,
    });
    if let Some(finished) = finished {
        entry["valid"] = json!(finished.verdict.valid);
        entry["verified"] = json!(finished.verdict.verified);
        entry["broken_at"] = json!(finished.verdict.broken_at);
        entry["meta"] = json!({"recorded": finished.recorded});
    }
    entry
}
