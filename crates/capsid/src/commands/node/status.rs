//! `capsid node status`.

use super::connection::{self, HubConnectionArgs};
use super::print::{self, amount, credits, list, number, raw, reputation, sheet, text};
use crate::commands::workspace;
use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_client::http::{HttpAnswer, HttpCall, HttpClient};
use capsid_client::node::encoded;
use capsid_client::{ClientConfig, NodeClient};
use capsid_engine::exchange::outgoing::{PublishCandidate, offers};
use capsid_engine::exchange::reuse::outbox;
use capsid_model::{Code, Problem, Result, Value, json};
use clap::Args;
use std::path::Path;
use std::time::Duration;

/// How long one of its calls may take: somebody waits at the terminal.
const PATIENCE: Duration = Duration::from_secs(5);

/// Show this node and how it stands with its hub.
///
/// Who the node is, whether the hub answers and is well, whether somebody owns the node, its reputation and credits, what
/// it works on, what it could work on, and what waits here to be published. Without a hub it says how to name one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node status                                of the hub that is configured
  capsid node status --hub http://127.0.0.1:4000    of this one
  capsid node status --json | jq .credit_balance    for a script

Exit status: 0 also without a hub; 1 when the hub cannot be reached or is not well.")]
pub struct NodeStatusArgs {
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// The result. What a hub did not report is null.
struct NodeStatusReport {
    /// The hub's own word on its health, or why there is none.
    health: Result<Value>,
    /// What everybody may know of the node; null where the hub does not know it.
    public: Value,
    stake: Value,
    open_tasks: Value,
    mine: Value,
}

/// Runs the command.
pub fn run(arguments: &NodeStatusArgs, folder: &Path) -> Result<u8> {
    let waiting = PendingWork::in_repository(folder);
    let settings = match arguments.hub.quick_settings(folder, PATIENCE) {
        Ok(settings) => settings,
        Err(problem) if problem.code == Code::NoHub => return without_hub(waiting, &problem),
        Err(problem) => return Err(problem),
    };
    let node = connection::node(&settings)?;
    let report = NodeStatusReport::fetch(&node, &settings);
    if output::is_json() {
        output::document(&report.json(&node, waiting));
    } else {
        report.print(&node, waiting);
    }
    Ok(u8::from(!report.is_healthy()))
}

fn without_hub(waiting: PendingWork, problem: &Problem) -> Result<u8> {
    let identity = connection::identity()?;
    if output::is_json() {
        output::document(&json!({
            "node_id": identity.node_id, "hub": null, "reachable": false, "waiting_to_publish": waiting.capsules, "waiting_to_report": waiting.reports,
            "note": problem.message, "fix": problem.fix,
        }));
        return Ok(0);
    }
    sheet(&[
        ("node", paint(NAME, &identity.node_id)),
        ("hub", paint(WARN, "none; nothing leaves this machine")),
        ("to publish", waiting.to_publish()),
        ("to report", waiting.to_report()),
    ]);
    output::talk(format_args!("  {} {}", paint(NAME, "fix:"), problem.fix.as_deref().unwrap_or_default()));
    Ok(0)
}

/// What this repository has for a hub; nothing is known where there is no repository.
#[derive(Clone, Copy, Default)]
struct PendingWork {
    /// Capsules that could be published and were not.
    capsules: Option<usize>,
    /// Reports about solutions of others that did not reach their hub.
    reports: Option<usize>,
}

impl PendingWork {
    fn in_repository(folder: &Path) -> Self {
        let Ok(workspace) = workspace(folder) else { return Self::default() };
        let fresh = |offer: &PublishCandidate| offer.eligibility.eligible && offer.published_as.is_none();
        let capsules =
            offers(&workspace).ok().map(|offers| offers.iter().filter(|offer| fresh(offer)).count());
        Self { capsules, reports: outbox::pending(&workspace).ok().map(|waiting| waiting.len()) }
    }

    fn to_publish(self) -> String {
        to_text(self.capsules, "capsule", "capsid node publish --dry-run")
    }

    fn to_report(self) -> String {
        to_text(self.reports.filter(|count| *count > 0), "report", "capsid node sync")
    }
}

fn to_text(waiting: Option<usize>, what: &str, command: &str) -> String {
    match waiting {
        None => String::new(),
        Some(0) => "nothing".to_owned(),
        Some(1) => format!("1 {what}; see {command}"),
        Some(count) => format!("{count} {what}s; see {command}"),
    }
}

impl NodeStatusReport {
    /// Asks the hub. Each answer is shown whether or not there are others.
    fn fetch(node: &NodeClient, settings: &ClientConfig) -> Self {
        let mut report = Self {
            health: open_page(settings, "/health").map(|answer| answer.body),
            public: Value::Null,
            stake: Value::Null,
            open_tasks: Value::Null,
            mine: Value::Null,
        };
        if report.health.is_err() {
            return report;
        }
        let page = open_page(settings, &format!("/a2a/nodes/{}", encoded(node.id())));
        report.public = page.ok().filter(HttpAnswer::ok).map(|answer| answer.body).unwrap_or_default();
        if report.is_known() {
            report.stake = node.validator_status().unwrap_or_default();
            report.open_tasks = node.task_list(20).unwrap_or_default();
            report.mine = node.task_my(50).unwrap_or_default();
        }
        report
    }

    fn is_known(&self) -> bool {
        !self.public.is_null()
    }

    fn is_healthy(&self) -> bool {
        self.health.as_ref().is_ok_and(|health| raw(health, "status") == "ok")
    }

    /// Tasks that the node took and has not finished.
    fn under_way(&self) -> usize {
        list(&self.mine, "tasks").iter().filter(|task| raw(task, "status") == "claimed").count()
    }

    fn json(&self, node: &NodeClient, waiting: PendingWork) -> Value {
        let (health, problem) = match &self.health {
            Ok(health) => (health.clone(), None),
            Err(problem) => {
                (Value::Null, Some(json!({"code": problem.code.as_str(), "message": problem.message})))
            }
        };
        let profile = self.public.get("capability_profile").cloned().unwrap_or_default();
        json!({
            "node_id": node.id(),
            "hub": node.hub_url(),
            "reachable": self.health.is_ok(),
            "problem": problem,
            "health": health,
            "registered": self.is_known(),
            "claimed": self.public.get("claimed"),
            "reputation": self.public.get("reputation_score"),
            "level": profile.get("level"),
            "credit_balance": self.stake.get("credit_balance"),
            "granted_balance": self.stake.get("granted_balance"),
            "earned_balance": self.stake.get("earned_balance"),
            "stake": self.stake.get("stake"),
            "open_tasks": self.open_tasks.get("total"),
            "tasks_under_way": self.under_way(),
            "waiting_to_publish": waiting.capsules,
            "waiting_to_report": waiting.reports,
        })
    }

    fn print(&self, node: &NodeClient, waiting: PendingWork) {
        let mut rows = vec![("node", paint(NAME, node.id())), ("hub", self.hub(node))];
        match &self.health {
            Ok(_) if self.is_known() => rows.extend(self.known()),
            Ok(_) => rows.push(("registered", paint(WARN, "no"))),
            Err(_) => {}
        }
        rows.extend([("to publish", waiting.to_publish()), ("to report", waiting.to_report())]);
        sheet(&rows);
        match &self.health {
            Err(problem) => output::caution("hub", problem),
            Ok(_) if !self.is_known() => {
                print::next(format_args!("capsid node hello --hub {}", node.hub_url()));
            }
            Ok(_) => {}
        }
    }

    fn hub(&self, node: &NodeClient) -> String {
        let url = node.hub_url();
        match &self.health {
            Ok(health) if self.is_healthy() => {
                format!("{url} {}", paint(GOOD, format_args!("is well, version {}", text(health, "version"))))
            }
            Ok(health) => {
                format!("{url} {}", paint(BAD, format_args!("says that it is {}", text(health, "status"))))
            }
            Err(_) => format!("{url} {}", paint(BAD, "cannot be used now")),
        }
    }

    /// What the hub reports about a node that it knows.
    fn known(&self) -> Vec<(&'static str, String)> {
        let public = &self.public;
        let claimed = public.get("claimed") == Some(&json!(true));
        let profile = public.get("capability_profile").cloned().unwrap_or_default();
        let stake = self.stake.get("stake").cloned().unwrap_or_default();
        let staked = number(&stake, "amount").filter(|amount| *amount > 0.0);
        let published = |name: &str| number(public, name).map_or_else(|| "0".to_owned(), amount);
        let owner = if claimed {
            "claimed by an account".to_owned()
        } else {
            format!("nobody yet; {} shows where to claim it", paint(NAME, "capsid node hello"))
        };
        vec![
            ("name", text(public, "alias")),
            ("owner", owner),
            ("reputation", reputation(number(public, "reputation_score"))),
            ("level", print::word(&profile, "level")),
            ("credits", print::balance(&self.stake)),
            (
                "stake",
                staked
                    .map_or_else(|| "none".to_owned(), |staked| format!("{}; a validator", credits(staked))),
            ),
            (
                "published",
                format!("{}, {} promoted", published("total_published"), published("total_promoted")),
            ),
            ("tasks", self.tasks()),
        ]
    }

    fn tasks(&self) -> String {
        let open = number(&self.open_tasks, "total").unwrap_or_default();
        let detail = if open > 0.0 { paint(DIM, "; see capsid node tasks") } else { String::new() };
        format!("{} to take, {} under way{detail}", amount(open), self.under_way())
    }
}

/// What the hub shows everybody. No secret is shown for it, and a node that the hub does not know is not registered by it.
fn open_page(settings: &ClientConfig, path: &str) -> Result<HttpAnswer> {
    HttpClient::new(settings)?.call(HttpCall {
        method: "GET",
        path,
        body: None,
        bearer: None,
        secret_version: None,
    })
}
