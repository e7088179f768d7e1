//! What `capsid select` may choose from the store.

use super::*;

fn capsule(id: &str, streak: u64) -> Object {
    store::stamped(json!({
        "type": "Capsule", "schema_version": "1.6.0", "id": id, "trigger": ["log_error", store::SIGNATURE],
        "gene": "gene_repair", "summary": "It removed the cause of the error.", "confidence": 0.8,
        "blast_radius": {"files": 1, "lines": 1}, "outcome": {"status": "success", "score": 0.85},
        "success_streak": streak,
    }))
}

fn event(id: &str, capsule: &str) -> Object {
    let mut event = Value::from(store::event(id, "repair", "gene_repair", &["log_error"], true));
    event["capsule_id"] = capsule.into();
    store::stamped(event)
}

fn select(desk: &ProgramRepo) -> ProgramOutput {
    good(desk, &["select", "--signal", "log_error", "--signal", store::SIGNATURE])
}

#[test]
fn a_capsule_whose_id_does_not_verify_is_not_selected() {
    let desk = desk();
    let mut forged = capsule("capsule_forged", 1);
    forged.insert("success_streak".to_owned(), json!(5));
    store::write_list(&desk.repo, "capsules", &[forged.clone()]);
    let ran = select(&desk);
    assert!(ran.stdout.starts_with("selected  gene_repair\n"), "{ran}");
    assert!(ran.stdout.contains("skipped  capsule_forged  its id does not verify"), "{ran}");
    store::write_list(&desk.repo, "capsules", &[forged, capsule("capsule_true", 1)]);
    let ran = select(&desk);
    assert!(ran.stdout.starts_with("selected  capsule_true\n"), "{ran}");
}

#[test]
fn select_uses_the_streak_that_the_event_log_supports_and_not_the_one_that_a_capsule_claims() {
    let desk = desk();
    store::write_list(&desk.repo, "capsules", &[capsule("capsule_boasts", 5), capsule("capsule_works", 2)]);
    let streak = |ran: &ProgramOutput| {
        let row =
            ran.stdout.lines().find(|line| line.trim_start().starts_with("capsule_")).unwrap().to_owned();
        row.split_whitespace().last().unwrap().to_owned()
    };
    let ran = select(&desk);
    assert!(ran.stdout.starts_with("selected  capsule_boasts\n"), "{ran}");
    assert_eq!(streak(&ran), "1", "a claim without an event counts as one success");
    store::append_events(&desk.repo, &[event("evt_1", "capsule_boasts")]);
    store::append_events(&desk.repo, &[event("evt_2", "capsule_works"), event("evt_3", "capsule_works")]);
    let ran = select(&desk);
    assert!(ran.stdout.starts_with("selected  capsule_works\n"), "{ran}");
    assert_eq!(streak(&ran), "2");
}

#[test]
fn a_specific_gene_wins_a_tie_over_a_built_in_one() {
    let desk = desk();
    let gene = |id| store::gene(id, "repair", &["log_error"], &["node check.js"]);
    store::write_store(&desk.repo, &[gene("gene_gep_repair_from_errors"), gene("gene_ours")]);
    assert!(select(&desk).stdout.starts_with("selected  gene_ours\n"));
}
