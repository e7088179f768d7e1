//! `capsid trail export --otlp`: chains as traces, for a file or a receiver of OpenTelemetry.

use super::requirement::SignerRequirement;
use super::verdicts::{NamedVerdict, VerdictRequest, VerdictTarget};
use crate::commands::variable;
use crate::output::{self, BAD, GOOD, WARN, paint};
use capsid_client::otlp::OtlpReceiver;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result, json};
use capsid_seal::TrailHome;
use capsid_seal::evidence::{CollectOptions, CollectedChain};
use capsid_seal::sources::ChainSource;
use capsid_seal::verdict::{Finding, VerdictLevel};
use capsid_seal::verify::ChainVerdict;
use capsid_trail::otlp::{ChainTrace, TraceRequest, TracedChain};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// How a file begins that this command wrote.
const BEGIN: &[u8] = b"{\"resourceSpans\":[";

/// What is exported as traces, and how.
#[derive(Debug, Args)]
pub(super) struct OtlpArgs {
    /// Write traces instead: OTLP/JSON, a request on each line, or posted to a receiver such as http://127.0.0.1:4318.
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["out", "html"])]
    pub otlp: Option<String>,
    /// With prompts, answers, arguments and results, without secrets and personal data, each cut at 8 KiB.
    #[arg(long, requires = "otlp")]
    content: bool,
    /// A header for the receiver, such as 'Authorization: Bearer TOKEN'.
    #[arg(long = "header", requires = "otlp", value_name = "K: V")]
    headers: Vec<String>,
    /// Also chains whose verdict is not valid or unverified. Every span carries the level.
    #[arg(long, requires = "otlp")]
    accept_invalid: bool,
}

/// A chain with what its verification came to.
struct VerifiedChain {
    source: ChainSource,
    records: ChainVerdict,
    level: VerdictLevel,
}

/// What was exported.
#[derive(Default)]
struct OtlpReport {
    chains: usize,
    spans: u64,
    /// Spans that the receiver did not take.
    rejected: u64,
}

/// Exports chains as traces. A chain that is not good enough is left out, and the command fails.
pub(super) fn export(
    arguments: &OtlpArgs,
    target: &str,
    home: &TrailHome,
    chains: Vec<ChainSource>,
) -> Result<u8> {
    let receiver = match target.contains("://") {
        true => Some(OtlpReceiver::new(target, &arguments.headers, &variable)?),
        false => None,
    };
    if receiver.is_none() {
        refuse_other_file(target, &arguments.headers)?;
    }
    let mut accepted = Vec::new();
    let mut refused = 0;
    let chains = chains.into_iter().filter(|chain| !chain.is_meta).collect();
    for chain in verify_all(home, chains, arguments.accept_invalid) {
        match chain {
            Ok(chain) => accepted.push(chain),
            Err(problem) => {
                refused += 1;
                let fix = problem.fix.as_deref().unwrap_or_default();
                let (message, fix) = (inert_line(&problem.message), inert_line(fix));
                output::talk(format_args!("{} {message} {fix}", paint(BAD, "left out:")));
            }
        }
    }
    let report = match &receiver {
        Some(receiver) => write_all(arguments, &accepted, &mut |request| receiver.send(&request))?,
        None => write_file(arguments, Path::new(target), &accepted)?,
    };
    let shown = receiver.as_ref().map_or(target, OtlpReceiver::url);
    print(&report, shown, refused);
    Ok(u8::from(refused > 0 || report.rejected > 0))
}

fn print(report: &OtlpReport, target: &str, refused: usize) {
    let OtlpReport { chains, spans, rejected } = report;
    if output::is_json() {
        output::document(&json!({
            "chains": chains, "spans": spans, "rejected": rejected, "left_out": refused, "otlp": target,
        }));
        return;
    }
    let (word, target) = (paint(GOOD, "exported"), inert_line(target));
    output::line(format_args!("{word} {chains} chain(s), {spans} span(s) -> {target}"));
    if *rejected > 0 {
        output::talk(format_args!(
            "{} the receiver did not take {rejected} span(s)",
            paint(WARN, "rejected:")
        ));
    }
}

/// A file that another program wrote is not replaced.
fn refuse_other_file(target: &str, headers: &[String]) -> Result<()> {
    if !headers.is_empty() {
        return Err(Problem::new(Code::UsageError, "--header is for a receiver, and a file was named.")
            .fix("Name an address such as `http://127.0.0.1:4318`."));
    }
    let path = Path::new(target);
    let Some(existing) = capsid_disk::files::open(path)? else { return Ok(()) };
    let mut begin = Vec::new();
    let read = existing.take(BEGIN.len() as u64).read_to_end(&mut begin);
    read.map_err(|error| Problem::io("read", path, &error))?;
    if begin.is_empty() || begin == BEGIN {
        return Ok(());
    }
    Err(Problem::new(Code::ChangeRefused, format!("`{target}` is there already, and it holds no traces."))
        .fix("Name another file."))
}

/// Chains that one verification covers.
#[derive(Debug, Default)]
struct VerificationGroups {
    /// Chains of the home, by their names: their meta-chain is read once for all of them.
    home: BTreeSet<String>,
    /// Other files that hold some of the chains.
    files: BTreeSet<PathBuf>,
}

impl VerificationGroups {
    fn new(home: &TrailHome, chains: &[ChainSource]) -> Self {
        let mut groups = Self::default();
        for chain in chains {
            match is_of_home(home, chain) {
                true => drop(groups.home.insert(CollectedChain::name_of(chain))),
                false => drop(groups.files.insert(chain.path().to_owned())),
            }
        }
        groups
    }
}

fn is_of_home(home: &TrailHome, chain: &ChainSource) -> bool {
    let names = chain.tool.as_deref().zip(chain.session.as_deref());
    names.is_some_and(|(tool, session)| chain.path() == home.chain(tool, session).0)
}

/// Verifies chains, each among its own traces: a chain of the home whose end was cut is incomplete.
fn verify_all(
    home: &TrailHome,
    chains: Vec<ChainSource>,
    accept_invalid: bool,
) -> Vec<Result<VerifiedChain>> {
    let groups = VerificationGroups::new(home, &chains);
    let requirement = SignerRequirement::default();
    let request = VerdictRequest { home, requirement, options: CollectOptions::default() };
    let own = (!groups.home.is_empty())
        .then(|| request.judge(home.root(), &VerdictTarget::Home(groups.home.clone())));
    let judge_file = |path: &PathBuf| request.judge(path, &request.open(path)?);
    let files: BTreeMap<&PathBuf, Result<NamedVerdict>> =
        groups.files.iter().map(|path| (path, judge_file(path))).collect();
    let verify = |source: ChainSource| {
        let judged = match is_of_home(home, &source) {
            true => own.as_ref(),
            false => files.get(&source.path().to_owned()),
        };
        match judged {
            Some(Ok(judged)) => verified(judged, source, accept_invalid),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(unread(&source.label)),
        }
    };
    chains.into_iter().map(verify).collect()
}

fn verified(judged: &NamedVerdict, source: ChainSource, accept_invalid: bool) -> Result<VerifiedChain> {
    let verdict = &judged.verdict;
    let is_same = |other: &ChainSource| other.path() == source.path() && other.tenant == source.tenant;
    let found = judged.chains.iter().find(|chain| is_same(&chain.source));
    let level = found.and_then(|found| verdict.chains.iter().find(|chain| chain.name == found.name));
    let level = level.map_or(VerdictLevel::Unreadable, |chain| chain.level);
    let name = found.map_or(source.label.as_str(), |found| found.name.as_str());
    match found.and_then(|found| found.records.clone()) {
        Some(records) if accept_invalid || level.is_good() => Ok(VerifiedChain { source, records, level }),
        _ => {
            let is_reason = |one: &&Finding| one.level == level && one.chain.as_deref() == Some(name);
            let reason = verdict.findings.iter().find(is_reason);
            let reason = reason.map_or("It cannot be read.", |finding| &finding.message);
            Err(Problem::new(Code::ChainBroken, format!("`{name}` is {level}: {reason}"))
                .fix("`--accept-invalid` exports what can be read."))
        }
    }
}

fn unread(label: &str) -> Problem {
    Problem::new(Code::ChainUnreadable, format!("`{label}` cannot be read."))
}

fn write_file(arguments: &OtlpArgs, path: &Path, chains: &[VerifiedChain]) -> Result<OtlpReport> {
    let mut report = OtlpReport::default();
    capsid_disk::files::replace_with(path, |out| {
        report = write_all(arguments, chains, &mut |request| {
            writeln!(out, "{request}").map_err(|error| Problem::io("write", path, &error))?;
            Ok(0)
        })?;
        Ok(())
    })?;
    Ok(report)
}

/// Hands the texts of the requests to `send`, which says how many spans were not taken.
fn write_all(
    arguments: &OtlpArgs,
    chains: &[VerifiedChain],
    send: &mut dyn FnMut(String) -> Result<u64>,
) -> Result<OtlpReport> {
    let mut report = OtlpReport::default();
    for chain in chains.iter().filter(|chain| chain.records.total > 0) {
        let tool = chain.source.tool.as_deref().unwrap_or("chain");
        let mut trace = ChainTrace::new(TracedChain {
            tool,
            session: chain.source.session.as_deref().unwrap_or(&chain.source.label),
            head: chain.records.head.as_deref().unwrap_or_default(),
            level: chain.level.as_str(),
            runs: &chain.records.runs,
            content: arguments.content,
        });
        let mut request = TraceRequest::new(tool, env!("CARGO_PKG_VERSION"));
        // The verdict says nothing about records that were added since.
        let verified = usize::try_from(chain.records.total).unwrap_or(usize::MAX);
        for stored in chain.source.records()?.take(verified) {
            report.spans += 1;
            if let Some(full) = request.add(trace.record(&stored?)) {
                report.rejected += send(full)?;
            }
        }
        report.spans += 1;
        for rest in [request.add(trace.root()), request.take_request()].into_iter().flatten() {
            report.rejected += send(rest)?;
        }
        report.chains += 1;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_seal::chain::{ChainWriter, PendingRecord};
    use capsid_seal::sources::open_any;
    use capsid_seal::{ActionRecord, Sealer, SigningKey};

    fn seal_one(path: &Path, tenant: Option<&str>) {
        let sealer = Sealer::new(SigningKey::from_seed(&[1; 32]));
        let action = ActionRecord { id: "a".into(), domain: "codex".into(), ..ActionRecord::default() };
        let item = PendingRecord { key: "a".to_owned(), open: false, weight: 1, item: () };
        let seal = |(): &(), _, link: &_| sealer.seal(&action, link, "2026-02-07T15:20:54+00:00");
        ChainWriter::open(path).unwrap().append(tenant, [item], seal).unwrap();
    }

    #[test]
    fn all_chains_of_a_home_and_all_of_a_file_are_verified_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = TrailHome::at(folder.path().join("home"));
        std::fs::create_dir_all(home.chains().join("codex")).unwrap();
        let many = folder.path().join("many.db");
        for session in ["a", "b", "c"] {
            seal_one(&home.chain("codex", session).0, None);
            seal_one(&many, Some(session));
        }
        let chains = [open_any(home.root()).unwrap().chains, open_any(&many).unwrap().chains].concat();
        assert_eq!(chains.len(), 6);
        let groups = VerificationGroups::new(&home, &chains);
        assert_eq!((groups.home.len(), groups.files.len()), (3, 1));
        let verified = verify_all(&home, chains, true);
        assert_eq!(verified.iter().filter(|one| one.is_ok()).count(), 6);
    }
}
