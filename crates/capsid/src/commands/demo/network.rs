//! `capsid demo --network`: what one agent found out helps another one, over a hub. Each of the four nodes has a home of
//! its own and runs this program as its owner would.

use super::hub::DemoHub;
use super::market;
use super::node::DemoNode;
use super::program::story_broke;
use super::{chapter, scenes, scratch_folder};
use crate::output::{self, DIM, GOOD, NAME, paint};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result, Value};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the hub has to promote what was reproduced.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the story, on a hub of its own or on one that runs already.
pub(super) fn run(folder: Option<PathBuf>, hub: Option<&str>) -> Result<u8> {
    needs_node()?;
    let folder = scratch_folder(folder)?;
    let own = if hub.is_none() { Some(DemoHub::start(&folder.join("hub"))?) } else { None };
    let url = own.as_ref().map(|hub| hub.url.as_str()).or(hub).unwrap_or_default();
    chapter("Four nodes and a hub");
    match &own {
        Some(_) => {
            output::line(format_args!("The hub runs at {} as long as the story does.", paint(NAME, url)));
        }
        None => output::line(format_args!("The hub runs at {}.", paint(NAME, url))),
    }
    output::line("  shop        asks a service for prices; its owner wrote a gene for timeouts");
    output::line(
        "  mailer      writes letters; its owner wrote two genes, and what is proven only once stays local",
    );
    output::line("  validator   runs what others publish, in a sandbox");
    output::line("  invoices    other code that asks the same service");
    let shop = DemoNode::new(&folder, "shop", url)?;
    let mailer = DemoNode::new(&folder, "mailer", url)?;
    let validator = DemoNode::new(&folder, "validator", url)?;
    let invoices = DemoNode::new(&folder, "invoices", url)?;
    shop.project(&[("shop.js", scenes::SHOP), ("shop.test.js", scenes::SHOP_TEST)], scenes::SHOP_CHECK)?;
    shop.write("assets/gep/genes.jsonl", &format!("{}\n", scenes::GENE))?;
    shop.commit("A first version")?;
    find_out(&shop)?;
    find_out_more(&mailer)?;
    publish(&shop)?;
    publish(&mailer)?;
    let asset = reproduce(&validator)?;
    reuse(&invoices)?;
    print_known_assets(&shop, &validator, &invoices, &asset)?;
    market::run_market_story(url, &shop, &invoices, &validator, &asset)?;
    output::line("");
    output::line(format_args!("Everything is in {}", paint(NAME, folder.display())));
    Ok(0)
}

fn find_out(shop: &DemoNode) -> Result<()> {
    chapter("shop: a call runs out of time, and an agent finds the answer");
    shop.log(scenes::SHOP_CHECK)?;
    shop.evolve(scenes::FIX)?;
    for title in ["a merge brings the bug back, and no agent is needed", "the same once more"] {
        chapter(&format!("shop: {title}"));
        shop.write("shop.js", scenes::SHOP)?;
        for made in ["retry.js", "retry.test.js"] {
            files::remove(&shop.repo.join(made))?;
        }
        shop.log(scenes::SHOP_CHECK)?;
        // This agent would only fail: the stored solution is tried before it is called.
        shop.evolve(scenes::NOT_NEEDED)?;
    }
    Ok(())
}

fn find_out_more(mailer: &DemoNode) -> Result<()> {
    chapter("mailer: two other problems, and one of them comes back");
    let files = [("mailer.js", scenes::MAILER), ("mailer.test.js", scenes::MAILER_TEST)];
    mailer.project(&files, "node --test")?;
    mailer.write("assets/gep/genes.jsonl", scenes::MAILER_GENES)?;
    mailer.commit("A first version")?;
    mailer.log(scenes::MAILER_CHECK)?;
    mailer.evolve(scenes::CHECK_SHAPE)?;
    output::line(paint(DIM, "\nA second file comes with a problem of its own."));
    mailer.write("dates.js", scenes::DATES)?;
    mailer.write("dates.test.js", scenes::DATES_TEST)?;
    mailer.log(scenes::DATES_CHECK)?;
    mailer.evolve(scenes::CHECK_DATE)?;
    output::line(paint(DIM, "\nA merge brings the first problem back."));
    mailer.write("mailer.js", scenes::MAILER)?;
    for made in ["shape.js", "shape.test.js"] {
        files::remove(&mailer.repo.join(made))?;
    }
    mailer.log(scenes::MAILER_CHECK)?;
    mailer.evolve(scenes::NOT_NEEDED)
}

fn publish(node: &DemoNode) -> Result<()> {
    chapter(&format!("{}: what is proven twice in a row may be shared", node.name));
    node.capsid(&["node", "hello"])?;
    node.capsid(&["node", "publish", "--all-eligible"])
}

/// Runs what was published until the hub promoted all that is proven; gives the id of the first solution.
fn reproduce(validator: &DemoNode) -> Result<String> {
    chapter("validator: somebody else runs it");
    validator.capsid(&["node", "hello"])?;
    let start = Instant::now();
    let mut passed = 0;
    while start.elapsed() < PATIENCE {
        // The hub hands assignments out once a second.
        let printed = validator.quietly(&["node", "validator", "--once", "--stake", "100", "--json"])?;
        for _ in printed.matches("\"overall_ok\":true") {
            passed += 1;
            output::line(
                "It ran a gene's test on the files of the solution, in a sandbox: it passes here too.",
            );
        }
        if passed > 1
            && let (Some(first), Some(_)) =
                (promoted(validator, "TimeoutError")?, promoted(validator, "TypeError")?)
        {
            output::line(format_args!("{} The hub promoted {first}", paint(GOOD, "promoted:")));
            return Ok(first);
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    Err(story_broke("the hub promoted nothing"))
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
    chapter("invoices: the same problem, in other code");
    let files = [("invoices.js", scenes::INVOICES), ("invoices.test.js", scenes::INVOICES_TEST)];
    invoices.project(&files, scenes::INVOICES_CHECK)?;
    invoices.commit("A first version")?;
    invoices.log(scenes::INVOICES_CHECK)?;
    invoices.evolve(scenes::APPLY)?;
    output::line(
        "The hub knew the problem. Its solution was in the prompt, the agent used it, and the check of",
    );
    output::line("invoices proves that it works here. The hub has the result.");
    Ok(())
}

fn print_known_assets(shop: &DemoNode, validator: &DemoNode, invoices: &DemoNode, asset: &str) -> Result<()> {
    chapter("What everybody can see now");
    shop.capsid(&["node", "status"])?;
    validator.capsid(&["node", "status"])?;
    invoices.capsid(&["node", "search", "TimeoutError"])?;
    for node in [shop, invoices] {
        node.capsid(&["events", "verify"])?;
    }
    output::line("");
    output::line("A solution of one was found, checked and reused by another, and nobody copied a file.");
    output::line(format_args!("Its id, {}, is the hash of what was published.", paint(NAME, asset)));
    Ok(())
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
