//! The trail: where it is, whether the tools call us, and what they are about to delete.

use super::DoctorFinding;
use crate::commands::trail::signer::layout;
use crate::commands::trail::{install_paths, session_paths};
use crate::commands::variable;
use capsid_disk::files;
use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_model::{Clock, SystemClock, Time};
use capsid_seal::TrailHome;
use capsid_seal::evidence::CollectOptions;
use capsid_seal::keys::health;
use capsid_signer::home_evidence::{JudgedTrail, judge_home};
use capsid_signer::trust_root::SignerTrust;
use capsid_trail::install::{HookStatus, status};
use capsid_transcript::session_paths::find_all;
use capsid_transcript::{Tool, TranscriptSource};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Days after which Claude Code deletes a transcript, unless its settings say otherwise.
const CLEANUP_DAYS: i64 = 30;
/// What is deleted within so many days is worth a word.
const SOON_DAYS: i64 = 7;
const DAY_MS: i64 = 86_400_000;

/// Everything there is to say about the trail of this user.
pub(super) fn findings() -> Vec<DoctorFinding> {
    let home = match TrailHome::find(None, &variable) {
        Ok(home) => home,
        Err(problem) => return vec![DoctorFinding::wrong("trail", &problem)],
    };
    let mut findings = vec![chains(&home, &layout().trust)];
    if home.key().exists() {
        findings
            .extend(health::check(home.root()).iter().map(|problem| DoctorFinding::wrong("key", problem)));
    }
    findings.extend(hook_errors(&home));
    let (Ok(sessions), Ok(installs)) = (session_paths(), install_paths()) else { return findings };
    let sources = find_all(&sessions);
    for tool in Tool::ALL {
        let count = sources.iter().filter(|source| source.tool == tool).count();
        if count > 0 {
            findings.push(hook(tool, count, &status(tool, &installs)));
        }
    }
    findings.extend(soon_deleted(&sources, &sessions.claude_projects, SystemClock.now()));
    findings
}

/// `trust` is the folder of the signing service's trust root.
fn chains(home: &TrailHome, trust: &Path) -> DoctorFinding {
    let root = home.root().display();
    let has_service = !matches!(SignerTrust::find_by_home(trust, home.root()), Ok(None));
    if home.chain_paths().is_empty() && !has_service {
        return DoctorFinding::fine("trail", format!("nothing sealed yet; {root} will hold the chains"));
    }
    let options = CollectOptions { quick: true, ..CollectOptions::default() };
    let JudgedTrail { found, verdict } = match judge_home(trust, home, &options) {
        Ok(judged) => judged,
        Err(problem) => return DoctorFinding::wrong("trail", &problem),
    };
    if let Some(problem) = found.chains.iter().find_map(|chain| chain.problem.as_ref()) {
        return DoctorFinding::wrong("trail", problem);
    }
    match verdict.decisive().filter(|one| !one.level.is_good()) {
        Some(bad) => DoctorFinding::warning("trail", bad.message.clone(), "capsid trail verify"),
        None => {
            let count = found.chains.iter().filter(|chain| !chain.source.is_meta).count();
            DoctorFinding::fine("trail", format!("{count} chain(s) in {root}"))
        }
    }
}

/// A hook reports its problems to its log only.
fn hook_errors(home: &TrailHome) -> Option<DoctorFinding> {
    let log = files::read_optional(&home.log()).ok()??;
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("] ERROR ")).collect();
    let last = errors.last()?;
    let detail = format!("{} error(s) in the log, the last one: {last}", errors.len());
    Some(DoctorFinding::warning("hook", detail, &format!("Look into {}.", home.log().display())))
}

fn hook(tool: Tool, sessions: usize, status: &HookStatus) -> DoctorFinding {
    let install = format!("capsid trail install {}", tool.name());
    match status {
        HookStatus::Installed => {
            DoctorFinding::fine("hook", format!("{}: installed, {sessions} session(s)", tool.name()))
        }
        HookStatus::Partly(missing) => DoctorFinding::warning(
            "hook",
            format!("{}: not at {}", tool.name(), missing.join(", ")),
            &install,
        ),
        HookStatus::NotInstalled => DoctorFinding::warning(
            "hook",
            format!(
                "{}: not installed, so its {sessions} session(s) are not sealed as they grow",
                tool.name()
            ),
            &install,
        ),
        HookStatus::Unreadable(problem) => DoctorFinding::wrong("hook", problem),
    }
}

/// Claude Code deletes transcripts by itself; what is sealed stays.
fn soon_deleted(sources: &[TranscriptSource], projects: &Path, now: Time) -> Option<DoctorFinding> {
    let settings = projects.parent()?.join("settings.json");
    let text = files::read_bytes(&settings).ok().flatten().unwrap_or_default();
    let days = parse_lossy(&text)
        .ok()
        .and_then(|settings| settings.get("cleanupPeriodDays").and_then(ExactJson::as_i64));
    let days = days.unwrap_or(CLEANUP_DAYS);
    let soon = now.0 - (days - SOON_DAYS) * DAY_MS;
    let count = sources
        .iter()
        .filter(|source| {
            source.tool == Tool::ClaudeCode && modified(&source.path).is_some_and(|at| at < soon)
        })
        .count();
    (count > 0).then(|| {
        let detail = format!("{count} transcript(s) of claude-code will be deleted by the tool within {SOON_DAYS} days (it keeps them {days} days)");
        DoctorFinding::warning("transcripts", detail, "capsid trail seal --all --tool claude-code")
    })
}

fn modified(path: &Path) -> Option<i64> {
    let since = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::commands::doctor::CheckLevel;
    use capsid_seal::chain::{ChainWriter, PendingRecord};
    use capsid_seal::{ActionRecord, Sealer, SigningKey};
    use capsid_signer::rules::entry::EpochReason;
    use capsid_signer::wire::TrustedEpoch;

    #[test]
    fn doctor_judges_a_home_with_the_key_and_the_heads_of_its_signing_service() {
        let folder = tempfile::tempdir().unwrap();
        let (home, trust) = (TrailHome::at(folder.path().join("home")), folder.path().join("signer.d"));
        let key = SigningKey::from_seed(&[7; 32]);
        let sealer = Sealer::new(key.clone());
        let action = ActionRecord { id: "a".into(), domain: "codex".into(), ..ActionRecord::default() };
        std::fs::create_dir_all(home.chains().join("codex")).unwrap();
        let mut writer = ChainWriter::open(&home.chain("codex", "s").0).unwrap();
        let item = PendingRecord { key: "a".to_owned(), open: false, weight: 1, item: () };
        let seal = |(): &(), _, link: &_| sealer.seal(&action, link, "2026-02-07T15:20:54+00:00");
        let head = writer.append(None, [item], seal).unwrap().head.unwrap();
        let heads = folder.path().join("heads");
        let hex = key.public().hex();
        let state = |count: u64| {
            let text = format!(
                "capsid-heads/v1\nuser 7\nkey {hex}\nentry 1\ntime 2026-02-07T15:20:54Z\nchain codex s {count} {head} 1 0\n"
            );
            std::fs::write(&heads, format!("{text}signature {}\n", key.sign(&text))).unwrap();
            chains(&home, &trust)
        };
        assert!(state(1).health != CheckLevel::Fine, "nobody knows the key yet");
        let epoch = TrustedEpoch {
            key: hex.clone(),
            from_entry: 0,
            reason: EpochReason::Created,
            signature: String::new(),
        };
        let signer = SignerTrust {
            version: 1,
            user: 7,
            home: home.root().to_owned(),
            socket: folder.path().join("sock"),
            heads: heads.clone(),
            is_active: true,
            epochs: vec![epoch],
        };
        signer.save(&trust).unwrap();
        let fine = state(1);
        assert!(fine.health == CheckLevel::Fine, "{}", fine.detail);
        // The service signed one more, and it is gone with every trace.
        let cut = state(2);
        assert!(cut.health == CheckLevel::Note && cut.detail.contains("counts 2"), "{}", cut.detail);
    }
}
