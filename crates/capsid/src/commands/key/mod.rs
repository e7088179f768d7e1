//! `capsid key`: the key that seals, and the keys that are trusted.

mod pin;
mod show;

use super::trail::signer::layout;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_seal::keys::own::{self, OwnKeys};
use capsid_seal::keys::{self, adopted, file, known};
use capsid_seal::{PublicKey, Sealer, TrailHome, python_iso};
use capsid_signer::home_sealer;
use capsid_trail::session_sealer::SessionSealer;
use clap::{Args, Subcommand};
use pin::PinArgs;
use std::path::{Path, PathBuf};

/// Show, check, back up and replace the key that seals, and say whose keys to trust.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid key show                     the public key: give it to whoever should verify
  capsid key backup ~/safe/capsid.key
  capsid key pin 0edc0349... --name ada   this key belongs to somebody I know
  capsid key rotate                   seal with a new key from now on; old chains still verify")]
pub struct KeyArgs {
    #[command(subcommand)]
    action: KeyCommand,

    /// The trail's folder.
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Show the public key and its fingerprint, and every other key that is known here.
    #[command(after_help = "Examples:\n  capsid key show\n  capsid key show --json | jq -r .public_key")]
    Show,
    /// Check that the key can be read, that only you can read it, and that the files of keys are sound.
    #[command(
        after_help = "Examples:\n  capsid key check                    exit 1 and a fix for each thing that is wrong"
    )]
    Check,
    /// Copy the private key to a new file that only you can read.
    #[command(after_help = "Examples:\n  capsid key backup ~/safe/capsid.key")]
    Backup {
        /// The file. One that exists is never replaced.
        #[arg(required_unless_present = "out")]
        file: Option<PathBuf>,
        /// The file to write.
        #[arg(long, value_name = "PATH", conflicts_with = "file")]
        out: Option<PathBuf>,
    },
    /// Make a key: before anything is sealed, or in the place of one that was lost.
    #[command(
        after_help = "Examples:\n  capsid key new                      when the old one cannot be brought back"
    )]
    New,
    /// Seal with a new key from now on. The old one is kept: it proves what was redacted in old records.
    #[command(after_help = "Examples:\n  capsid key rotate")]
    Rotate,
    /// Make a second key pair (ML-DSA-65): every record then also gets a signature that quantum computers cannot forge.
    #[command(after_help = "Examples:\n  capsid key add-pq")]
    #[cfg(feature = "pq")]
    AddPq,
    /// Make a public key known, so that chains signed by it verify.
    #[command(after_help = "Examples:\n  capsid key add 0edc03491c799def...  all 64 digits")]
    Add {
        /// The public key: 64 hex digits.
        key: String,
    },
    /// Vouch for a public key that you got from its owner. From then on data from elsewhere must be signed by a key of
    /// yours or by a pinned one.
    #[command(after_help = "Examples:
  capsid key pin 0edc03491c799def... --name ada   all 64 digits; verify --from ada asks for her alone
  capsid key pin --successor ada.json             she rotated her key: what `capsid key show --json` printed there")]
    Pin(PinArgs),
    /// Make the key of another home of yours one of this home's own. Its private key is needed, and stays where it is.
    #[command(after_help = "Examples:\n  capsid key adopt /mnt/laptop/.local/share/capsid/trail/key")]
    Adopt {
        /// The private key file.
        file: PathBuf,
    },
}

/// Runs the command.
pub fn run(arguments: &KeyArgs) -> Result<u8> {
    let home = TrailHome::find(arguments.home.as_deref(), &super::variable)?;
    match &arguments.action {
        KeyCommand::Show => show::run(&home, output::is_json()),
        KeyCommand::Check => check(&home, output::is_json()),
        KeyCommand::Backup { file, out } => {
            backup(&home, output::named_path(file.as_deref(), out.as_deref())?, output::is_json())
        }
        KeyCommand::New => new(&home, output::is_json()),
        KeyCommand::Rotate => rotate(&home, output::is_json()),
        #[cfg(feature = "pq")]
        KeyCommand::AddPq => add_pq(&home, output::is_json()),
        KeyCommand::Add { key } => add(&home, key, output::is_json(), known::register, "known"),
        KeyCommand::Pin(arguments) => pin::run(arguments, &home),
        KeyCommand::Adopt { file } => adopt(&home, file, output::is_json()),
    }
}

/// Who seals in a home. The first time a key is made, and its fingerprint printed.
pub(crate) fn sealer(home: &TrailHome) -> Result<Sealer> {
    let own = own_of(home)?;
    if own.is_new {
        output::talk(format_args!("{} {}", paint(NAME, "key:"), new_key(&own.sealer.public().fingerprint())));
    }
    Ok(own.sealer)
}

/// The same without a word.
pub(crate) fn own_of(home: &TrailHome) -> Result<OwnKeys> {
    home_sealer::open_sealer(&layout().trust, home.root(), &now())
}

/// What to say of a key that was made just now.
pub(crate) fn new_key(fingerprint: &str) -> String {
    format!("a new key seals from now on: {fingerprint}. `capsid key backup FILE` keeps a copy of it.")
}

fn now() -> String {
    python_iso(SystemClock.now().0 * 1000)
}

#[cfg(feature = "pq")]
fn add_pq(home: &TrailHome, as_json: bool) -> Result<u8> {
    file::require(&home.key())?;
    capsid_seal::pq::load_or_create(home.root(), &own::random_seed()?)?;
    let path = capsid_seal::pq::public_path(home.root());
    if as_json {
        output::document(&json!({"ok": true, "public_key": path}));
    } else {
        output::line(format_args!(
            "Every record gets a second signature from now on; its public key is {}.",
            inert_line(&path.to_string_lossy())
        ));
    }
    Ok(0)
}

fn adopt(home: &TrailHome, private_key: &Path, as_json: bool) -> Result<u8> {
    let key = adopted::adopt(home.root(), private_key, &own::random_seed()?)?;
    if as_json {
        output::document(
            &json!({"fingerprint": key.fingerprint(), "public_key": key.hex(), "origin": "own"}),
        );
    } else {
        output::line(format_args!(
            "{} is one of your own keys; chains that it sealed verify as yours and go on here",
            paint(NAME, key.fingerprint())
        ));
    }
    Ok(0)
}

fn check(home: &TrailHome, as_json: bool) -> Result<u8> {
    let problems = keys::health::check(home.root());
    if as_json {
        let entries: Vec<Value> = problems
            .iter()
            .map(|problem| json!({"code": problem.code.as_str(), "message": problem.message, "fix": problem.fix}))
            .collect();
        output::document(&json!({"ok": problems.is_empty(), "problems": entries}));
    } else if problems.is_empty() {
        let fingerprint = file::require(&home.key())?.public().fingerprint();
        output::line(format_args!("{} the key {fingerprint} can be read, by you alone", paint(GOOD, "ok")));
    } else {
        problems.iter().for_each(|problem| {
            output::line(format_args!("{} {}", paint(BAD, "problem:"), inert_line(&problem.message)));
            problem
                .fix
                .iter()
                .for_each(|fix| output::line(format_args!("  {} {}", paint(DIM, "fix:"), inert_line(fix))));
        });
    }
    Ok(u8::from(!problems.is_empty()))
}

fn backup(home: &TrailHome, to: &Path, as_json: bool) -> Result<u8> {
    file::backup(home.root(), to)?;
    if as_json {
        output::document(&json!({"ok": true, "path": to}));
    } else {
        output::line(format_args!(
            "The key was copied to {}. Whoever has it can seal in your name.",
            inert_line(&to.to_string_lossy())
        ));
    }
    Ok(0)
}

fn new(home: &TrailHome, as_json: bool) -> Result<u8> {
    let key = own::renew(home.root(), &own::random_seed()?, &now())?;
    if as_json {
        output::document(&json!({"public_key": key.hex(), "fingerprint": key.fingerprint()}));
    } else {
        output::line(format_args!("{} seals from now on", paint(NAME, key.hex())));
        output::talk("`capsid key backup FILE` keeps a copy of it.");
    }
    Ok(0)
}

fn rotate(home: &TrailHome, as_json: bool) -> Result<u8> {
    if home_sealer::service_of_home(&layout().trust, home.root())?.is_some() {
        return Err(Problem::new(Code::SignerRefused, "The signing service has the key of this home.")
            .fix("Run `sudo capsid trail signer rotate`."));
    }
    file::require(&home.key())?;
    let sealer = own_of(home)?.sealer;
    let new_id = capsid_trail::new_id;
    let session_sealer =
        SessionSealer { home, sealer: &sealer, clock: &SystemClock, new_id: &new_id, redact: true };
    let rotated = session_sealer.rotate_key(&own::random_seed()?)?;
    let (old, new) = (rotated.old, rotated.new);
    for (label, problem) in &rotated.unrecorded {
        output::talk(format_args!(
            "{} {}: {} What the old key signed there counts only up to its last record in the meta-chain.",
            paint(WARN, "not recorded:"),
            inert_line(label),
            inert_line(&problem.message)
        ));
    }
    if as_json {
        output::document(
            &json!({"public_key": new.hex(), "fingerprint": new.fingerprint(), "retired": old.fingerprint(),
                "unrecorded": rotated.unrecorded.len()}),
        );
    } else {
        output::line(format_args!("{} seals from now on", paint(NAME, new.hex())));
        output::line(format_args!(
            "{} is retired and kept; what it sealed still verifies",
            old.fingerprint()
        ));
        output::talk(
            "Whoever pinned the old key runs `capsid key pin --successor` on the output of `capsid key show --json`.",
        );
    }
    Ok(0)
}

fn add(
    home: &TrailHome,
    key: &str,
    as_json: bool,
    how: fn(&Path, &PublicKey) -> Result<()>,
    word: &str,
) -> Result<u8> {
    let key = PublicKey::from_hex(key.trim())?;
    how(home.root(), &key)?;
    if as_json {
        output::document(&json!({"fingerprint": key.fingerprint(), "public_key": key.hex(), "origin": word}));
    } else {
        output::line(format_args!("{} is {word}", paint(NAME, key.fingerprint())));
    }
    Ok(0)
}
