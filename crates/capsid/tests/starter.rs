//! The starter pack: its sources, its archive, and an empty hub that loads it.
#![cfg(unix)]

use crate::common::program;
use capsid_hub::runtime::starter::pack::{self, StarterEntry};
use capsid_model::asset::asset_id;
use capsid_model::{Object, Value, json};
use capsid_testkit::hub::{TestHubLocation, ask_as};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::rounds::{is_soak, rounds};
use capsid_testkit::test_repo::TestRepo;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How many entries the pack has.
const ENTRIES: usize = 24;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn folder(name: &str) -> PathBuf {
    root().join("packs/starter").join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder by their path below it.
fn files_below(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(
                files_below(&entry.path()).into_iter().map(|(path, text)| (format!("{name}/{path}"), text)),
            ),
            false => drop(files.insert(name, read(&entry.path()))),
        }
    }
    files
}

/// The lines that a diff adds and removes.
fn changed_lines(diff: &str) -> Vec<&str> {
    let is_change =
        |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
    diff.lines().filter(is_change).collect()
}

fn archive_line(entry: &StarterEntry) -> Value {
    entry.line.parse().unwrap()
}

#[test]
fn every_entry_of_the_archive_is_its_folder_and_its_ids_hold() {
    let mut names: Vec<String> = files_below(&root().join("packs/starter"))
        .keys()
        .map(|path| path.split('/').next().unwrap().to_owned())
        .collect();
    names.dedup();
    let entries = pack::entries().unwrap();
    assert_eq!(entries.len(), ENTRIES);
    assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), names);
    for entry in entries {
        let (name, folder) = (&entry.name, folder(&entry.name));
        let line = archive_line(entry);
        for asset in line["assets"].as_array().unwrap() {
            let object: Object = asset.as_object().cloned().unwrap();
            assert_eq!(asset["asset_id"], asset_id(&object), "{name}");
        }
        let (gene, capsule) = (&line["assets"][0], &line["assets"][1]);
        let source: Value = read(&folder.join("gene.json")).parse().unwrap();
        for member in ["id", "category", "signals_match", "summary", "strategy", "validation"] {
            assert_eq!(gene[member], source[member], "{name}: {member}");
        }
        assert_eq!(capsule["gene"], gene["asset_id"], "{name}");
        let sent = capsule["reproduction"]["files"].as_array().unwrap().iter();
        let text = |file: &Value, member: &str| file[member].as_str().unwrap().to_owned();
        let sent: BTreeMap<_, _> = sent.map(|file| (text(file, "path"), text(file, "text"))).collect();
        let broken = files_below(&folder.join("broken"));
        assert_eq!(sent, broken, "{name}");
        assert!(broken.values().map(|text| text.lines().count()).sum::<usize>() <= 40, "{name}");
        let patch = read(&folder.join("fix.patch"));
        assert!(patch.lines().count() <= 20, "{name}");
        assert_eq!(changed_lines(capsule["diff"].as_str().unwrap()), changed_lines(&patch), "{name}");
        assert_eq!(
            read(&folder.join("when-not-to-use.md")),
            format!("{}\n", entry.when_not_to_use),
            "{name}"
        );
        assert!(read(&folder.join("log.txt")).len() > 20, "{name}");
        assert_eq!(line["validation_report"]["overall_ok"], true, "{name}");
        assert_eq!((&gene["labels"], &capsule["labels"]), (&json!(["starter"]), &json!(["starter"])));
    }
}

/// The pack is made by the program itself: two cycles for each entry. A soak makes all of it again.
#[test]
fn the_program_makes_an_entry_in_two_cycles() {
    let scratch = tempfile::tempdir().unwrap();
    let made = scratch.path().join("starter.jsonl");
    let (mut names, mut missing): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for entry in pack::entries().unwrap() {
        let is_here =
            |program: &String| Command::new("which").arg(program).output().unwrap().status.success();
        let list = if entry.programs.iter().all(is_here) { &mut names } else { &mut missing };
        list.push(&entry.name);
    }
    names.retain(|name| is_soak() || *name == "shell-unbound-variable");
    names.truncate(rounds(1, ENTRIES));
    println!("not made, because a program is missing: {missing:?}");
    let mut command = Command::new(root().join("scripts/pack-starter"));
    command.arg(env!("CARGO_BIN_EXE_capsid")).arg("--out").arg(&made).args(&names);
    let ran = ProgramOutput::from_output(command.output().unwrap());
    assert_status(0, &ran);
    let lines: Vec<Value> = read(&made).lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(lines.len(), names.len());
    for line in lines {
        let capsule = &line["assets"][1];
        assert!(capsule["success_streak"].as_u64() >= Some(2), "{capsule}");
        assert_eq!(line["validation_report"]["overall_ok"], true);
    }
}

/// `capsid up` on an empty hub, until it says what to do first.
struct NewHub {
    child: Child,
    address: String,
    /// The key of the welcome link.
    key: String,
    place: TestHubLocation,
    program: TestProgram,
    _folder: tempfile::TempDir,
}

impl NewHub {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = TestHubLocation { data: folder.path().join("hub"), database: None };
        let program = program();
        let words = [&["up", "--listen", "127.0.0.1:0"], &place.arguments()[..]].concat();
        let mut child = with_tools(&mut program.command(Path::new("/"), &words)).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let link = said.find_map(|line| Some(line.strip_prefix("first time: ")?.to_owned())).unwrap();
        let (address, key) = link.strip_prefix("http://").unwrap().split_once("/welcome#k=").unwrap();
        let empty = said.find(|line| line.starts_with("empty: ")).unwrap();
        assert_eq!(
            empty,
            "empty: capsid hub load starter adds 24 solutions; each is tested on this machine before it is promoted"
        );
        // Whoever does not read on must not stop the hub.
        std::thread::spawn(move || said.for_each(drop));
        Self { child, address: address.to_owned(), key: key.to_owned(), place, program, _folder: folder }
    }

    #[track_caller]
    fn call(&self, status: u16, bearer: &str, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { None } else { Some(body.to_string()) };
        let (answered, text) = ask_as(&self.address, bearer, method, path, body.as_deref()).unwrap();
        assert_eq!(answered, status, "{method} {path}: {text}");
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    /// Runs `capsid hub load starter` beside the hub.
    fn load_pack(&self, more: &[&str]) -> ProgramOutput {
        let words = [&["hub", "load", "starter"], more, &self.place.arguments()].concat();
        let mut command = self.program.command(Path::new("/"), &words);
        ProgramOutput::from_output(with_tools(&mut command).output().unwrap())
    }
}

impl Drop for NewHub {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The tools of the system alone, so that a run is quick; a soak has all that this machine has.
fn with_tools(command: &mut Command) -> &mut Command {
    let home = std::env::home_dir().unwrap_or_default();
    let set =
        |name: &str, usual: &str| std::env::var_os(name).map_or_else(|| home.join(usual), PathBuf::from);
    let (cargo, rustup) = (set("CARGO_HOME", ".cargo"), set("RUSTUP_HOME", ".rustup"));
    let mut path = "/usr/bin:/bin".to_owned();
    if is_soak() {
        path =
            format!("{path}:{}:{}", cargo.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    }
    command.env("PATH", path).env("CARGO_HOME", cargo).env("RUSTUP_HOME", rustup)
}

/// Whether all programs of an entry run here, by what the hub says of them.
fn runs_here(pack: &Value, entry: &Value) -> bool {
    let needed = entry["programs"].as_array().unwrap();
    let programs = pack["programs"].as_array().unwrap().iter();
    programs
        .filter(|program| needed.contains(&program["name"]))
        .all(|program| program.get("problem").is_none())
}

#[test]
fn an_empty_hub_makes_its_first_admin_and_tests_the_pack_on_this_machine() {
    let hub = NewHub::start();
    let login = |key: &str| json!({"key": key, "email": "ann@example.org", "password": "correct horse"});
    assert_eq!(hub.call(410, "", "POST", "/auth/welcome", &login("0000"))["error"], "welcome_link_invalid");
    let session = hub.call(201, "", "POST", "/auth/welcome", &login(&hub.key));
    assert_eq!(session["user"]["role"], "admin");
    hub.call(410, "", "POST", "/auth/welcome", &login(&hub.key));
    let token = session["token"].as_str().unwrap();

    hub.call(401, "", "POST", "/admin/starter-pack", &Value::Null);
    let before = hub.call(200, token, "GET", "/admin/starter-pack", &Value::Null);
    assert_eq!((&before["state"], &before["total"]), (&json!("idle"), &json!(ENTRIES)));
    let begun = Instant::now();
    assert_eq!(hub.call(200, token, "POST", "/admin/starter-pack", &Value::Null)["state"], "running");
    let loaded = loop {
        let pack = hub.call(200, token, "GET", "/admin/starter-pack", &Value::Null);
        if pack["state"] != "running" {
            break pack;
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "{pack:#}");
        std::thread::sleep(Duration::from_millis(50));
    };
    println!("loaded after {:?}: {}", begun.elapsed(), loaded["programs"]);
    assert_eq!(loaded["state"], "done", "{loaded:#}");
    let entries = loaded["entries"].as_array().unwrap();
    assert_eq!(entries.len(), ENTRIES);
    let (here, elsewhere): (Vec<&Value>, Vec<&Value>) =
        entries.iter().partition(|entry| runs_here(&loaded, entry));
    assert!(here.len() >= 10, "{loaded:#}");
    for entry in &here {
        assert_eq!((&entry["status"], &entry["is_tested"]), (&json!("promoted"), &json!(true)), "{entry:#}");
    }
    for entry in &elsewhere {
        println!("did not run: {} ({})", entry["name"], entry["reason"]);
        assert_eq!((&entry["status"], &entry["is_tested"]), (&json!("candidate"), &json!(false)));
        assert!(
            entry["reason"].as_str().is_some_and(|reason| reason.contains("could not be started")),
            "{entry}"
        );
    }
    assert_eq!(loaded["promoted"], here.len());
    check_evidence(&hub, here[0]);
    check_second_load(&hub, here.len());
    check_reuse(&hub);
}

/// The report is of this machine, of a node that is not the publisher, and says that the commands fail without the change.
fn check_evidence(hub: &NewHub, entry: &Value) {
    let id = entry["asset_id"].as_str().unwrap();
    let asset = hub.call(200, "", "GET", &format!("/a2a/assets/{id}"), &Value::Null);
    assert_eq!(asset["status"], "promoted");
    let reports = hub.call(200, "", "GET", &format!("/a2a/validation-reports?asset_id={id}"), &Value::Null);
    let [report] = &reports["reports"].as_array().unwrap()[..] else { panic!("{reports:#}") };
    assert_eq!((&report["overall_ok"], &report["grade"]), (&json!(true), &json!("fetched")), "{report:#}");
    assert_eq!(report["control"], json!({"bare": false, "base": false}), "{report:#}");
    assert_eq!(
        (&report["label"], &report["validator_node_id"]),
        (&json!("unsolicited"), &json!("node_starter_check"))
    );
}

/// Loading it again leaves what is there as it is.
fn check_second_load(hub: &NewHub, promoted: usize) {
    let again = hub.load_pack(&["--json"]);
    assert_status(0, &again);
    let again = again.json();
    assert_eq!((&again["promoted"], &again["tested"]), (&json!(promoted), &json!(0)), "{again:#}");
    let refused = hub.load_pack(&["--node", "node_mine"]);
    assert_eq!((refused.status, refused.code()), (2, "usage_error"), "{refused}");
}

/// Applies what the hub's solution in its prompt changes, as a real agent would.
const AGENT: &str = "prompt=$(mktemp)\ncat > \"$prompt\"\n\
    sed -n '/^diff --git a\\/greeting/,/^DATA [0-9a-f]*>>>/p' \"$prompt\" | sed '/^DATA [0-9a-f]*>>>/d' | git apply";

/// A repository with the broken code of an entry finds its solution on the hub.
fn check_reuse(hub: &NewHub) {
    let name = "node-undefined-property";
    let repo = TestRepo::named("shop");
    for (path, text) in files_below(&folder(name).join("broken")) {
        repo.write(&path, text);
    }
    let settings = format!(
        "[validation]\ncommands = [\"node greeting.test.js\"]\n\n[cycle]\nsessions = false\n\n[hub]\nurl = \"http://{}\"\n",
        hub.address
    );
    repo.write("capsid.toml", settings);
    let desk = program();
    desk.expect(0, &repo, &["init"]);
    repo.commit("Begin");
    let log = folder(name).join("log.txt");
    let ran = desk.run(&repo, &["evolve", "--log", log.to_str().unwrap(), "--agent", "sh", "-c", AGENT]);
    assert_status(0, &ran);
    let known = "Give data that may be missing a default where it is read  same problem, from the hub";
    assert!(ran.stderr.contains(known) || ran.stdout.contains(known), "{ran}");
    assert!(ran.stdout.contains("solved by"), "{ran}");
    assert!(repo.read("greeting.js").contains("order.customer?.name ?? 'customer'"), "{ran}");
}
