//! `capsid trail explore`: the Explorer over the chains of this machine, or over a bundle.

use super::chains::{all, own_keys};
use super::export::ExportedChains;
use crate::commands::viewer;
use capsid_model::{Code, Problem, Result, json};
use capsid_seal::bundle::{BundlePlan, UnreadablePolicy, is_plain};
use capsid_seal::keys::{KeyOrigin, file, pq_public};
use capsid_seal::{PublicKey, TrailHome};
use capsid_web::local::{JsonDocument, LocalData, about};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Look at chains in the browser, where every hash, link and signature is checked again. Ctrl-C stops it.
///
/// The pages come from this program and are served on 127.0.0.1 alone; nothing goes anywhere else. The address that
/// is printed holds a key that is new at every start. What is sealed meanwhile shows when the page is loaded again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid trail explore                 the chains of this user
  capsid trail explore --open          and open the browser
  capsid trail explore bundle/         a bundle that `capsid trail export --out` wrote
  capsid trail explore --port 5000     at a port of your choice")]
pub(super) struct TrailExploreArgs {
    /// A bundle's folder, instead of your own chains.
    #[arg(value_name = "BUNDLE")]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    options: viewer::ViewerOptions,
}

pub(super) fn run(arguments: &TrailExploreArgs, home: &TrailHome) -> Result<u8> {
    let source = match &arguments.bundle {
        None => TrailViewerSource::Home(Mutex::default()),
        Some(folder) if folder.join("index.json").is_file() => TrailViewerSource::Bundle(folder.clone()),
        Some(folder) => {
            let message = format!("`{}` is not a bundle: it has no `index.json`.", folder.display());
            return Err(Problem::new(Code::ChainUnreadable, message).fix(
                "Name a folder that `capsid trail export --out` wrote, or nothing for your own chains.",
            ));
        }
    };
    viewer::serve(
        &arguments.options,
        crate::output::is_json(),
        Arc::new(TrailViewer { home: home.clone(), source }),
    )
}

/// The chains in the local viewer.
pub(crate) struct TrailViewer {
    home: TrailHome,
    source: TrailViewerSource,
}

enum TrailViewerSource {
    /// The user's chains as they were when the index was last requested.
    Home(Mutex<Option<Arc<BundlePlan>>>),
    Bundle(PathBuf),
}

impl LocalData for TrailViewer {
    fn first_page(&self) -> &'static str {
        "/explorer"
    }

    fn document(&self, path: &str) -> Result<Option<JsonDocument>> {
        match path {
            "about" => Ok(Some(about(true, None))),
            "trail/keys.json" => Ok(Some(self.keys())),
            _ => match path.strip_prefix("trail/").and_then(decoded) {
                Some(name) => self.file(&name),
                None => Ok(None),
            },
        }
    }
}

impl TrailViewer {
    /// The user's own chains.
    pub(crate) fn new(home: TrailHome) -> Self {
        Self { home, source: TrailViewerSource::Home(Mutex::default()) }
    }

    /// The keys that this user knows to be right. What a bundle says of keys is not among them.
    fn keys(&self) -> JsonDocument {
        let own = self.own().map(|key| key.hex());
        let keys = own_keys(&self.home);
        let pinned = keys.iter().filter(|key| key.origin == KeyOrigin::Pinned);
        let pinned: Vec<String> = pinned.map(|key| key.key.hex()).collect();
        let place = match self.source {
            TrailViewerSource::Home(_) => "home",
            TrailViewerSource::Bundle(_) => "bundle",
        };
        let pq = pq_public::public_hex(self.home.root()).ok().flatten();
        let files = match &self.source {
            TrailViewerSource::Home(_) => Vec::new(),
            TrailViewerSource::Bundle(folder) => json_files(folder),
        };
        JsonDocument::from_value(
            &json!({ "own": own, "pq": pq, "pinned": pinned, "place": place, "files": files }),
        )
    }

    /// A key that cannot be read is no reason to show nothing: `capsid doctor` reports it.
    fn own(&self) -> Option<PublicKey> {
        let service = super::signer::key_of_service(&self.home).ok().flatten();
        service.or_else(|| file::load(&self.home.key()).ok().flatten().map(|key| key.public()))
    }

    fn file(&self, name: &str) -> Result<Option<JsonDocument>> {
        match &self.source {
            TrailViewerSource::Bundle(folder) => in_folder(folder, name),
            TrailViewerSource::Home(known) => {
                let plan = self.plan(known, name == "index.json")?;
                let name = name.to_owned();
                let is_there = plan.names().any(|each| each == name);
                Ok(is_there
                    .then(|| JsonDocument::written(move |out| plan.write(&name, Path::new(&name), out))))
            }
        }
    }

    /// Asking for the index reads every chain anew; the other files are then those that it speaks of.
    fn plan(&self, known: &Mutex<Option<Arc<BundlePlan>>>, anew: bool) -> Result<Arc<BundlePlan>> {
        let held = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = held().as_ref().filter(|_| !anew) {
            return Ok(Arc::clone(plan));
        }
        let collected = ExportedChains::collect(&self.home, all(&self.home)?, self.own());
        let plan = Arc::new(collected.plan(UnreadablePolicy::Shown));
        *held() = Some(Arc::clone(&plan));
        Ok(plan)
    }
}

/// The names of the files that a page may ask for. Those that the index does not list are named in a verdict.
fn json_files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names
}

/// A file of a bundle, as it is stored.
fn in_folder(folder: &Path, name: &str) -> Result<Option<JsonDocument>> {
    if !is_plain(name) || !name.ends_with(".json") {
        return Ok(None);
    }
    let path = folder.join(name);
    let Some(file) = capsid_disk::files::open(&path)? else { return Ok(None) };
    JsonDocument::from_file(file).map(Some).map_err(|error| Problem::io("read", &path, &error))
}

/// A part of an address without its escapes, if it is text.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit =
                    || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit()? << 4 | digit()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn a_name_loses_its_escapes() {
        assert_eq!(decoded("codex-%C3%BCn%2e.json").as_deref(), Some("codex-ün..json"));
        for broken in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
