//! The pages that are made from the code say what the code says.

use super::{is_update, root};
use crate::common::program;
use capsid_model::Value;
use capsid_testkit::trail_user;
use std::fmt::Write;

/// Pages that this test, or one of another crate, makes from the code as a whole.
const PAGES: [&str; 9] = [
    "chain-database",
    "cli",
    "differences",
    "errors",
    "findings",
    "mcp-tools",
    "performance",
    "redaction",
    "settings",
];

/// Whether a page is made from the code.
pub fn is_generated(page: &str) -> bool {
    let name = page.strip_prefix("docs/reference/").and_then(|name| name.strip_suffix(".md"));
    name.is_some_and(|name| PAGES.contains(&name))
}

fn compare(name: &str, expected: &str) {
    assert!(PAGES.contains(&name));
    let path = root().join("docs/reference").join(name).with_extension("md");
    if is_update() {
        std::fs::write(&path, expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/reference/{name}.md is out of date; run CAPSID_UPDATE_DOCS=1 cargo nextest run --workspace -E 'test(/^docs::/)'"
    );
}

#[test]
fn the_command_line_page_is_true() {
    compare("cli", &capsid::reference::cli_page());
}

#[test]
fn the_errors_page_is_true() {
    compare("errors", &capsid::reference::errors_page());
}

/// What the program prints in an empty folder.
fn print(args: &[&str]) -> String {
    let program = program();
    let output = program.command(program.home(), args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every setting of a hub in a profile: its name, variable and value.
fn hub_settings(profile: &str) -> Vec<(String, String, String)> {
    let program = program();
    let mut command = program.command(program.home(), &["hub", "config", "--json"]);
    let output = command.env("CAPSID_HUB_PROFILE", profile).output().unwrap();
    let config: Value = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    let settings = config["settings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    settings
        .iter()
        .map(|entry| (text(&entry["name"]), text(&entry["variable"]), text(&entry["value"])))
        .collect()
}

#[test]
fn the_settings_page_is_true() {
    let mut page = format!(
        "# Settings\n\nTwo files hold all settings. Each file may leave out any of them; the values below are the defaults.\n\n\
         ## `capsid.toml` of a repository\n\n`capsid init` writes it, `capsid init --print-config` prints it.\n\n```toml\n{}```\n\n\
         ## `hub.toml` of a hub\n\n`capsid hub config --sample` prints it, `capsid hub config --origin` shows each value and where it comes \
         from. The command line overrides variables, and they override the file. A setting that the hub does not know stops it.\n\n\
         ```toml\n{}```\n\n## Private and public hubs\n\n`server.profile` sets these defaults. You can change each of them.\n\n\
         | setting | variable | `private` | `public` |\n|---|---|---|---|\n",
        print(&["init", "--print-config"]),
        print(&["hub", "config", "--sample"])
    );
    for (private, public) in hub_settings("private").iter().zip(hub_settings("public")) {
        if private.2 != public.2 && private.0 != "server.profile" {
            writeln!(page, "| `{}` | `{}` | {} | {} |", private.0, private.1, private.2, public.2).unwrap();
        }
    }
    compare("settings", &page);
}

#[test]
fn the_mcp_page_is_true() {
    let mut page = "# MCP tools\n\nWhat `capsid mcp` offers to a coding agent. [Set up an agent](../how-to/set-up-an-agent.md) says \
                    how to connect one. `capsid mcp --compat` adds the names of `@evomap/gep-mcp-server`, such as `gep_evolve`.\n"
        .to_owned();
    for tool in capsid_mcp::catalog::tools(false) {
        let tool: Value = serde_json::to_string(&tool).unwrap().parse().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        writeln!(page, "\n## `{}`\n\n{}\n", text(&tool["name"]), text(&tool["description"])).unwrap();
        let schema = &tool["inputSchema"];
        let required: Vec<String> = schema["required"].as_array().into_iter().flatten().map(text).collect();
        writeln!(page, "| argument | type | meaning |\n|---|---|---|").unwrap();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let name: &str = name.as_ref();
            let words: Vec<String> = schema["enum"].as_array().into_iter().flatten().map(text).collect();
            let one_of =
                if words.is_empty() { String::new() } else { format!(" One of `{}`.", words.join("`, `")) };
            let needed = if required.iter().any(|each| each == name) { ", required" } else { "" };
            let (kind, meaning) = (text(&schema["type"]), text(&schema["description"]));
            writeln!(page, "| `{name}` | {kind}{needed} | {} |", format!("{meaning}{one_of}").trim())
                .unwrap();
        }
    }
    compare("mcp-tools", &page);
}

/// Made from the list that the readers' test goes by.
#[test]
fn the_differences_page_is_true() {
    let list = root().join("crates/capsid-transcript/differences.json");
    let list: Value = std::fs::read_to_string(list).unwrap().parse().unwrap();
    let mut page = "# Where records differ from `agent-capsule`\n\nFormat, hashes and chains are the same. From the same transcript \
                    Capsid makes the same records, with these exceptions on the sample transcripts of the project. A test fails on \
                    any other. Secrets are redacted first, and Capsid also seals what `agent-capsule` leaves out and the samples do \
                    not show: separate files of subagents, results without a call, errors, and records of unknown types.\n\n\
                    | tool | record | where | why |\n|---|---|---|---|\n"
        .to_owned();
    for entry in list.as_array().unwrap() {
        let cell = |name: &str| entry[name].as_str().unwrap();
        let or_whole = |name: &str, whole: &str| match cell(name) {
            "*" => whole.to_owned(),
            other => format!("`{other}`"),
        };
        let (record, place) = (or_whole("record", "every record"), or_whole("path", "the whole record"));
        writeln!(page, "| {} | {record} | {place} | {} |", cell("tool"), cell("reason")).unwrap();
    }
    compare("differences", &page);
}

#[test]
fn the_chain_database_page_is_true() {
    let user = trail_user::TrailUser::new(env!("CARGO_BIN_EXE_capsid"));
    user.transcript(trail_user::SESSION, 1);
    user.expect(0, &["trail", "seal", "--all"]);
    let database = rusqlite::Connection::open(user.chain(trail_user::SESSION)).unwrap();
    let mut statement = database
        .prepare(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name",
        )
        .unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    compare(
        "chain-database",
        &format!(
            "# Chain database\n\nThe tables of `chains/<tool>/<session>.db` and `meta.db`, SQLite 3. `capsules` is that of `agent-capsule`; the \
             others are Capsid's own. `tenant_id` is NULL in a session's own file. `canonical` is the hashed text. Records and their keys in \
             `capsid_keys` are added in one `BEGIN IMMEDIATE` transaction with the head that they follow, so a chain cannot fork and nothing is \
             sealed twice. `capsid_finalised` says which records of the meta-chain name this chain, `capsid_pending` which records wait for \
             the signing service. Columns are compared with the text and never trusted in its place.\n\n```sql\n{};\n```\n",
            tables.join(";\n\n")
        ),
    );
}

#[test]
fn the_argument_tree_is_sound() {
    use clap::CommandFactory;
    capsid::cli::Cli::command().debug_assert();
}
