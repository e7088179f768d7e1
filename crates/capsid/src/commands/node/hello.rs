//! `capsid node hello`.

use super::connection::HubConnectionArgs;
use super::print::{self, number, raw, reputation, sheet, when};
use super::redact_outbound::OutboundRedactor;
use crate::commands::{home_folder, workspace};
use crate::output::{self, HEAD, NAME, paint};
use capsid_client::HelloResult;
use capsid_client::NodeClient;
use capsid_client::node::encoded;
use capsid_disk::files;
use capsid_engine::store::collection::Collection;
use capsid_model::{Clock, Code, Object, Problem, Result, SystemClock, Time, Value, json};
use clap::Args;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// More than any secret has, so that no endless line is read.
const MAX_SECRET_LEN: u64 = 1024;

/// Register this node with a hub and print where to claim it.
///
/// The first hello makes the node known: the hub gives it credits to begin with, a secret, which is kept in ~/.evomap and
/// never printed, and an address at which a person makes the node theirs. Later ones report what has changed.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  capsid node hello --hub http://127.0.0.1:4000     register, and see where to claim the node
  capsid node hello --name ann-laptop               with a name that people recognise
  capsid node hello --webhook https://me.example/in be called when there is something to do
  capsid node hello --rotate-secret                 ask for another secret; the old one ends at once
  capsid node hello --secret-stdin < secret.txt     take the secret that the account on the hub reset
  capsid node hello --new-hub                       the hub was set up anew: forget the old one, register again")]
pub struct NodeHelloArgs {
    /// What people call this node; at most 32 characters.
    #[arg(long)]
    name: Option<String>,
    /// The model that works here; some tasks ask for one.
    #[arg(long)]
    model: Option<String>,
    /// Be called at this https address when there is something to do; an empty one ends that.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// Ask for another secret. The present one is shown to the hub and ends.
    #[arg(long)]
    rotate_secret: bool,
    /// Read the node's secret from stdin: its owner reset it in the account on the hub, and it was shown there once.
    #[arg(long, conflicts_with_all = ["rotate_secret", "new_hub"])]
    secret_stdin: bool,
    /// Forget the name and the secret of the hub that was at this address before. What it knew of this node is gone with it.
    #[arg(long, conflicts_with = "rotate_secret")]
    new_hub: bool,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeHelloArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let request = payload(arguments, folder);
    let mut greeting = match (arguments.new_hub, arguments.secret_stdin) {
        (true, _) => node.hello_anew(request)?,
        (_, true) => node.hello_with(read_secret()?.trim(), request)?,
        _ => node.hello(request)?,
    };
    let secret_file = save_webhook_secret(&node, &mut greeting)?;
    if output::is_json() {
        let mut response = to_json(&node, &greeting);
        response.insert("secret_rotated".to_owned(), arguments.rotate_secret.into());
        if let Some(path) = &secret_file {
            response.insert("webhook_secret_file".to_owned(), path.display().to_string().into());
        }
        output::document(&response.into());
    } else {
        print(&node, &greeting, arguments.rotate_secret);
    }
    print_webhook(&greeting, secret_file.as_deref());
    Ok(0)
}

/// What a node that says nothing but its name tells a hub of itself.
pub(super) fn introduction(name: Option<&str>, folder: &Path) -> Object {
    payload(&NodeHelloArgs { name: name.map(str::to_owned), ..NodeHelloArgs::default() }, folder)
}

/// What the hub answered, for a program.
pub(super) fn to_json(node: &NodeClient, greeting: &HelloResult) -> Object {
    let mut response = greeting.payload.clone();
    response.insert("hub".to_owned(), node.hub_url().into());
    response.insert("node_id".to_owned(), node.id().into());
    response.insert("claim_expires_at".to_owned(), expiry(node, greeting).map(Time::iso).into());
    response
}

/// A secret as it was typed or piped in, no longer than one can be.
fn read_secret() -> Result<String> {
    if std::io::stdin().is_terminal() {
        output::talk("Paste the secret that the hub showed, and press Enter.");
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_SECRET_LEN).read_line(&mut text);
    read.map_err(|error| {
        Problem::new(Code::InputInvalid, format!("The secret could not be read: {error}."))
    })?;
    Ok(text)
}

fn payload(arguments: &NodeHelloArgs, folder: &Path) -> Object {
    let mut request = Object::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            request.insert(name.to_owned(), value);
        }
    };
    let mut redactor = OutboundRedactor::default();
    put("name", redactor.text_or(arguments.name.as_deref()).map(Value::from));
    put("model", redactor.text_or(arguments.model.as_deref()).map(Value::from));
    redactor.print_removed();
    put("webhook_url", arguments.webhook.as_deref().map(Value::from));
    put("rotate_secret", arguments.rotate_secret.then(|| json!(true)));
    // How much there is to share; nothing of it is sent.
    if let Ok(workspace) = workspace(folder) {
        let count = |list: &Collection| list.texts().ok().map(|texts| texts.len().into());
        put("gene_count", count(&workspace.store.genes));
        put("capsule_count", count(&workspace.store.capsules));
    }
    request
}

/// A hub shows what it signs its calls with once, so it is put where only this user reads it, and never printed.
fn save_webhook_secret(node: &NodeClient, greeting: &mut HelloResult) -> Result<Option<PathBuf>> {
    let secret = greeting.payload.shift_remove("webhook_secret");
    let Some(secret) = secret.as_ref().and_then(Value::as_str) else { return Ok(None) };
    let host = node.hub_url().split_once("://").map_or(node.hub_url(), |(_, host)| host);
    let name: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    let path = home_folder()?.join(".evomap").join(format!("webhook_secret_{name}"));
    files::replace_secret(&path, secret.as_bytes())?;
    Ok(Some(path))
}

/// Until when the claim code can be used. A hub that does not report it is no reason to fail.
fn expiry(node: &NodeClient, greeting: &HelloResult) -> Option<Time> {
    let code = greeting.claim_code.as_deref()?;
    let claim = node.get(&format!("/claim/{}", encoded(code)), &[]).ok()?;
    Time::parse(raw(&claim, "expires_at"))
}

/// What the hub answered, for a person.
pub(super) fn print(node: &NodeClient, greeting: &HelloResult, rotated: bool) {
    let expires = expiry(node, greeting);
    let response = Value::Object(greeting.payload.clone());
    let profile = response.get("capability_profile").cloned().unwrap_or_default();
    print::done(format_args!("{} is known to {}", paint(NAME, node.id()), node.hub_url()));
    sheet(&[
        ("credits", print::balance(&response)),
        ("reputation", number(&profile, "reputation").map(|it| reputation(Some(it))).unwrap_or_default()),
        ("level", print::word(&profile, "level")),
        (
            "owner",
            if response.get("claimed") == Some(&json!(true)) {
                "claimed by an account".into()
            } else {
                String::new()
            },
        ),
        ("tasks", waiting(&response)),
        ("secret", if rotated { "a new one is kept; the old one has ended".into() } else { String::new() }),
    ]);
    if let Some(url) = &greeting.claim_url {
        output::line("");
        output::line("Open this address to make the node yours:");
        output::line(format_args!("  {}", paint(HEAD, print::line(url, 500))));
        if let Some(at) = expires {
            output::line(format_args!("  It expires {}.", when(at, SystemClock.now())));
        }
    }
}

fn waiting(response: &Value) -> String {
    match print::list(response, "recommended_tasks").len() {
        0 => String::new(),
        1 => "1 that this node may take: capsid node tasks".to_owned(),
        count => format!("{count} that this node may take: capsid node tasks"),
    }
}

fn print_webhook(greeting: &HelloResult, secret_file: Option<&Path>) {
    match greeting.payload.get("webhook_status").and_then(Value::as_str) {
        Some("registered") => print::print_note("The hub calls the address from now on."),
        Some("removed") => print::print_note("The hub calls no address any more."),
        Some(word) => print::print_note(format_args!(
            "The hub did not take the webhook ({}). Everything else was done.",
            print::line(word.trim_start_matches("rejected:"), 80)
        )),
        None => {}
    }
    if let Some(path) = secret_file {
        print::print_note(format_args!(
            "The hub sends the secret that signs its calls only once; it is stored in {}, which only you can read.",
            path.display()
        ));
    }
}
