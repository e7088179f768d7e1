//! Manual pages, completions, and the removal of the program.

use super::{program, run};
use capsid_testkit::program::{ProgramOutput, TestProgram, assert_status};
use capsid_testkit::transcript;

#[test]
fn every_command_has_a_manual_page() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    assert_status(0, &run(&program, folder.path(), &["man", "pages"]));
    let pages: Vec<_> = std::fs::read_dir(folder.path().join("pages")).unwrap().flatten().collect();
    assert!(pages.len() >= 80, "{}", pages.len());
    let page = std::fs::read_to_string(folder.path().join("pages/capsid-node-publish.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("dry\\-run"), "{page}");
    assert!(!folder.path().join("pages/capsid-merge-file.1").exists(), "hidden commands have none");
}

#[test]
fn a_shell_completes_commands_options_and_ids_by_asking_the_program() {
    let desk = capsid_testkit::program_repo::ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    let ask = |words: &[&str]| {
        let mut line = vec!["--", "capsid"];
        line.extend(words);
        let mut command = desk.program.command(desk.repo.path(), &line);
        let index = words.len().to_string();
        command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
        ProgramOutput::from_output(command.output().unwrap()).stdout
    };
    assert!(ask(&["ev"]).lines().any(|word| word == "evolve"));
    assert!(ask(&["evolve", "--st"]).contains("--strategy"));
    let ids = ask(&["genes", "show", ""]);
    assert!(ids.contains("gene_repair") && ids.contains("last"), "{ids}");
    let mut command = desk.program.command(desk.repo.path(), &[]);
    let script = ProgramOutput::from_output(command.env("COMPLETE", "bash").output().unwrap()).stdout;
    assert!(script.contains("complete ") && script.len() < 5000, "{script}");
}

#[test]
fn the_program_removes_itself_with_its_hooks_and_leaves_the_data() {
    let built = program();
    let session = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";
    let sessions = built.home().join(".claude/projects/shop");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::write(sessions.join(format!("{session}.jsonl")), transcript::claude_code(session, 1)).unwrap();
    let folder = built.home().join(".local/bin");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("capsid");
    std::fs::hard_link(env!("CARGO_BIN_EXE_capsid"), &path)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_capsid"), &path).map(drop))
        .unwrap();
    let installed = TestProgram::at(&path);
    let capsid = |words: &[&str]| {
        let mut command = installed.command(built.home(), words);
        ProgramOutput::from_output(command.env("HOME", built.home()).output().unwrap())
    };
    let version = capsid(&["self", "version", "--json"]).json();
    assert_eq!(version["installed_by"], "a single file", "{version}");
    for words in [&["trail", "install", "claude-code"][..], &["trail", "seal", "--all"]] {
        assert_status(0, &capsid(words));
    }
    let refused = capsid(&["self", "uninstall"]);
    assert_eq!((refused.status, refused.code()), (2, "usage_error"), "{refused}");
    assert!(path.exists());

    let removed = capsid(&["self", "uninstall", "--yes"]);
    assert_status(0, &removed);
    assert!(!path.exists());
    let settings = std::fs::read_to_string(built.home().join(".claude/settings.json")).unwrap_or_default();
    assert!(!settings.contains("trail hook"), "{settings}");
    let chain = built.home().join(format!(".local/share/capsid/trail/chains/claude-code/{session}.db"));
    assert!(chain.exists() && removed.stdout.contains("your data"), "{removed}");

    let build = run(&built, built.home(), &["self", "uninstall", "--yes"]);
    assert_eq!((build.status, build.code()), (1, "change_refused"), "{build}");
}
