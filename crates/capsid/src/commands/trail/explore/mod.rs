//! `capsid trail explore`: the Explorer over the chains of this machine, or over a bundle.

mod home_view;
mod key_limits;

use super::chains::own_keys;
use crate::commands::viewer;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_seal::bundle::is_plain;
use capsid_seal::imported;
use capsid_seal::keys::{KeyOrigin, KeySet, pq_public};
use capsid_seal::{PublicKey, TrailHome};
use capsid_web::local::{JsonDocument, LocalData, about};
use clap::Args;
use home_view::{HomeView, key_of_home};
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

pub(super) fn run(arguments: &TrailExploreArgs, home: &TrailHome, is_home_named: bool) -> Result<u8> {
    let source = match &arguments.bundle {
        None => {
            if !is_home_named {
                crate::commands::trail::signer::require_signed_home(home)?;
            }
            TrailViewerSource::Home(Mutex::default())
        }
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
    Home(Mutex<Option<Arc<HomeView>>>),
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

    /// The keys that `capsid trail verify` uses here. What a bundle says of keys is not among them.
    fn keys(&self) -> JsonDocument {
        let mut keys = own_keys(&self.home);
        let (place, files) = match &self.source {
            TrailViewerSource::Home(_) => {
                imported::add_keys(&self.home, &mut keys);
                ("home", Vec::new())
            }
            TrailViewerSource::Bundle(folder) => ("bundle", json_files(folder)),
        };
        // A key that cannot be read is no reason to show nothing: `capsid doctor` reports it.
        let own = key_of_home(&self.home).ok().flatten().map(|key| key.hex());
        let pinned = keys.iter().filter(|key| key.origin == KeyOrigin::Pinned);
        let pinned: Vec<String> = pinned.map(|key| key.key.hex()).collect();
        let pq = pq_public::public_hex(self.home.root()).ok().flatten();
        JsonDocument::from_value(&json!({
            "own": own, "pq": pq, "pinned": pinned, "keys": list(&keys), "place": place, "files": files,
        }))
    }

    fn file(&self, name: &str) -> Result<Option<JsonDocument>> {
        match &self.source {
            TrailViewerSource::Bundle(folder) => in_folder(folder, name),
            TrailViewerSource::Home(known) => {
                let view = self.view(known, name == "index.json")?;
                if name == "home.json" {
                    return Ok(Some(JsonDocument::from_value(&view.traces)));
                }
                let name = name.to_owned();
                let is_there = view.plan.names().any(|each| each == name);
                Ok(is_there
                    .then(|| JsonDocument::written(move |out| view.plan.write(&name, Path::new(&name), out))))
            }
        }
    }

    /// Asking for the index reads every chain anew; the other files are then those that it speaks of.
    fn view(&self, known: &Mutex<Option<Arc<HomeView>>>, anew: bool) -> Result<Arc<HomeView>> {
        let held = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = held().as_ref().filter(|_| !anew) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(HomeView::read(&self.home)?);
        *held() = Some(Arc::clone(&view));
        Ok(view)
    }
}

/// Each key, where it came from, and its place among the home's own ones, counted without gaps: a page has no numbers
/// as large as some of these.
fn list(keys: &KeySet) -> Vec<Value> {
    let mut epochs: Vec<u64> = keys.iter().filter_map(|one| keys.epoch(&one.key)).collect();
    epochs.sort_unstable();
    epochs.dedup();
    let place = |key: &PublicKey| keys.epoch(key).and_then(|epoch| epochs.binary_search(&epoch).ok());
    keys.iter().map(|one| json!([one.key.hex(), one.origin.as_str(), place(&one.key)])).collect()
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
