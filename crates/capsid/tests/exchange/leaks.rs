//! Secrets planted in the log, in the change, in the summary and in the gene: none is in anything that leaves.

use super::capture::Capture;
use super::*;
use capsid_testkit::rounds::seeded_rng;
use capsid_testkit::secrets::{CREDENTIALS, PERSONAL, PlantedSecret, planted};
use std::process::Command;

fn assert_clean(what: &str, text: &str, shapes: &[PlantedSecret]) {
    let seen: Vec<String> = shapes
        .iter()
        .flat_map(|shape| shape.traces().into_iter().map(move |trace| (shape, trace)))
        .filter(|(_, trace)| text.contains(&trace.replace('\\', "\\\\")) || text.contains(trace))
        .map(|(shape, trace)| format!("{:?} shows {trace:?}", shape.line))
        .collect();
    assert!(seen.is_empty(), "{what}: {} traces:\n{}", seen.len(), seen.join("\n"));
}

fn lines(shapes: &[PlantedSecret]) -> String {
    shapes.iter().map(|shape| format!("{}\n", shape.line)).collect()
}

/// A cycle in which a person makes the change and sums it up.
fn cycle(desk: &ProgramRepo, file: &str, content: &str, summary: &str) {
    desk.prepare(&["--force"]);
    desk.repo.write(file, content);
    desk.program.expect(0, &desk.repo, &["solidify", "--summary", summary]);
}

#[test]
fn nothing_that_is_sent_or_exported_holds_a_planted_credential() {
    let shapes = planted(CREDENTIALS, &mut seeded_rng());
    assert!(shapes.len() >= 50);
    let (first, rest) = shapes.split_at(shapes.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| plant_and_share(first, &shapes));
        scope.spawn(|| plant_and_share(rest, &shapes));
    });
}

#[test]
fn nothing_that_is_sent_or_exported_names_a_person_or_a_machine() {
    let shapes = planted(PERSONAL, &mut seeded_rng());
    plant_and_share(&shapes, &shapes);
}

/// Proves a capsule whose change holds some of the secrets, while all stand everywhere else, and shares it in every way.
fn plant_and_share(in_change: &[PlantedSecret], shapes: &[PlantedSecret]) {
    let desk = desk();
    let mut gene = store::list(&desk.repo, "genes").remove(0);
    gene["strategy"] = shapes.iter().map(|shape| format!("Use {}", shape.line)).collect::<Vec<_>>().into();
    gene["preconditions"] = json!([lines(shapes)]);
    store::write_list(&desk.repo, "genes", &[store::stamped(gene.into())]);
    // The first error is the signature; it is cut in the middle of the last secret.
    let signature = format!("{} {}", "x".repeat(200), shapes[0].line.replace('\n', " "));
    let log: String = shapes.iter().map(|shape| format!("error: {}\n", shape.line)).collect();
    desk.repo.write("app.log", format!("error: TypeError: {signature}\n{log}"));
    let summary = format!("Mended with {}", lines(shapes));
    cycle(&desk, "config.txt", &lines(in_change), &summary);
    prove(&desk, shapes);
    let hub = Capture::start();
    let mut captured = String::new();
    for words in [
        &["node", "publish", "--dry-run"][..],
        &["node", "publish", "--all-eligible", "--hub", &hub.url],
        &["node", "export", "--include-events"],
        &["node", "export", "--bundles"],
        &["node", "export", "--protocol", "--include-events", "--persist"],
    ] {
        let ran = desk.program.expect(0, &desk.repo, words);
        captured += &ran.stdout;
        captured += &ran.stderr;
    }
    captured += &desk.repo.read("assets/gep/a2a/outbox/publish.jsonl");
    assert_clean("printed", &captured, shapes);
    let sent = hub.text();
    assert_eq!(sent.matches("POST /a2a/publish").count(), 1);
    assert!(
        sent.contains("config.txt") && sent.matches("[REDACTED]").count() > 50,
        "the change itself was sent"
    );
    assert_clean("sent", &sent, shapes);
}

/// Gives the capsules a proof, a problem and words, all of which hold the secrets.
fn prove(desk: &ProgramRepo, shapes: &[PlantedSecret]) {
    let mut capsules = store::list(&desk.repo, "capsules");
    for capsule in &mut capsules {
        capsule.insert("proof".to_owned(), store::proof("node check.js"));
        capsule["proof"]["check_files"] = json!([lines(shapes)]);
        let problem = json!({
            "v": 1, "tool": "node", "family": "js", "code": null, "class": "exception",
            "text": lines(shapes), "symbols": [lines(shapes)], "raw": lines(shapes),
            "ids": {"exact": "1", "message": "2", "site": "3", "template": "4"},
        });
        capsule.insert("problem".to_owned(), problem);
        for name in ["title", "explanation", "lineage"] {
            capsule.insert(name.to_owned(), lines(shapes).into());
        }
        *capsule = store::stamped(capsule.clone().into());
        let id = capsule["id"].as_str().unwrap();
        let successes = ["evt_2", "evt_3"].map(|event| store::proven_success(event, "gene_repair", id));
        store::append_events(&desk.repo, &successes);
    }
    store::write_list(&desk.repo, "capsules", &capsules);
}

/// An archive is a copy for its owner, so it holds what the owner wrote; but what was read from logs and changes lost
/// its credentials before it was stored.
#[test]
fn an_archive_holds_no_credential_from_logs_and_changes() {
    let shapes = planted(CREDENTIALS, &mut seeded_rng());
    let desk = desk();
    let log: String = shapes.iter().map(|shape| format!("error: {}\n", shape.line)).collect();
    desk.repo.write("app.log", log);
    cycle(&desk, "config.txt", &lines(&shapes[..shapes.len() / 2]), "Mended the first half of it.");
    cycle(&desk, "other.txt", &lines(&shapes[shapes.len() / 2..]), "Mended the other half of it.");
    let file = desk.program.home().join("store.gepx");
    desk.program.expect(0, &desk.repo, &["archive", "export", file.to_str().unwrap()]);
    let unpacked = Command::new("tar").args(["-xzOf", file.to_str().unwrap()]).output().unwrap();
    assert!(unpacked.status.success());
    let text = String::from_utf8_lossy(&unpacked.stdout).into_owned();
    assert!(text.contains("config.txt") && text.contains("[REDACTED]"));
    assert_clean("archived", &text, &shapes);
}
