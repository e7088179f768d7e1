//! `capsid demo --network`: what one agent found out helps another one, over a hub. Each of the four nodes has a home of
//! its own and runs this program as its owner would.

use super::hub::DemoHub;
use super::market;
use super::node::DemoNode;
use super::stage::{Pace, Stage};
use super::{scenes, scratch_folder};
use crate::output::{self, GOOD, HEAD, NAME, paint};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result, Value};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long the story's own hub has to promote what was reproduced; it looks every second.
const OWN_PATIENCE: Duration = Duration::from_secs(60);
/// How long any other has; by its defaults a hub looks once a minute.
const OTHER_PATIENCE: Duration = Duration::from_secs(240);
/// How long the hub is left alone between two questions.
const INTERVAL: Duration = Duration::from_secs(1);
/// The steps of the story.
const STEPS: usize = 8;

/// Runs the story, on a hub of its own or on one that runs already.
pub(super) fn run(folder: Option<PathBuf>, hub: Option<&str>, pace: Pace) -> Result<u8> {
    needs_node()?;
    let folder = scratch_folder(folder)?;
    let own = if hub.is_none() { Some(DemoHub::start(&folder.join("hub"))?) } else { None };
    let url = own.as_ref().map(|hub| hub.url.as_str()).or(hub).unwrap_or_default();
    let stage = Rc::new(Stage::new(&folder, STEPS, pace)?);
    stage.begin_step(
        "Four nodes and a hub",
        "Each node has a home and a repository of its own, as on four machines.",
    )?;
    let how_long = if own.is_some() { " as long as the story does" } else { "" };
    stage.line(format_args!("  The hub runs at {}{how_long}.", paint(NAME, url)));
    stage.line("  shop        asks a service for prices; its owner wrote a gene for timeouts");
    stage.line("  mailer      writes letters; its owner wrote two genes");
    stage.line("  validator   runs what others publish, in a sandbox");
    stage.line("  invoices    other code that asks the same service");
    let node = |name| DemoNode::new(&folder, name, url, &stage);
    let (shop, mailer) = (node("shop")?, node("mailer")?);
    let (validator, invoices) = (node("validator")?, node("invoices")?);
    refuse_known_story(&validator, url)?;
    shop.project(&[("shop.js", scenes::SHOP), ("shop.test.js", scenes::SHOP_TEST)], scenes::SHOP_CHECK)?;
    shop.write("assets/gep/genes.jsonl", &format!("{}\n", scenes::GENE))?;
    shop.commit("A first version")?;
    find_out(&shop)?;
    find_out_more(&mailer)?;
    publish(&[&shop, &mailer])?;
    let patience = if own.is_some() { OWN_PATIENCE } else { OTHER_PATIENCE };
    let asset = reproduce(&validator, patience)?;
    reuse(&invoices)?;
    print_known_assets(&shop, &validator, &invoices, &asset)?;
    market::run_market_story(url, &shop, &invoices, &validator, &asset)?;
    print_summary(&stage, &folder);
    Ok(0)
}

/// On a hub that heard the story before, shop would find its own solution there and have nothing to publish.
fn refuse_known_story(node: &DemoNode, url: &str) -> Result<()> {
    if promoted(node, "TimeoutError")?.is_none() {
        return Ok(());
    }
    let message = format!("The hub at `{url}` knows a solution of the story's first problem already.");
    Err(Problem::new(Code::ChangeRefused, message)
        .fix("Tell the story on a fresh hub: `capsid demo --network` starts one, and `capsid up --data DIR` another."))
}

fn find_out(shop: &DemoNode) -> Result<()> {
    shop.stage.begin_step(
        "shop: a call runs out of time, and an agent finds the answer",
        "A change counts only if a command that failed before it passes with it.",
    )?;
    shop.log(scenes::SHOP_CHECK)?;
    shop.evolve(scenes::FIX)?;
    shop.stage
        .line("A merge brings the bug back, and no agent is needed: the stored solution is tried first.");
    for _ in 0..2 {
        shop.write("shop.js", scenes::SHOP)?;
        for made in ["retry.js", "retry.test.js"] {
            files::remove(&shop.repo.join(made))?;
        }
        shop.log_unseen(scenes::SHOP_CHECK)?;
        // This agent would only fail: the stored solution is tried before it is called.
        shop.evolve(scenes::NOT_NEEDED)?;
    }
    Ok(())
}

fn find_out_more(mailer: &DemoNode) -> Result<()> {
    mailer.stage.begin_step(
        "mailer: two other problems, and one of them comes back",
        "What is proven only once stays at home; what is proven twice in a row may be shared.",
    )?;
    let files = [("mailer.js", scenes::MAILER), ("mailer.test.js", scenes::MAILER_TEST)];
    mailer.project(&files, "node --test")?;
    mailer.write("assets/gep/genes.jsonl", scenes::MAILER_GENES)?;
    mailer.commit("A first version")?;
    mailer.log(scenes::MAILER_CHECK)?;
    mailer.evolve(scenes::CHECK_SHAPE)?;
    mailer.write("dates.js", scenes::DATES)?;
    mailer.write("dates.test.js", scenes::DATES_TEST)?;
    mailer.log_unseen(scenes::DATES_CHECK)?;
    mailer.evolve(scenes::CHECK_DATE)?;
    mailer.write("mailer.js", scenes::MAILER)?;
    for made in ["shape.js", "shape.test.js"] {
        files::remove(&mailer.repo.join(made))?;
    }
    mailer.log_unseen(scenes::MAILER_CHECK)?;
    mailer.evolve(scenes::NOT_NEEDED)
}

fn publish(nodes: &[&DemoNode]) -> Result<()> {
    nodes[0].stage.begin_step(
        "shop and mailer publish",
        "Secrets, names and paths are redacted first; the hub takes each solution as a candidate.",
    )?;
    for node in nodes {
        node.capsid_unseen(&["node", "hello"])?;
        node.capsid(&["node", "publish", "--all-eligible"], &["Capsule "])?;
    }
    Ok(())
}

/// Runs what was published until the hub promoted all that is proven; gives the id of the first solution.
fn reproduce(validator: &DemoNode, patience: Duration) -> Result<String> {
    let stage = &validator.stage;
    stage.begin_step(
        "validator: somebody else runs it",
        "The publisher's word is not enough: another owner runs the test, in a sandbox.",
    )?;
    validator.capsid_unseen(&["node", "hello"])?;
    let (start, mut passed) = (Instant::now(), 0);
    let mut progress = output::progress::ProgressLine::new("waiting for");
    let stake = ["node", "validator", "--once", "--stake", "100", "--json"];
    while start.elapsed() < patience {
        // The hub hands assignments out when it looks at its candidates.
        let printed = validator.quietly(&stake)?;
        stage.record(printed.as_bytes());
        for _ in printed.matches("\"overall_ok\":true") {
            passed += 1;
            stage.line("  it runs a gene's test on the files of the solution: it passes here too");
        }
        if let (Some(first), Some(_)) =
            (promoted(validator, "TimeoutError")?, promoted(validator, "TypeError")?)
        {
            drop(progress);
            stage.line(format_args!("  {} the hub gives {first} to everybody now", paint(GOOD, "promoted:")));
            return Ok(first);
        }
        progress.update_elapsed("the hub's promotion", start.elapsed());
        std::thread::sleep(INTERVAL);
    }
    Err(not_promoted(passed, patience))
}

fn not_promoted(passed: usize, patience: Duration) -> Problem {
    let seconds = patience.as_secs();
    let what = match passed {
        0 => format!("The hub gave the validator nothing to run within {seconds} s"),
        count => format!(
            "The hub promoted nothing within {seconds} s, although {count} of its tests were reproduced"
        ),
    };
    Problem::new(Code::HubRefused, format!("{what}, so the story stops here."))
        .fix("Look at `[promotion]` in the settings of the hub: how often it looks at candidates and what it asks of them; or run `capsid demo --network` without `--hub`.")
}

/// The promoted capsule that answers a signal.
fn promoted(node: &DemoNode, signal: &str) -> Result<Option<String>> {
    let printed = node.quietly(&["node", "search", signal, "--json"])?;
    let response: Value = serde_json::from_str(&printed).unwrap_or_default();
    let rows = response.get("results").and_then(Value::as_array).cloned().unwrap_or_default();
    let capsule = rows.iter().find(|row| row.get("type").and_then(Value::as_str) == Some("Capsule"));
    Ok(capsule.and_then(|row| row.get("asset_id")).and_then(Value::as_str).map(str::to_owned))
}

fn reuse(invoices: &DemoNode) -> Result<()> {
    invoices.stage.begin_step(
        "invoices: the same problem, in other code",
        "A cycle asks the hub first; what it knows goes into the agent's prompt.",
    )?;
    let files = [("invoices.js", scenes::INVOICES), ("invoices.test.js", scenes::INVOICES_TEST)];
    invoices.project(&files, scenes::INVOICES_CHECK)?;
    invoices.commit("A first version")?;
    invoices.log(scenes::INVOICES_CHECK)?;
    invoices.evolve(scenes::APPLY)?;
    invoices.stage.line("The agent used the solution, and the check of invoices proves that it works here.");
    Ok(())
}

fn print_known_assets(shop: &DemoNode, validator: &DemoNode, invoices: &DemoNode, asset: &str) -> Result<()> {
    shop.stage.begin_step(
        "What everybody can see now",
        "Every id is the hash of what was published, and every event is sealed.",
    )?;
    shop.capsid(&["node", "status"], &["credits", "reputation"])?;
    validator.capsid_unseen(&["node", "status"])?;
    invoices.capsid_unseen(&["node", "search", "TimeoutError"])?;
    for node in [shop, invoices] {
        node.capsid_unseen(&["events", "verify"])?;
    }
    shop.stage.line(format_args!("  The solution is {}.", paint(NAME, asset)));
    shop.stage.line("  The events of shop and invoices verify against their seals.");
    Ok(())
}

fn print_summary(stage: &Stage, folder: &std::path::Path) {
    output::line(format_args!("\n{}", paint(HEAD, "What you saw")));
    output::line(
        "  A problem was solved once, proven by a command, and solved without an agent when it came back.",
    );
    output::line(
        "  Another owner reproduced the solution, so the hub promoted it; and nobody copied a file.",
    );
    output::line("  A third one reused it in other code, and its publisher was paid.");
    output::line(format_args!(
        "  Everything is in {}; {} has every word.",
        paint(NAME, folder.display()),
        paint(NAME, stage.log_path.display())
    ));
}

fn needs_node() -> Result<()> {
    let has_node = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("node").is_file()));
    if has_node {
        return Ok(());
    }
    Err(Problem::new(
        Code::ProgramNotFound,
        "The story's projects are written for Node, which is not on the PATH.",
    )
    .fix("Install Node, or watch `capsid demo`, which needs nothing."))
}
