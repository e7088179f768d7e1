//! Every page with its test. Pages run beside each other, each in a home of its own.

use super::{all_pages, generated, read, runner};

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        /// The pages whose commands are run.
        const RUN: &[&str] = &[$($path),*];
        $(#[test] fn $name() { runner::run($path); })*
    };
}

pages! {
    the_readme: "README.md",
    start_first_minute: "docs/start/first-minute.md",
    start_tour: "docs/start/tour.md",
    start_prove_it: "docs/start/prove-it.md",
    start_team_hub: "docs/start/team-hub.md",
    how_to_back_up: "docs/how-to/back-up.md",
    how_to_earn_and_pay: "docs/how-to/earn-and-pay.md",
    how_to_export_traces: "docs/how-to/export-traces.md",
    how_to_install: "docs/how-to/install.md",
    how_to_join_a_hub: "docs/how-to/join-a-hub.md",
    how_to_manage_keys: "docs/how-to/manage-keys.md",
    how_to_run_a_hub: "docs/how-to/run-a-hub.md",
    how_to_scale_a_hub: "docs/how-to/scale-a-hub.md",
    how_to_set_up_an_agent: "docs/how-to/set-up-an-agent.md",
    how_to_troubleshoot: "docs/how-to/troubleshoot.md",
    how_to_use_the_signing_service: "docs/how-to/use-the-signing-service.md",
    how_to_use_the_web_pages: "docs/how-to/use-the-web-pages.md",
    how_to_verify_without_capsid: "docs/how-to/verify-without-capsid.md",
    how_to_write_a_gene: "docs/how-to/write-a-gene.md",
    reference_files: "docs/reference/files.md",
    reference_signals: "docs/reference/signals.md",
    reference_wire_format: "docs/reference/wire-format.md",
    explanation_architecture: "docs/explanation/architecture.md",
    explanation_how_a_hub_judges: "docs/explanation/how-a-hub-judges.md",
    explanation_how_capsid_decides: "docs/explanation/how-capsid-decides.md",
    explanation_qp_capsule: "docs/explanation/qp-capsule.md",
    explanation_search_and_graph: "docs/explanation/search-and-graph.md",
    explanation_trust: "docs/explanation/trust.md",
    explanation_what_a_chain_proves: "docs/explanation/what-a-chain-proves.md",
}

/// Pages whose content another test compares: the index with the files, the story of three packages, the sample.
const OTHERS: [&str; 3] = ["docs/SUMMARY.md", "docs/explanation/repair-twice.md", "docs/sample/README.md"];

#[test]
fn every_page_is_run_or_generated() {
    let known = |page: &str| RUN.contains(&page) || generated::is_generated(page) || OTHERS.contains(&page);
    let unknown: Vec<String> = all_pages().into_iter().filter(|page| !known(page)).collect();
    assert!(unknown.is_empty(), "add a test of {unknown:?} to crates/capsid/tests/docs/pages.rs");
}

/// What is typed is in a `console` block, so that it is run. At most twelve blocks are for other programs and machines.
#[test]
fn commands_stand_in_blocks_that_are_run() {
    let mut not_run = 0;
    for page in RUN {
        for block in super::page::blocks(&read(page)) {
            not_run += u32::from(block.is_not_run());
            let is_run = block.is_console() || block.is_not_run();
            let names_a_command = |rest: &str| rest.starts_with(|sign: char| sign.is_ascii_lowercase());
            let typed = |line: &String| {
                line.starts_with("$ ") || line.strip_prefix("capsid ").is_some_and(names_a_command)
            };
            let stray = block.lines.iter().find(|line| typed(line));
            assert!(is_run || stray.is_none(), "{page}: mark the block of `{}` as `console`", stray.unwrap());
        }
    }
    assert!(not_run <= 12, "{not_run} blocks are marked `console no_run`");
}

/// A build and its tests begin with these two, whatever else changes.
#[test]
fn the_readme_begins_with_the_two_commands_of_the_project() {
    let first = super::page::blocks(&read("README.md")).swap_remove(0);
    let commands: Vec<&str> = first.lines.iter().map(|line| line.split('#').next().unwrap().trim()).collect();
    assert_eq!(commands, ["make up", "make test"]);
}
