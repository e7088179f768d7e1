#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use super::*;
use capsid_model::{SystemClock, Value, json};
use capsid_testkit::test_repo::TestRepo;
use std::sync::Arc;

struct Stage {
    workspace: Workspace,
    _repo: TestRepo,
}

impl Stage {
    fn new() -> Self {
        let repo = TestRepo::named("shop");
        let home = repo.file("../trail").display().to_string();
        let data = repo.env();
        let env = move |name: &str| match name {
            "AGENT_CAPSULE_HOME" => Some(home.clone()),
            _ => data(name),
        };
        let workspace = Workspace::open(repo.path(), Arc::new(SystemClock), Arc::new(env)).unwrap();
        workspace.store.create().unwrap();
        Self { workspace, _repo: repo }
    }

    #[allow(clippy::needless_pass_by_value)]
    fn event(&self, id: &str, ok: bool, more: Value) {
        let status = if ok { "success" } else { "failed" };
        let mut event = json!({
            "type": "EvolutionEvent", "id": id, "intent": "repair", "signals": ["log_error"], "genes_used": ["g"],
            "outcome": {"status": status, "score": 0.5}, "blast_radius": {"files": 2, "lines": 10},
            "source_type": "generated", "meta": {"at": "2026-02-07T15:20:54.155Z"},
        });
        let event = event.as_object_mut().unwrap();
        event.extend(more.as_object().unwrap().clone());
        self.workspace.store.events.append(std::slice::from_ref(event)).unwrap();
    }

    fn raw(&self, line: &str) {
        capsid_disk::files::append(self.workspace.store.events.path(), line).unwrap();
    }

    fn read(&self) -> Evolution {
        read(&self.workspace, MAX_EVENTS).unwrap()
    }
}

#[test]
fn an_empty_repository_has_an_empty_history() {
    let evolution = Stage::new().read();
    assert_eq!(
        (evolution.repository.as_str(), evolution.totals.cycles, evolution.events.len()),
        ("shop", 0, 0)
    );
    assert_eq!(evolution.seal.state, LogState::Unsealed);
}

#[test]
fn broken_lines_are_counted_and_do_not_hide_the_others() {
    let stage = Stage::new();
    stage.event("evt_1", true, json!({}));
    stage.raw("{\"type\":\"EvolutionEvent\",\n\nnot json\n[1]\n");
    stage.raw("{\"type\":\"ValidationReport\",\"id\":\"vr_1\"}\n");
    stage.raw("{\"type\":\"EvolutionEvent\",\"id\":7,\"outcome\":\"odd\",\"signals\":5,\"meta\":[]}\n");
    stage.event("evt_2", false, json!({"parent": "evt_1", "meta": {"failure_class": "validation"}}));
    let evolution = stage.read();
    assert_eq!(evolution.unreadable, 3);
    let statuses: Vec<_> = evolution.events.iter().map(|event| (event.id.as_str(), event.status)).collect();
    assert_eq!(statuses, [("evt_1", "success"), ("", "other"), ("evt_2", "failed")]);
    assert_eq!(evolution.events[2].failure.as_ref().unwrap().class, "validation");
    assert_eq!(evolution.events[2].parent.as_deref(), Some("evt_1"));
    assert_eq!((evolution.totals.cycles, evolution.totals.successes, evolution.totals.streak), (3, 1, 0));
}

#[test]
fn a_long_history_is_cut_but_counted_whole() {
    let stage = Stage::new();
    for n in 0..30 {
        stage.event(&format!("evt_{n}"), n % 3 != 0, json!({}));
    }
    let evolution = read(&stage.workspace, 10).unwrap();
    assert_eq!((evolution.events.len(), evolution.totals.cycles, evolution.totals.successes), (10, 30, 20));
    assert_eq!(evolution.events[0].id, "evt_20");
    assert_eq!(
        (evolution.genes[0].id.as_str(), evolution.genes[0].runs, evolution.genes[0].successes),
        ("g", 30, 20)
    );
    assert_eq!((evolution.genes[0].mean_files, evolution.genes[0].mean_lines), (2.0, 10.0));
}

#[test]
fn the_reasons_are_told_or_said_to_be_missing() {
    let stage = Stage::new();
    stage.event("evt_1", true, json!({}));
    let selector =
        json!({"selected": "g", "reason": ["signals match gene.signals_match"], "alternatives": ["h"]});
    stage.event("evt_2", true, json!({"meta": {"run_id": "run_1", "selector": selector}}));
    let selection = json!({"selected": "g", "gene_id": "g", "scores": [
        {"gene": "g", "order": 0, "hits": 2, "memory": 0.5, "epigenetic": 0.0, "banned": false, "score": 3.0},
        {"gene": "h", "order": 1, "hits": 1, "memory": 0.0, "epigenetic": 0.0, "banned": true, "score": 1.0}]});
    let record = json!({"run_id": "run_2", "at": "x", "signals": [], "selection": selection});
    let path = stage.workspace.paths.run_record("run_2");
    capsid_disk::files::create_folder(path.parent().unwrap()).unwrap();
    crate::store::write_state(&path, record.as_object().unwrap()).unwrap();
    stage.event("evt_3", true, json!({"meta": {"run_id": "run_2", "selector": selector}}));

    let reasons: Vec<Option<SelectionReasons>> =
        stage.read().events.into_iter().map(|event| event.why).collect();
    assert_eq!(reasons[0], None);
    let reason = reasons[1].as_ref().unwrap();
    assert_eq!((reason.selected.as_deref(), reason.follows), (Some("g"), None));
    assert_eq!((reason.candidates[0].id.as_str(), reason.candidates[0].score), ("h", None));
    let scored = reasons[2].as_ref().unwrap();
    let weighed: Vec<_> =
        scored.candidates.iter().map(|c| (c.id.as_str(), c.score.is_some(), c.banned)).collect();
    assert_eq!(weighed, [("g", true, false), ("h", true, true)]);
    assert_eq!(scored.candidates[0].parts, ["2 patterns", "memory +0.50", "environment +0.00"]);
    assert_eq!(scored.follows, Some(false), "the record was made up, and that shows");
}

#[test]
fn secrets_stay_here() {
    let stage = Stage::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).chars().take(36).collect::<String>());
    let signal = format!("errsig:Error: push with {token} refused");
    let meta = json!({"at": "2026-02-07T15:20:54.155Z", "failure_class": "network", "failure_reason": signal,
        "selector": {"selected": "g", "reason": [format!("signals: {signal}")]},
        "validation_ok": false, "validation": [{"cmd": format!("node a.js {token}"), "ok": false}]});
    stage.event("evt_1", false, json!({"signals": [signal], "meta": meta}));
    let text = serde_json::to_string(&stage.read()).unwrap();
    assert!(!text.contains(&token), "{text}");
    assert!(text.contains("refused"));
}

#[test]
fn each_line_says_whether_it_is_the_one_that_was_sealed() {
    let stage = Stage::new();
    stage.event("evt_1", true, json!({}));
    stage.event("evt_2", true, json!({}));
    crate::sealed_log::catch_up(&stage.workspace, false).unwrap();
    let states = |evolution: &Evolution| evolution.events.iter().map(|event| event.seal).collect::<Vec<_>>();
    assert_eq!(stage.read().seal.state, LogState::Sealed);
    stage.event("evt_3", true, json!({}));
    let evolution = stage.read();
    assert_eq!(
        (evolution.seal.state, evolution.seal.intact, evolution.seal.unsealed),
        (LogState::Unsealed, 2, 1)
    );
    assert_eq!(states(&evolution), [LineSeal::Sealed, LineSeal::Sealed, LineSeal::Unsealed]);
    let log = stage.workspace.store.events.path();
    let changed = std::fs::read_to_string(log).unwrap().replacen("evt_2", "evt_X", 1);
    std::fs::write(log, changed).unwrap();
    let evolution = stage.read();
    assert_eq!((evolution.seal.state, evolution.seal.line), (LogState::Broken, Some(2)));
    assert_eq!(evolution.seal.change.as_deref(), Some("edited"));
    assert_eq!(states(&evolution), [LineSeal::Sealed, LineSeal::Unproven, LineSeal::Unproven]);
}
