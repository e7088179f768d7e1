//! Assets of others come in staged, and none of their commands runs before the owner agreed to it.
#![cfg(unix)]

use capsid_engine::archive::{ArchiveContent, ExistingFile, GeneCommands, ManifestInput, export, open};
use capsid_engine::exchange::consent::CommandConsent;
use capsid_engine::exchange::promote::{PromoteRequest, commands_to_confirm, promote};
use capsid_engine::exchange::stage::{stage, staged};
use capsid_engine::workspace::Workspace;
use capsid_model::{Code, Object, Time, Value, json};
use capsid_testkit::store::{self, append_events, gene, stamped, write_list, write_store};
use capsid_testkit::test_repo::TestRepo;
use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::Arc;

const NOW: Time = Time(1_790_000_000_000);

fn workspace(repo: &TestRepo) -> Workspace {
    Workspace::open(repo.path(), Arc::new(NOW), Arc::new(repo.env())).unwrap()
}

/// The archive of somebody whose gene fits everything and brings its own command.
fn foreign_archive() -> (TestRepo, ArchiveContent) {
    let theirs = TestRepo::new();
    write_store(&theirs, &[gene("gene_theirs", "repair", &["log_error", "error"], &["node theirs.js"])]);
    let capsule = stamped(json!({"type": "Capsule", "schema_version": "1.6.0", "id": "capsule_theirs",
        "trigger": ["log_error"], "gene": "gene_theirs", "summary": "Theirs.", "confidence": 1.0,
        "success_streak": 9, "outcome": {"status": "success", "score": 1.0}, "diff": "",
        "blast_radius": {"files": 1, "lines": 1}, "env_fingerprint": {"platform": "linux", "arch": "x64"}}));
    write_list(&theirs, "capsules", &[capsule]);
    append_events(&theirs, &[store::event("evt_theirs", "repair", "gene_theirs", &["log_error"], true)]);
    theirs.write("memory/evolution/memory_graph.jsonl", "{\"id\":\"mge_theirs\"}\n");
    let there = workspace(&theirs);
    let out = theirs.file("store.gepx");
    let manifest =
        ManifestInput { agent_name: "eve\u{1b}[31m".to_owned(), now: NOW, ..ManifestInput::default() };
    let paths = &there.paths;
    export(&there.store, &paths.evolution, &paths.memory, &out, &manifest, ExistingFile::Keep).unwrap();
    let content = open(&out).unwrap();
    (theirs, content)
}

fn ours() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("check.js", "");
    repo.commit("Begin");
    write_store(&repo, &[gene("gene_own", "repair", &["log_error"], &["node check.js"])]);
    repo
}

fn request(id: &str, consent: CommandConsent) -> PromoteRequest {
    PromoteRequest { id: id.to_owned(), validated: false, consent }
}

fn ids(assets: &[Object]) -> Vec<&str> {
    assets.iter().map(|asset| asset["id"].as_str().unwrap()).collect()
}

#[test]
fn archive_import_makes_no_foreign_gene_selectable() {
    let (_theirs, content) = foreign_archive();
    let repo = ours();
    let workspace = workspace(&repo);
    let staging = content.stage(&workspace).unwrap();
    assert_eq!(ids(&staging.assets.accepted), ["gene_theirs", "capsule_theirs"], "{staging:?}");
    assert_eq!((staging.events_left_out, staging.memory_left_out), (1, 1));
    let capsule = &staging.assets.accepted[1];
    assert_eq!(
        (&capsule["confidence"], &capsule["a2a"]["status"]),
        (&json!(0.6), &json!("external_candidate"))
    );
    assert!(!capsule["a2a"]["source"].as_str().unwrap().contains('\u{1b}'), "{capsule:?}");

    assert_eq!(ids(&workspace.store.genes.documents().unwrap()), ["gene_own"]);
    assert!(workspace.store.capsules.documents().unwrap().is_empty());
    assert!(store::events(&repo).is_empty());
    let graph = repo.read("memory/evolution/memory_graph.jsonl");
    assert!(!graph.contains("mge_theirs"), "{graph}");
    let mode = std::fs::metadata(workspace.store.external_candidates()).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = content.stage(&workspace).unwrap();
    assert_eq!((again.assets.accepted.len(), again.assets.known), (0, 2));
}

#[test]
fn a_trusted_archive_names_each_gene_with_its_commands_and_is_merged() {
    let (_theirs, content) = foreign_archive();
    let listed = GeneCommands { id: "gene_theirs".to_owned(), commands: vec!["node theirs.js".to_owned()] };
    assert_eq!(content.gene_commands(), [listed]);
    let repo = ours();
    let workspace = workspace(&repo);
    let graph = repo.file("memory/evolution/memory_graph.jsonl");
    let report = content.merge_into(&workspace.store, Some(&graph)).unwrap();
    assert_eq!((report.genes.added, report.capsules.added, report.events.added), (1, 1, 1));
    assert_eq!(std::fs::metadata(&graph).unwrap().mode() & 0o777, 0o600);
    assert_eq!(workspace.store.genes.documents().unwrap().len(), 2);
}

#[test]
fn the_copies_in_an_archive_are_for_their_owner_alone() {
    let (theirs, _content) = foreign_archive();
    let file = std::fs::File::open(theirs.file("store.gepx")).unwrap();
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.header().mode().unwrap() & 0o177, 0, "{:?}", entry.path());
    }
}

#[test]
fn a_command_that_nobody_here_names_is_not_run_before_the_owner_agreed() {
    let repo = ours();
    repo.write("theirs.js", "");
    repo.commit("Have the file");
    let workspace = workspace(&repo);
    let theirs = gene("gene_theirs", "repair", &["log_error"], &["node theirs.js", "node check.js"]);
    stage(&workspace, &Value::from(theirs).to_string(), Some("node_a")).unwrap();
    assert_eq!(commands_to_confirm(&workspace, "gene_theirs").unwrap(), ["node theirs.js"]);
    let other = CommandConsent::Listed(vec!["node check.js".to_owned()]);
    for consent in [CommandConsent::Known, other] {
        for validated in [false, true] {
            let request = PromoteRequest { validated, ..request("gene_theirs", consent.clone()) };
            let problem = promote(&workspace, &request).unwrap_err();
            assert_eq!(problem.code, Code::ConfirmationRequired);
            assert!(problem.message.contains("`node theirs.js`"), "{problem}");
            assert!(!problem.message.contains("`node check.js`") && problem.fix.unwrap().contains("--yes"));
        }
    }
    assert_eq!(workspace.store.genes.documents().unwrap().len(), 1);
    assert_eq!(staged(&workspace).unwrap().len(), 1);
    let seen = CommandConsent::Listed(vec!["node theirs.js".to_owned()]);
    promote(&workspace, &request("gene_theirs", seen)).unwrap();
    assert_eq!(workspace.store.genes.documents().unwrap().len(), 2);
}

#[test]
fn a_command_that_the_settings_name_needs_no_further_word() {
    let repo = ours();
    repo.write("theirs.js", "");
    repo.write("capsid.toml", "[validation]\ncommands = [\"node theirs.js\"]\n");
    repo.commit("Name the command");
    let workspace = workspace(&repo);
    let theirs = gene("gene_theirs", "repair", &["log_error"], &[" node theirs.js"]);
    stage(&workspace, &Value::from(theirs).to_string(), None).unwrap();
    assert!(commands_to_confirm(&workspace, "gene_theirs").unwrap().is_empty());
    promote(&workspace, &request("gene_theirs", CommandConsent::Known)).unwrap();
}

#[test]
fn a_foreign_script_that_is_a_fifo_or_a_link_out_of_the_repository_is_not_run() {
    let repo = ours();
    let outside = tempfile::tempdir().unwrap();
    let npm = outside.path().join("npm-cli.js");
    std::fs::write(&npm, "require('fs').writeFileSync(__dirname + '/ran', '')").unwrap();
    symlink(&npm, repo.file("link.js")).unwrap();
    symlink(outside.path(), repo.file("vendor")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, repo.file("pipe.js"), rustix::fs::Mode::RUSR).unwrap();
    let workspace = workspace(&repo);
    for (id, command, reason) in [
        ("gene_link", "node link.js exec -c id", "through a link"),
        ("gene_folder", "node vendor/tool.js", "through a link"),
        ("gene_pipe", "node pipe.js", "no regular file"),
    ] {
        let theirs = gene(id, "repair", &["log_error"], &[command]);
        stage(&workspace, &Value::from(theirs).to_string(), None).unwrap();
        let problem = promote(&workspace, &request(id, CommandConsent::All)).unwrap_err();
        assert_eq!(problem.code, Code::NotValidated, "{problem}");
        assert!(problem.message.contains(reason), "{problem}");
    }
    assert!(!outside.path().join("ran").exists());
}

#[test]
fn a_gene_whose_command_starts_npm_by_its_path_never_comes_in() {
    let repo = ours();
    let workspace = workspace(&repo);
    for (n, path) in
        ["/usr/lib/node_modules/npm/bin/npm-cli.js", "../npm/npm-cli.js", "node_modules/npm/bin/npm-cli.js"]
            .iter()
            .enumerate()
    {
        let id = format!("gene_{n}");
        let theirs = gene(&id, "repair", &["log_error"], &[&format!("node {path} exec -c id")]);
        stage(&workspace, &Value::from(theirs).to_string(), None).unwrap();
        for validated in [false, true] {
            let request = PromoteRequest { validated, ..request(&id, CommandConsent::All) };
            assert_eq!(promote(&workspace, &request).unwrap_err().code, Code::CommandRefused, "{path}");
        }
    }
}
