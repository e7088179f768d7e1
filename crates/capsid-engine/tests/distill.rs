//! Distillation from the capsules of a store to a gene in it.

use capsid_engine::distill::{
    DistillAcceptance, DistillOutcome, DistillRequest, DistillSkip, accept, request,
};
use capsid_engine::store::AssetStore;
use capsid_model::{Code, Object, Time, asset, json};
use tempfile::TempDir;

const NOW: Time = Time(1_770_000_000_000);
const ANSWER: &str = r#"Here: {"type":"Gene","id":"retry_flaky_calls","category":"repair",
    "signals_match":["flaky_network"],"strategy":["Retry twice."],"validation":["npm test","sh -c x"]}"#;

struct DistillFixture {
    folder: TempDir,
    store: AssetStore,
}

impl DistillFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = AssetStore::at(folder.path().join("assets"));
        store.create().unwrap();
        Self { folder, store }
    }

    fn capsules(self, ids: std::ops::Range<u64>, status: &str) -> Self {
        let list = if status == "success" { &self.store.capsules } else { &self.store.failed };
        for n in ids {
            let capsule = json!({"type": "Capsule", "id": format!("capsule_{n}"), "gene": "g",
                "summary": "hunter2 is the password", "trigger": ["log_error"],
                "outcome": {"status": status, "score": 0.9}});
            list.upsert(capsule.as_object().unwrap()).unwrap();
        }
        self
    }

    fn ask(&self, force: bool, now: Time) -> DistillOutcome {
        request(&DistillRequest {
            store: &self.store,
            memory: self.folder.path(),
            enabled: true,
            force,
            now,
            redact: &|text| text.replace("hunter2", "[REDACTED]"),
        })
        .unwrap()
    }

    fn answer(&self, text: &str) -> capsid_model::Result<Object> {
        accept(
            text,
            &DistillAcceptance {
                store: &self.store,
                memory: self.folder.path(),
                now: NOW,
                allows: &|command| command.starts_with("npm "),
            },
        )
    }
}

#[test]
fn a_request_is_written_once_and_its_answer_taken_once() {
    let fixture = DistillFixture::new().capsules(1..11, "success");
    let DistillOutcome::Written { prompt, document } = fixture.ask(false, NOW) else {
        panic!("nothing was written");
    };
    let text = std::fs::read_to_string(prompt).unwrap();
    assert!(text.contains("[REDACTED]") && !text.contains("hunter2"));
    assert_eq!(text.matches("<<<DATA").count(), 11);
    assert_eq!(document["input_capsule_count"], 10);
    assert_eq!(document["data_hash"].as_str().unwrap().len(), 16);

    let later = Time(NOW.0 + 86_400_000);
    assert_eq!(fixture.ask(false, Time(NOW.0 + 1)), DistillOutcome::Skipped(DistillSkip::TooSoon));
    assert_eq!(fixture.ask(true, NOW), DistillOutcome::Skipped(DistillSkip::IdempotentSkip));
    assert_eq!(fixture.ask(false, later), DistillOutcome::Skipped(DistillSkip::IdempotentSkip));

    let gene = fixture.answer(ANSWER).unwrap();
    assert_eq!(gene["id"], "gene_distilled_retry_flaky_calls");
    assert_eq!(gene["validation"], json!(["npm test"]));
    let stored = fixture.store.genes.find("gene_distilled_retry_flaky_calls").unwrap().unwrap();
    assert!(asset::verify(&stored).holds());
    let log = std::fs::read_to_string(fixture.folder.path().join("distiller_log.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 1);
    assert!(fixture.answer(ANSWER).unwrap_err().message.contains("no_request"));
}

#[test]
fn too_few_or_too_many_failures_are_no_ground_for_a_gene() {
    let few = DistillFixture::new().capsules(1..10, "success");
    assert_eq!(few.ask(true, NOW), DistillOutcome::Skipped(DistillSkip::InsufficientData));
    let shaky = DistillFixture::new().capsules(1..20, "success").capsules(20..24, "failed");
    assert_eq!(shaky.ask(true, NOW), DistillOutcome::Skipped(DistillSkip::InsufficientData));
    let steady = DistillFixture::new().capsules(1..20, "success").capsules(20..23, "failed");
    assert!(matches!(steady.ask(true, NOW), DistillOutcome::Written { .. }));
}

#[test]
fn an_answer_without_a_good_gene_changes_nothing() {
    let fixture = DistillFixture::new().capsules(1..11, "success");
    fixture.ask(false, NOW);
    let before = std::fs::read(fixture.store.genes.path()).unwrap();
    for (answer, reason) in [
        ("I cannot do that.", "no_gene_in_response"),
        (r#"{"type":"Gene","category":"repair","signals_match":["abc"]}"#, "validation_failed"),
    ] {
        let problem = fixture.answer(answer).unwrap_err();
        assert_eq!(problem.code, Code::DistillRefused);
        assert!(problem.message.contains(reason), "{}", problem.message);
    }
    assert_eq!(std::fs::read(fixture.store.genes.path()).unwrap(), before);
    fixture.answer(ANSWER).unwrap();
}
