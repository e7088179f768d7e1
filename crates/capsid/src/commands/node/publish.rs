//! `capsid node publish`: send a proven capsule with its gene to a hub, or show what would be sent.

use super::connection::HubConnectionArgs;
use crate::commands::workspace;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_client::NodeClient;
use capsid_client::refusal::may_pass;
use capsid_engine::exchange::outgoing::{PublishCandidate, offers, outgoing};
use capsid_engine::exchange::publication_log::OutgoingBundle;
use capsid_engine::exchange::publish::{publish, refusal};
use capsid_engine::exchange::reproduction::add_to_bundle;
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use clap::Args;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

/// Send a proven capsule with its gene to the hub.
///
/// What leaves is redacted first: credentials, e-mail and network addresses, home folders. `--dry-run` shows exactly what
/// would be sent, and needs no hub. A capsule may be shared once a command that failed before it passes with it, and it
/// worked twice in a row, scored at least 0.7 and changed at most 5 files and 200 lines. `capsid capsules` gives the same
/// answer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node publish --dry-run                           what may be shared, and what would be sent
  capsid node publish --dry-run capsule_1770477654236     one capsule, whether it may be shared or not yet
  capsid node publish capsule_1770477654236 --with-reproduction repro
                                                          with a small project in which the problem shows
  capsid node publish --all-eligible                      everything that may be shared and was not yet
  capsid node publish --hub http://127.0.0.1:4000         the one capsule that may be shared, to this hub")]
pub struct NodePublishArgs {
    /// The capsule; without one, the one that may be shared.
    #[arg(value_name = "CAPSULE_ID")]
    capsule: Option<String>,
    /// Every capsule that may be shared and was not published to this hub yet.
    #[arg(long, conflicts_with = "capsule")]
    all_eligible: bool,
    /// Show what would be sent, and send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Send the capsule although it is not eligible, or was sent before.
    #[arg(long = "force", alias = "anyway", requires = "capsule")]
    anyway: bool,
    /// Send this folder along: a small project in which the command fails, and to which the patch applies. At most 64 KiB of
    /// text.
    #[arg(long, value_name = "DIR", requires = "capsule")]
    with_reproduction: Option<PathBuf>,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodePublishArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let offers = offers(&workspace)?;
    let hub = arguments.hub.settings(folder).map(|settings| settings.url);
    let hub = if arguments.dry_run { hub.ok() } else { Some(hub?) };
    let chosen = match choose(arguments, &offers, hub.as_deref()) {
        Ok(chosen) => chosen,
        Err(problem) => {
            if output::is_json() && arguments.dry_run {
                output::document(
                    &json!({"ok": true, "dry_run": true, "bundles": [], "offers": candidates_json(&offers)}),
                );
            } else if !output::is_json() {
                list(&offers);
            }
            return if arguments.dry_run { Ok(0) } else { Err(problem) };
        }
    };
    let anyway = arguments.anyway || (arguments.dry_run && arguments.capsule.is_some());
    let mut bundles = chosen.iter().map(|id| outgoing(&workspace, id, anyway)).collect::<Result<Vec<_>>>()?;
    if let Some(reproduction) = &arguments.with_reproduction {
        let reproduction = folder.join(reproduction);
        bundles.iter_mut().try_for_each(|bundle| add_to_bundle(bundle, &reproduction))?;
    }
    if arguments.dry_run {
        preview(&bundles, &offers, hub.as_deref(), output::is_json());
        return Ok(0);
    }
    send(arguments, &workspace, &arguments.hub.node(folder)?, &bundles)
}

/// The ids of the capsules that are meant.
fn choose(
    arguments: &NodePublishArgs,
    offers: &[PublishCandidate],
    hub: Option<&str>,
) -> Result<Vec<String>> {
    if let Some(id) = &arguments.capsule {
        let is_published = |offer: &PublishCandidate| hub.is_some_and(|hub| offer.was_taken_by(hub));
        let before = offers.iter().find(|offer| offer.id() == id && is_published(offer));
        return match before.and_then(|offer| offer.published_as.as_deref()) {
            Some(asset) if !arguments.anyway && !arguments.dry_run => Err(Problem::new(
                Code::ChangeRefused,
                format!("The hub has `{}` already, as `{asset}`.", inert_line(id)),
            )
            .fix("Nothing has to be done; `--force` sends it again.")),
            _ => Ok(vec![id.clone()]),
        };
    }
    let fresh: Vec<String> = offers
        .iter()
        .filter(|offer| hub.map_or(offer.eligibility.eligible, |hub| offer.is_new_for(hub)))
        .map(|offer| offer.id().to_owned())
        .collect();
    match fresh.len() {
        0 => Err(Problem::new(Code::NotEligible, "There is nothing new that may be shared.")
            .fix("Let capsules prove themselves in further cycles; the list says what each lacks.")),
        1 => Ok(fresh),
        _ if arguments.all_eligible => Ok(fresh),
        count => Err(Problem::new(Code::UsageError, format!("{count} capsules may be shared."))
            .fix("Name one of them, or say `--all-eligible`.")),
    }
}

fn list(offers: &[PublishCandidate]) {
    if offers.is_empty() {
        output::talk("No capsule yet: a cycle that succeeds makes one.");
        return;
    }
    let rows: Vec<Vec<String>> = offers.iter().map(row).collect();
    output::print(&output::table(&rows));
}

fn row(offer: &PublishCandidate) -> Vec<String> {
    let rejected = offer.rejected_by.last();
    let (state, why) = match (&offer.published_as, rejected, offer.eligibility.eligible) {
        (Some(id), ..) => (paint(DIM, "published"), format!("as {}", inert_line(cut(id, 80)))),
        (None, Some((hub, why)), _) => {
            let detail = format!("by {}: {}", inert_line(cut(hub, 80)), inert_line(cut(why, 400)));
            (paint(BAD, "rejected"), detail)
        }
        (None, None, true) => (paint(GOOD, "may be shared"), String::new()),
        (None, None, false) => (paint(WARN, "not yet"), offer.eligibility.reasons.join(" ")),
    };
    vec![paint(NAME, inert_line(cut(offer.id(), 80))), state, paint(DIM, why)]
}

fn candidates_json(offers: &[PublishCandidate]) -> Vec<Value> {
    let to_row = |offer: &PublishCandidate| {
        json!({
            "capsule_id": offer.id(),
            "eligible": offer.eligibility.eligible,
            "reasons": offer.eligibility.reasons,
            "streak": offer.eligibility.streak,
            "published_as": offer.published_as,
            "published_to": offer.published_to,
            "rejected_by": offer.rejected_by.iter().map(|(hub, why)| json!({"hub": hub, "why": why})).collect::<Vec<_>>(),
        })
    };
    offers.iter().map(to_row).collect()
}

/// Prints what would be sent, to the byte of its ids.
fn preview(bundles: &[OutgoingBundle], offers: &[PublishCandidate], hub: Option<&str>, as_json: bool) {
    if as_json {
        let bundles: Vec<Value> = bundles.iter().map(bundle_json).collect();
        output::document(
            &json!({"ok": true, "dry_run": true, "bundles": bundles, "offers": candidates_json(offers)}),
        );
        return;
    }
    for bundle in bundles {
        print_notes(bundle);
        if let Some(offer) = offers.iter().find(|offer| offer.id() == bundle.capsule_id) {
            for reason in &offer.eligibility.reasons {
                output::talk(format_args!("  {} {}", paint(WARN, "not eligible:"), inert_line(reason)));
            }
        }
        print_summary(bundle, hub);
        // A program that reads stdout gets the exact form, as it does with --json.
        if !std::io::stdout().is_terminal() {
            output::document(&bundle.assets.clone().into());
        }
    }
    output::talk(paint(DIM, "This is what would be sent; nothing was. `--json` prints it to the byte."));
}

/// What would be sent, in a few lines.
fn print_summary(bundle: &OutgoingBundle, hub: Option<&str>) {
    let kinds: Vec<&str> = bundle.assets.iter().map(|asset| text(asset, "type")).collect();
    let capsule = bundle.assets.iter().find(|asset| text(asset, "type") == "Capsule");
    let member = |name: &str| capsule.and_then(|capsule| capsule.get(name));
    let title = ["title", "summary"].iter().find_map(|name| member(name)?.as_str()).unwrap_or_default();
    let signals: Vec<&str> =
        member("trigger").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let bytes: usize = bundle.assets.iter().map(|asset| Value::from(asset.clone()).to_string().len()).sum();
    let rows = [
        ("what", inert_line(cut(title, 100))),
        ("sent as", kinds.join(", ")),
        ("to", hub.map_or_else(|| "no hub is configured yet".to_owned(), inert_line)),
        ("signals", inert_line(cut(&signals.join(", "), 100))),
        ("size", format!("{bytes} bytes")),
        ("then", "it is a candidate until another owner or the hub's runner reproduces it".to_owned()),
    ];
    let rows = rows.map(|(name, value)| vec![format!("  {}", paint(DIM, name)), value]);
    output::talk(output::table(&rows).trim_end());
}

fn bundle_json(bundle: &OutgoingBundle) -> Value {
    json!({"capsule_id": bundle.capsule_id, "assets": bundle.assets, "notes": bundle.notes})
}

fn print_notes(bundle: &OutgoingBundle) {
    output::talk(paint(NAME, inert_line(cut(&bundle.capsule_id, 80))));
    for note in &bundle.notes {
        output::talk(format_args!("  {}", inert_line(note)));
    }
}

fn send(
    arguments: &NodePublishArgs,
    workspace: &Workspace,
    node: &NodeClient,
    bundles: &[OutgoingBundle],
) -> Result<u8> {
    let as_json = output::is_json();
    let (mut results, mut status) = (Vec::new(), 0);
    for bundle in bundles {
        print_notes(bundle);
        if !arguments.yes && !as_json && !confirmed(node) {
            output::talk("It was not sent.");
            status = 1;
            continue;
        }
        match send_one(workspace, node, bundle, arguments.anyway) {
            Ok(answer) => {
                if !as_json {
                    print_response(bundle, &answer);
                }
                results
                    .push(json!({"capsule_id": bundle.capsule_id, "notes": bundle.notes, "answer": answer}));
            }
            // Alone it is the command's own problem; among others the rest is still sent.
            Err(problem) if bundles.len() == 1 => return Err(later(problem, bundle)),
            Err(problem) => {
                status = 1;
                let problem = later(problem, bundle);
                output::complain(&problem);
                let error =
                    json!({"code": problem.code.as_str(), "message": problem.message, "fix": problem.fix});
                results.push(json!({"capsule_id": bundle.capsule_id, "error": error}));
            }
        }
    }
    if as_json {
        output::document(&json!({"ok": status == 0, "hub": node.hub_url(), "published": results}));
    }
    Ok(status)
}

/// Asks the person at the terminal. Where there is none, the command itself was the word.
fn confirmed(node: &NodeClient) -> bool {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        output::talk(paint(
            DIM,
            "note: nobody can be asked here; say `--yes`, which a later version requires",
        ));
        return true;
    }
    output::talk(format_args!("Send this to {}? [y/N]", inert_line(node.hub_url())));
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn send_one(
    workspace: &Workspace,
    node: &NodeClient,
    bundle: &OutgoingBundle,
    anyway: bool,
) -> Result<Object> {
    match node.validate(&bundle.assets) {
        Ok(verdict) => {
            print_warnings(&verdict);
            if verdict.get("valid").and_then(Value::as_bool) == Some(false) && !anyway {
                return Err(refusal(&verdict, "The hub would not take it"));
            }
        }
        // Not every hub rehearses; what it makes of the bundle itself is what counts.
        Err(problem) if problem.code == Code::HubRefused => {}
        Err(problem) => return Err(problem),
    }
    let accepted = publish(workspace, node, bundle)?;
    accepted.unnoted.map_or(Ok(accepted.answer), Err)
}

/// A bundle that was not sent is still here, where sending it again could help.
fn later(mut problem: Problem, bundle: &OutgoingBundle) -> Problem {
    if !may_pass(&problem) {
        return problem;
    }
    let again = format!("It is kept: `capsid node publish {}` sends it.", inert_line(&bundle.capsule_id));
    let fix = problem.fix.take();
    problem.fix(fix.map_or_else(|| again.clone(), |fix| format!("{fix} {again}")))
}

fn print_warnings(response: &Object) {
    let warnings = response.get("warnings").and_then(Value::as_array).into_iter().flatten();
    for warning in warnings.take(20) {
        let text = warning.get("text").or(Some(warning)).and_then(Value::as_str).unwrap_or_default();
        output::talk(format_args!("  {} {}", paint(WARN, "hub:"), inert_line(cut(text, 400))));
    }
}

fn text<'a>(asset: &'a Object, name: &str) -> &'a str {
    asset.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn print_response(bundle: &OutgoingBundle, answer: &Object) {
    let text = |member: &str| {
        answer.get(member).and_then(Value::as_str).map(|text| inert_line(cut(text, 200))).unwrap_or_default()
    };
    let status = text("status");
    output::line(format_args!(
        "{}  {}  {}",
        paint(GOOD, &status),
        inert_line(&bundle.capsule_id),
        text("bundle_id")
    ));
    if let Some(reason) = answer.get("reason").and_then(Value::as_str) {
        output::line(format_args!("  reason  {}", inert_line(cut(reason, 200))));
    }
    for asset in &bundle.assets {
        let member = |name: &str| asset.get(name).and_then(Value::as_str).unwrap_or_default();
        output::line(format_args!("  {:<15} {}", member("type"), paint(NAME, member("asset_id"))));
    }
    if let Some(score) = answer.get("gdi").and_then(|gdi| gdi.get("score")).and_then(Value::as_f64) {
        output::line(format_args!("  score   {score}"));
    }
}
