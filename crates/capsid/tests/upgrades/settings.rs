//! Settings files with every setting at another value than its default.

use super::{read_json, text, versions};
use crate::common::program;
use capsid_engine::config::{Config, Reuse, SandboxPolicy};
use capsid_testkit::program::Ran;
use capsid_testkit::repo::Repo;
use std::path::{Path, PathBuf};

#[test]
fn every_setting_of_a_hub_is_taken_from_an_older_file() {
    for version in versions() {
        let (program, folder) = (program(), tempfile::tempdir().unwrap());
        let file = folder.path().join("hub.toml");
        std::fs::copy(version.join("settings/hub.toml"), &file).unwrap();
        let words = ["hub", "config", "--json", "--data", folder.path().to_str().unwrap()];
        let now = Ran::of(program.command(Path::new("/"), &words).output().unwrap());
        assert_eq!(now.status, 0, "{now}");
        let (now, before) = (now.json(), read_json(&version.join("settings/hub.json")));
        let before = before["settings"].as_array().unwrap();
        assert!(before.len() >= 66, "{}", before.len());
        for setting in before {
            let mut found = now["settings"].as_array().unwrap().iter();
            let found = found.find(|now| now["name"] == setting["name"]);
            let found = found.unwrap_or_else(|| panic!("{} is gone", setting["name"]));
            assert_eq!(found["value"], setting["value"], "{}", setting["name"]);
            assert_eq!(found["variable"], setting["variable"], "{}", setting["name"]);
            assert_eq!(text(&found["origin"]), file.to_str().unwrap(), "{}", setting["name"]);
        }
    }
}

#[test]
fn every_setting_of_a_repository_is_taken_from_an_older_file() {
    for version in versions() {
        let repo = Repo::new();
        std::fs::copy(version.join("settings/capsid.toml"), repo.file("capsid.toml")).unwrap();
        let doctor = program().run(&repo, &["doctor"]);
        assert!(doctor.stdout.contains("capsid.toml read"), "{doctor}");

        let config = Config::load(&repo.file("capsid.toml"), &|_| None).unwrap();
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let validation = &config.validation;
        assert_eq!(validation.programs, ["python3", "cargo"]);
        assert!(validation.inline_code && validation.network);
        assert_eq!(validation.commands, ["python3 check.py", "cargo test"]);
        assert_eq!((validation.timeout_seconds, validation.sandbox), (33, SandboxPolicy::Off));
        assert_eq!(validation.read, [PathBuf::from("/opt/toolchain")]);
        assert_eq!(validation.load_check.as_deref(), Some("node --check index.js"));
        let constraints = &config.constraints;
        assert_eq!((constraints.hard_cap_files, constraints.hard_cap_lines), (7, 321));
        assert_eq!(constraints.protected, [".env", "secrets", "infra"]);
        let cycle = &config.cycle;
        assert_eq!(cycle.strategy.as_deref(), Some("harden"));
        assert_eq!(cycle.agent, words(&["codex", "exec", "-"]));
        assert_eq!((cycle.agent_timeout_seconds, cycle.sessions), (99, false));
        assert!(!config.trail.seal_events);
        let hub = &config.hub;
        assert_eq!(hub.url.as_deref(), Some("https://hub.example.org"));
        assert_eq!(hub.ca_file.as_deref(), Some(Path::new("certs/ca.pem")));
        assert_eq!((hub.allow_insecure, hub.report, hub.publish, hub.tasks), (true, false, true, true));
        assert_eq!((hub.reuse, hub.task_strategy.as_str()), (Reuse::Reference, "greedy"));
        assert_eq!((hub.task_minutes_per_day, hub.task_runs_per_day, hub.sync_hours), (15, 3, 9));
    }
}
