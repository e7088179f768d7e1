//! `capsid distill`: one gene from many successes.

use crate::commands::writable_workspace;
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_engine::distill::{self, DistillAcceptance, DistillOutcome, DistillRequest, DistillSkip};
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::inert_line;
use capsid_model::{Problem, Result, Value, gate, json};
use clap::Args;
use std::path::{Path, PathBuf};

/// Ask for one gene that many successes have in common, and take the answer in.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid distill                             write the request and print its prompt
  capsid distill --response-file answer.md   take the gene out of a model's answer")]
pub struct DistillArgs {
    /// Take the gene out of this answer; `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    response_file: Option<PathBuf>,

    /// Ask again although the last request is less than a day old.
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn run(arguments: &DistillArgs, folder: &Path) -> Result<u8> {
    match &arguments.response_file {
        Some(file) => accept(folder, file, output::is_json()),
        None => request(folder, arguments),
    }
}

fn request(folder: &Path, arguments: &DistillArgs) -> Result<u8> {
    let workspace = writable_workspace(folder)?;
    let _lock = workspace.lock()?;
    let enabled = !matches!(workspace.variable("SKILL_DISTILLER").as_deref(), Some("false" | "0"));
    let requested = distill::request(&DistillRequest {
        store: &workspace.store,
        memory: &workspace.paths.memory,
        enabled,
        force: arguments.force,
        now: workspace.now(),
        redact: &|text| redact(text, RedactProfile::Secrets).into_owned(),
    })?;
    match requested {
        DistillOutcome::Written { prompt, document } if output::is_json() => {
            output::document(
                &json!({"ok": true, "prompt": prompt.display().to_string(), "request": document}),
            );
        }
        DistillOutcome::Written { prompt, .. } => {
            let text =
                std::fs::read_to_string(&prompt).map_err(|error| Problem::io("read", &prompt, &error))?;
            output::print(&text);
            output::talk(format_args!(
                "\nGive this to a model, then run {}",
                paint(NAME, "capsid distill --response-file FILE")
            ));
        }
        DistillOutcome::Skipped(skip) if output::is_json() => {
            output::document(&json!({"ok": true, "skipped": true, "reason": skip.as_str()}));
        }
        DistillOutcome::Skipped(skip) => {
            output::talk(format_args!("{} {}", paint(WARN, "skipped:"), reason(skip)));
        }
    }
    Ok(0)
}

fn reason(skip: DistillSkip) -> &'static str {
    match skip {
        DistillSkip::Disabled => "SKILL_DISTILLER switches it off",
        DistillSkip::TooSoon => "the last request is less than a day old (`--force` asks again)",
        DistillSkip::InsufficientData => {
            "ten successes, seven of them among the last ten capsules, are needed first"
        }
        DistillSkip::IdempotentSkip => "no capsule is new since the last request",
    }
}

fn accept(folder: &Path, file: &Path, as_json: bool) -> Result<u8> {
    let answer = if file.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    let answer = answer.map_err(|error| Problem::io("read", file, &error))?;
    let workspace = writable_workspace(folder)?;
    let _lock = workspace.lock()?;
    let policy = workspace.config.gate();
    let gene = distill::accept(
        &answer,
        &DistillAcceptance {
            store: &workspace.store,
            memory: &workspace.paths.memory,
            now: workspace.now(),
            allows: &|command| gate::check(command, &policy).is_ok(),
        },
    )?;
    if as_json {
        output::document(&json!({"ok": true, "gene": gene}));
    } else {
        let id = gene.get("id").and_then(Value::as_str).unwrap_or_default();
        output::line(format_args!("{}  {}", paint(GOOD, "taken"), paint(NAME, inert_line(id))));
    }
    Ok(0)
}
