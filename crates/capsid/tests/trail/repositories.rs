//! Several repositories with one trail, and a trail that is not where a tool would look for it.

use super::*;
use capsid_model::json;
use capsid_testkit::transcript;
use std::path::{Path, PathBuf};
use std::process::Command;

const IN_SHOP: &str = "aaaa1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";
const IN_BANK: &str = "bbbb1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";
const IN_PART: &str = "cccc1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";
const IN_NONE: &str = "dddd1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";

/// Writes a transcript of a session that worked in `folder`.
fn worked_in(desk: &TrailUser, session: &str, folder: &Path) {
    let path = desk.transcript(session, 1);
    let text = transcript::claude_code(session, 1);
    std::fs::write(path, text.replace("/home/ada/shop\"", &format!("{}\"", folder.display()))).unwrap();
}

/// A user with two repositories, one inside the other, a third one, and a session that was in none.
fn two_repositories() -> (TrailUser, PathBuf, PathBuf) {
    let desk = desk();
    let folder = |name: &str| desk.home().canonicalize().unwrap().join(name);
    let (shop, bank) = (folder("shop"), folder("bank"));
    for root in [&shop, &bank, &shop.join("vendor/part")] {
        std::fs::create_dir_all(root.join(".git")).unwrap();
    }
    std::fs::create_dir_all(shop.join("src")).unwrap();
    worked_in(&desk, IN_SHOP, &shop.join("src/gone"));
    worked_in(&desk, IN_BANK, &bank);
    worked_in(&desk, IN_PART, &shop.join("vendor/part"));
    worked_in(&desk, IN_NONE, Path::new(""));
    desk.expect(0, &["trail", "seal", "--all", "--finalize"]);
    (desk, shop, bank)
}

fn run_in(desk: &TrailUser, folder: &Path, status: i32, args: &[&str]) -> ProgramOutput {
    let ran = ProgramOutput::from_output(desk.program.command(folder, args).output().unwrap());
    assert_status(status, &ran);
    ran
}

fn sessions(list: &ProgramOutput) -> Vec<String> {
    let list = list.json();
    let chains = list["chains"].as_array().unwrap();
    chains.iter().map(|chain| chain["session"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn trail_list_shows_the_chains_of_the_current_repository_unless_all_are_asked_for() {
    let (desk, shop, bank) = two_repositories();
    for (folder, listed) in [
        (shop.join("src"), vec![IN_SHOP]),
        (shop.join("vendor/part"), vec![IN_PART]),
        (bank, vec![IN_BANK]),
        (desk.home().to_owned(), vec![IN_SHOP, IN_BANK, IN_PART, IN_NONE]),
    ] {
        assert_eq!(sessions(&run_in(&desk, &folder, 0, &["trail", "list", "--json"])), listed);
    }
    let here = run_in(&desk, &shop, 0, &["trail", "list"]);
    let note = "chains left out: 2 of other repositories, 1 that name no folder; `--all` takes them all";
    assert!(here.stderr.contains(note), "{here}");
    let all = run_in(&desk, &shop, 0, &["trail", "list", "--all", "--json"]);
    assert_eq!((sessions(&all).len(), all.stderr.as_str()), (4, ""));
    let elsewhere = run_in(&desk, desk.home(), 0, &["-C", "bank", "trail", "list", "--json"]);
    assert_eq!(sessions(&elsewhere), [IN_BANK], "a repository that is named counts as the current one");
    assert_eq!(elsewhere.json()["left_out"], 3);
}

#[test]
fn trail_export_in_one_project_exports_that_repository_alone() {
    let (desk, shop, _) = two_repositories();
    let ran = run_in(&desk, &shop, 0, &["trail", "export", "--out", "../part", "--html", "../part.html"]);
    assert!(ran.stderr.contains("chains left out: 2 of other"), "{ran}");
    let files = |name: &str| {
        let entries = std::fs::read_dir(desk.home().join(name)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "heads.json");
        names.sort();
        names
    };
    assert_eq!(files("part"), [format!("claude-code-{IN_SHOP}.json"), "index.json".to_owned()]);
    let page = std::fs::read_to_string(desk.home().join("part.html")).unwrap();
    for other in [IN_BANK, IN_PART, IN_NONE] {
        assert!(!page.contains(other), "the page names {other}");
    }
    desk.expect(0, &["trail", "verify", "--signatures", "part"]);

    run_in(&desk, &shop, 0, &["trail", "export", "--out", "../whole", "--all"]);
    assert_eq!(files("whole").len(), 6, "four chains, the meta-chain and the index");
    run_in(&desk, &shop, 0, &["trail", "export", "--out", "../named", IN_BANK]);
    assert_eq!(files("named"), [format!("claude-code-{IN_BANK}.json"), "index.json".to_owned()]);
    run_in(&desk, &shop, 2, &["trail", "export", "--out", "../both", "--all", IN_BANK]);
}

#[test]
fn install_writes_the_home_that_it_promises_into_the_hook() {
    let desk = desk();
    let (one, other) = (desk.home().join("my trail"), desk.home().join("data/trail"));
    for (variable, value, home) in
        [("AGENT_CAPSULE_HOME", &one, &one), ("CAPSID_HOME", &desk.home().join("data"), &other)]
    {
        let mut install = desk.program.command(desk.home(), &["trail", "install", "claude-code"]);
        let installed = ProgramOutput::from_output(install.env(variable, value).output().unwrap());
        assert_status(0, &installed);
        assert!(installed.stderr.contains(&format!("Chains go to {}.", home.display())), "{installed}");
        seal_by_hook(&desk);
        assert!(home.join(format!("chains/claude-code/{SESSION}.db")).is_file(), "{variable}");
    }
    assert!(!desk.trail().exists(), "nothing is sealed where the variables do not point");
    // Without a variable the tool finds the same home, so the command stays short.
    desk.expect(0, &["trail", "install", "claude-code"]);
    assert!(!hook_command(&desk).contains("--home"));
    seal_by_hook(&desk);
    assert!(desk.chain(SESSION).is_file());
    let named = desk.home().join("named");
    desk.expect(0, &["trail", "--home", "named", "install", "claude-code"]);
    seal_by_hook(&desk);
    assert!(named.join(format!("chains/claude-code/{SESSION}.db")).is_file());
}

#[test]
fn a_database_for_all_sessions_is_promised_on_one_condition() {
    let desk = desk();
    let mut install = desk.program.command(desk.home(), &["trail", "install", "claude-code"]);
    let installed =
        ProgramOutput::from_output(install.env("AGENT_CAPSULE_DB", "/data/all.db").output().unwrap());
    let condition = "Chains go to /data/all.db if AGENT_CAPSULE_DB is also set where claude-code runs.";
    assert!(installed.stderr.contains(condition), "{installed}");
    assert!(!hook_command(&desk).contains("--home"));
}

/// The command of the hook in Claude Code's settings.
fn hook_command(desk: &TrailUser) -> String {
    let settings = std::fs::read_to_string(desk.home().join(".claude/settings.json")).unwrap();
    let settings: capsid_model::Value = settings.parse().unwrap();
    settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// Runs the hook through a shell as Claude Code does, without the variables of whoever installed it.
fn seal_by_hook(desk: &TrailUser) {
    let path = desk.transcript(SESSION, 1);
    let payload = json!({"session_id": SESSION, "transcript_path": path, "hook_event_name": "Stop"});
    std::fs::write(desk.home().join("payload"), payload.to_string()).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{} < payload", hook_command(desk))]);
    shell.current_dir(desk.home()).env_clear().env("HOME", desk.home());
    assert_status(0, &ProgramOutput::from_output(shell.output().unwrap()));
}
