//! `capsid trail export`: a folder, or a page, that anybody can verify.

use super::chains::{check, named, print_refused};
use super::otlp::{self, OtlpArgs};
use super::repository::SelectedChains;
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, json};
use capsid_seal::bundle::{BundleExport, BundlePlan, HeadSigner, OwnHeads, UnreadablePolicy, WrittenBundle};
use capsid_seal::imported;
use capsid_seal::keys::{KeyOrigin, KeySet, file};
use capsid_seal::sources::ChainSource;
use capsid_seal::verify::VerifyOptions;
use capsid_seal::{PublicKey, TrailHome};
use capsid_signer::head_signer::ServiceHeads;
use capsid_trail::log::local;
use capsid_web::single::{self, EscapedJson, SinglePage};
use clap::Args;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Write chains, the meta-chain and the public keys into a folder or one page that anybody can verify, without local paths.
///
/// Inside a repository only the chains of agents that worked in it. The meta-chain names every session, so it goes along
/// only where no chain is left out.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail export --out bundle                        what was sealed in this repository
  capsid trail export --out bundle --all                  everything
  capsid trail export --html trail.html                   the same as one page, to be opened in any browser
  capsid trail export --out bundle 5f0c1b9e codex/019e    some sessions, without the meta-chain
  capsid trail export --otlp http://127.0.0.1:4318        traces for a receiver of OpenTelemetry, without texts
  capsid trail verify --signatures bundle                 what the receiver does")]
pub(super) struct TrailExportArgs {
    /// The folder. Other files in it stay.
    #[arg(long, value_name = "PATH", required_unless_present_any = ["html", "otlp"])]
    out: Option<PathBuf>,
    /// One page with the Explorer and the chains in it, which works from disk. Loads nothing from anywhere.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace the file even if it is no page that this command wrote.
    #[arg(long, requires = "html")]
    force: bool,
    /// The chains of all repositories, with the meta-chain.
    #[arg(long, conflicts_with = "chains")]
    all: bool,
    #[command(flatten)]
    traces: OtlpArgs,
    /// Only these chains: sessions of the home, tool/session, or files.
    #[arg(value_name = "CHAIN")]
    chains: Vec<String>,
}

pub(super) fn run(arguments: &TrailExportArgs, home: &TrailHome, folder: &Path) -> Result<u8> {
    let page = arguments.html.as_ref().map(|file| page_for(file, arguments.force).map(|page| (page, file)));
    let page = page.transpose()?;
    let mut chains = match arguments.chains.is_empty() {
        true => {
            let selected = SelectedChains::select(home, folder, arguments.all)?;
            selected.print_left_out();
            selected.chains
        }
        false => arguments.chains.iter().map(|name| named(home, name)).collect::<Result<Vec<_>>>()?,
    };
    if arguments.chains.is_empty() {
        // What others sealed is theirs to hand on.
        chains.retain(|chain| !chain.path().starts_with(imported::folder(home)));
    }
    if let Some(target) = &arguments.traces.otlp {
        return otlp::export(&arguments.traces, target, home, chains);
    }
    chains.iter().for_each(warn_if_broken);
    // A key of the home that the service replaced vouches for nothing any more.
    let service = super::signer::active_service(home)?;
    let (own, heads): (_, Option<Box<dyn HeadSigner>>) = match (service, file::load(&home.key())?) {
        (Some(trust), _) => (Some(trust.current_key()?), Some(Box::new(ServiceHeads { trust }))),
        (None, Some(key)) => {
            (Some(key.public()), Some(Box::new(OwnHeads { key, time: SystemClock.now().iso() })))
        }
        (None, None) => (None, None),
    };
    let collected = ExportedChains::collect(home, chains, own).with_heads(heads);
    print_refused(&collected.refused);
    let plan = collected.plan(UnreadablePolicy::LeftOut);
    if let Some(folder) = &arguments.out {
        plan.write_all(folder)?;
    }
    if let Some((page, file)) = &page {
        write_page(page, file, &plan)?;
    }
    print_skipped(&plan.written);
    print_written(arguments, &plan.written, own);
    Ok(u8::from(!plan.written.left_out.is_empty()))
}

fn print_skipped(written: &WrittenBundle) {
    if let Some(problem) = &written.unstated {
        let note = paint(WARN, "the heads are not stated:");
        output::talk(format_args!("{note} {}", inert_line(&problem.message)));
    }
    for (label, problem) in &written.left_out {
        output::talk(format_args!(
            "{} {}: {}",
            paint(WARN, "left out:"),
            inert_line(label),
            inert_line(&problem.message)
        ));
    }
}

/// What was written, where it is, and whose key is in it.
fn print_written(arguments: &TrailExportArgs, written: &WrittenBundle, own: Option<PublicKey>) {
    let hex = own.map(|key| key.hex()).unwrap_or_default();
    let fingerprint = own.map(|key| key.fingerprint()).unwrap_or_default();
    if output::is_json() {
        output::document(&json!({
            "chains": written.chains, "capsules": written.records, "out": arguments.out, "html": arguments.html,
            "public_key": hex, "fingerprint": fingerprint, "left_out": written.left_out.len(),
            "unstated": written.unstated.as_ref().map(|problem| json!({"code": problem.code.as_str(), "message": problem.message})),
        }));
    } else {
        let display = |path: &PathBuf, end: &str| format!("{}{end}", inert_line(&path.to_string_lossy()));
        let folder = arguments.out.iter().map(|path| display(path, "/"));
        for target in folder.chain(arguments.html.iter().map(|path| display(path, ""))) {
            let word = paint(GOOD, "exported");
            let WrittenBundle { chains, records, .. } = written;
            output::line(format_args!("{word} {chains} chain(s), {records} record(s) -> {target}"));
        }
        let begin: String = hex.chars().take(16).collect();
        output::line(format_args!("public_key={begin}... fingerprint={}", paint(NAME, fingerprint)));
    }
}

/// The page, if there is one in this program and the file may be written.
fn page_for(file: &Path, force: bool) -> Result<SinglePage> {
    let page = SinglePage::built_in()?;
    if force || is_own_page(file)? {
        return Ok(page);
    }
    let message = format!("`{}` is there already, and it is no page of this command.", file.display());
    Err(Problem::new(Code::ChangeRefused, message).fix("Name another file, or replace it with --force."))
}

/// Whether a file can be replaced without loss: there is none, or this command wrote it.
fn is_own_page(file: &Path) -> Result<bool> {
    let Some(existing) = capsid_disk::files::open(file)? else { return Ok(true) };
    let mut begin = Vec::new();
    let read = existing.take(single::BEGIN.len() as u64).read_to_end(&mut begin);
    read.map_err(|error| Problem::io("read", file, &error))?;
    Ok(begin == single::BEGIN.as_bytes())
}

fn write_page(page: &SinglePage, file: &Path, plan: &BundlePlan) -> Result<()> {
    capsid_disk::files::replace_with(file, |out| {
        add_file(out, file, &page.head())?;
        for name in plan.names() {
            add_file(out, file, &SinglePage::before_file(name))?;
            let mut escaped = EscapedJson::new(&mut *out);
            plan.write(name, file, &mut escaped)?;
            escaped.flush().map_err(|error| Problem::io("write", file, &error))?;
            add_file(out, file, SinglePage::AFTER_FILE)?;
        }
        add_file(out, file, &page.foot())
    })
}

fn add_file(out: &mut dyn Write, file: &Path, text: &str) -> Result<()> {
    out.write_all(text.as_bytes()).map_err(|error| Problem::io("write", file, &error))
}

/// Chains, and the keys that go with them.
pub(super) struct ExportedChains {
    chains: Vec<ChainSource>,
    own: Option<PublicKey>,
    known: Vec<PublicKey>,
    generated_at: String,
    signer: Option<Box<dyn HeadSigner>>,
    /// Why some keys do not go along.
    refused: Vec<String>,
}

impl ExportedChains {
    pub fn collect(home: &TrailHome, chains: Vec<ChainSource>, own: Option<PublicKey>) -> Self {
        let now = SystemClock.now();
        let mut keys = capsid_seal::keys::load_home(home.root());
        super::signer::add_keys_of_service(&mut keys, home);
        let known = keys.iter().filter(|trusted| trusted.origin != KeyOrigin::Own);
        let known = known.map(|trusted| trusted.key).collect();
        Self { chains, own, known, generated_at: local(now), signer: None, refused: keys.refused }
    }

    /// Has a statement about the head of each chain signed.
    pub fn with_heads(self, signer: Option<Box<dyn HeadSigner>>) -> Self {
        Self { signer, ..self }
    }

    fn export(&self) -> BundleExport<'_> {
        let Self { chains, own, known, generated_at, signer, .. } = self;
        BundleExport { chains, own: *own, known, generated_at, heads: signer.as_deref() }
    }

    pub fn plan(&self, unreadable: UnreadablePolicy) -> BundlePlan {
        BundlePlan::new(&self.export(), unreadable)
    }
}

/// A broken chain is evidence too, so it goes along; but nobody should hand it over unknowingly.
fn warn_if_broken(chain: &ChainSource) {
    let checked = check(chain, &VerifyOptions::default(), &KeySet::default());
    if let Some(error) = checked.ok().filter(|checked| !checked.valid()).and_then(|checked| checked.error()) {
        let label = inert_line(&chain.label);
        output::talk(format_args!(
            "{} {label}: {}",
            paint(WARN, "broken, and exported as it is:"),
            inert_line(&error)
        ));
    }
}
