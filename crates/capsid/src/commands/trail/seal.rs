//! `capsid trail seal`: seal transcripts by hand.

use super::install::{install_paths, tool, tools};
use crate::commands::{home_folder, key, variable};
use crate::output::progress::ProgressLine;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, SystemClock, Time, Value, json};
use capsid_seal::{Sealer, TrailHome};
use capsid_trail::install::{self, HookStatus};
use capsid_trail::session_sealer::{FinishOutcome, SealOutcome, SessionSealer};
use capsid_transcript::session_paths::{OsFamily, SessionPaths, find, find_all, source_of};
use capsid_transcript::{ReadReport, Tool, TranscriptSource};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Seal what a transcript tells and its chain does not hold yet. Doing it twice changes nothing.
///
/// Secrets are redacted first; a commitment stays in the place of each, so that it can be proved later.
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
    /// Seal secrets too. They can never be redacted later.
    #[arg(long)]
    no_redact: bool,
}

pub(super) fn run(arguments: &TrailSealArgs, home: &TrailHome) -> Result<u8> {
    let sources = sources(arguments)?;
    let sealer = key::sealer(home)?;
    let session_sealer = session_sealer(home, &sealer, !arguments.no_redact);
    if arguments.all {
        all(arguments, &session_sealer, &sources)
    } else {
        one(arguments, &session_sealer, &sources[0])
    }
}

/// The sealer of this process: the machine's clock, random ids.
pub(super) fn session_sealer<'a>(home: &'a TrailHome, sealer: &'a Sealer, redact: bool) -> SessionSealer<'a> {
    SessionSealer { home, sealer, clock: &SystemClock, new_id: &capsid_trail::new_id, redact }
}

/// Seals what an agent did in its private view. Its hooks do nothing there, because the key is not theirs to see; so the
/// sessions of tools that call us are sealed here, as far as they changed since the agent started.
pub(in crate::commands) fn seal_since(start: Time) -> Result<()> {
    let paths = install_paths()?;
    let calls_us = |tool: &Tool| install::status(*tool, &paths) == HookStatus::Installed;
    let tools: Vec<Tool> = Tool::ALL.into_iter().filter(calls_us).collect();
    if tools.is_empty() {
        return Ok(());
    }
    let mut sources = find_all(&session_paths()?);
    sources.retain(|source| tools.contains(&source.tool) && changed_since(&source.path, start));
    if sources.is_empty() {
        return Ok(());
    }
    let home = TrailHome::find(None, &variable)?;
    let sealer = key::sealer(&home)?;
    let session_sealer = session_sealer(&home, &sealer, true);
    for source in &sources {
        session_sealer.seal(source, true)?;
    }
    Ok(())
}

fn changed_since(path: &Path, start: Time) -> bool {
    let start = UNIX_EPOCH + Duration::from_millis(u64::try_from(start.0).unwrap_or_default());
    path.metadata().and_then(|meta| meta.modified()).is_ok_and(|modified| modified >= start)
}

/// Where the tools of this user keep their sessions.
pub(in crate::commands) fn session_paths() -> Result<SessionPaths> {
    Ok(SessionPaths::new(OsFamily::this(), &home_folder()?, &variable))
}

/// Where Cline may keep its data, best place last.
pub(in crate::commands) fn cline_folders() -> Result<Vec<PathBuf>> {
    let tasks = session_paths()?.cline_tasks;
    Ok(tasks.iter().filter_map(|tasks| tasks.parent().map(Path::to_path_buf)).collect())
}

fn sources(arguments: &TrailSealArgs) -> Result<Vec<TranscriptSource>> {
    let wanted = arguments.tool.as_deref().map(tool).transpose()?;
    if arguments.all {
        let mut sources = find_all(&session_paths()?);
        sources.retain(|source| wanted.is_none_or(|tool| source.tool == tool));
        return Ok(sources);
    }
    let (Some(tool), Some(session)) = (wanted, &arguments.session) else {
        return Err(Problem::new(Code::UsageError, "A tool and a session are needed.").fix("Or give --all."));
    };
    capsid_trail::session::check_session(session)?;
    Ok(vec![match &arguments.transcript {
        Some(path) => by_hand(tool, path, session)?,
        None => find(&session_paths()?, tool, session)?,
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

fn one(
    arguments: &TrailSealArgs,
    session_sealer: &SessionSealer<'_>,
    source: &TranscriptSource,
) -> Result<u8> {
    let (sealed, finished) = seal(session_sealer, source, arguments.finalize)?;
    if output::is_json() {
        output::document(&entry(source, &sealed, finished.as_ref()));
    } else {
        print_sealed(source, &sealed, finished.as_ref());
    }
    Ok(u8::from(finished.is_some_and(|finished| !finished.verdict.valid)))
}

fn seal(
    session_sealer: &SessionSealer<'_>,
    source: &TranscriptSource,
    finalize: bool,
) -> Result<(SealOutcome, Option<FinishOutcome>)> {
    let sealed = session_sealer.seal(source, finalize)?;
    let finished =
        finalize.then(|| session_sealer.finish(source.tool.name(), &source.session)).transpose()?;
    Ok((sealed, finished))
}

fn all(
    arguments: &TrailSealArgs,
    session_sealer: &SessionSealer<'_>,
    sources: &[TranscriptSource],
) -> Result<u8> {
    let mut entries: Vec<Value> = Vec::new();
    let (mut appended, mut failed) = (0, 0);
    let mut progress = ProgressLine::new("sealing");
    for (index, source) in sources.iter().enumerate() {
        progress.update("sessions", index as u64, sources.len() as u64);
        match seal(session_sealer, source, arguments.finalize) {
            Ok((sealed, finished)) => {
                appended += sealed.appended;
                failed += usize::from(finished.as_ref().is_some_and(|finished| !finished.verdict.valid));
                if output::is_json() {
                    entries.push(entry(source, &sealed, finished.as_ref()));
                } else {
                    progress.clear();
                    print_sealed(source, &sealed, finished.as_ref());
                }
            }
            Err(problem) => {
                failed += 1;
                progress.clear();
                if output::is_json() {
                    entries.push(json!({"tool": source.tool.name(), "session": source.session, "error": {"code": problem.code.as_str(), "message": problem.message}}));
                }
                output::complain(&problem);
            }
        }
    }
    drop(progress);
    if output::is_json() {
        output::document(&json!({"sessions": entries, "appended": appended, "failed": failed}));
    } else {
        output::talk(format_args!("{} session(s), {appended} new record(s), {failed} failed", sources.len()));
    }
    Ok(u8::from(failed > 0))
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
    format!("{}/{session}: {new}, {} records (head {head})", paint(NAME, source.tool.name()), sealed.total)
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
    if sealed.pending > 0 {
        output::talk(format_args!(
            "  {} {} record(s) wait for the signing service; `capsid trail signer flush` signs them",
            paint(WARN, "note:"),
            sealed.pending
        ));
    }
    if sealed.appended == 0 {
        return;
    }
    if sealed.report.broken > 0 {
        output::talk(format_args!(
            "  {} {} line(s) that cannot be read were kept as they are",
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

/// What is in no record, by reason.
fn dropped(report: &ReadReport) -> BTreeMap<&'static str, u64> {
    report.dropped.iter().map(|(reason, count)| (reason.name(), *count)).collect()
}

fn entry(source: &TranscriptSource, sealed: &SealOutcome, finished: Option<&FinishOutcome>) -> Value {
    let mut entry = json!({
        "tool": source.tool.name(),
        "session": source.session,
        "appended": sealed.appended,
        "total": sealed.total,
        "head": sealed.head,
        "held_back": sealed.held_back,
        "pending": sealed.pending,
        "broken": sealed.report.broken,
        "unknown": sealed.report.unknown,
        "kept": sealed.report.kept,
        "noted": sealed.report.noted,
        "dropped": dropped(&sealed.report),
    });
    if let Some(finished) = finished {
        entry["valid"] = json!(finished.verdict.valid);
        entry["verified"] = json!(finished.verdict.verified);
        entry["broken_at"] = json!(finished.verdict.broken_at);
        entry["meta"] = json!({"recorded": finished.recorded});
    }
    entry
}
