use super::*;
use capsid_model::json;

fn stamped(value: &Value) -> Value {
    let mut document = value.as_object().cloned().unwrap();
    stamp(&mut document);
    document.into()
}

fn capsule(id: &str, streak: u64, at: &str) -> Value {
    stamped(
        &json!({"type": "Capsule", "id": id, "success_streak": streak, "env_fingerprint": {"captured_at": at}}),
    )
}

fn gene(id: &str, step: &str, marks: &[(&str, f64, &str)]) -> Value {
    let marks: Vec<Value> = marks
        .iter()
        .map(|(context, boost, at)| json!({"context": context, "boost": boost, "created_at": at}))
        .collect();
    stamped(&json!({"type": "Gene", "id": id, "strategy": [step], "epigenetic_marks": marks}))
}

fn file(list: &str, items: &[&Value]) -> Vec<u8> {
    json!({"version": 1, list: items}).to_string().into_bytes()
}

fn merged(list: &'static str, base: &[&Value], ours: &[&Value], theirs: &[&Value]) -> MergedList {
    let versions =
        MergeVersions { base: file(list, base), ours: file(list, ours), theirs: file(list, theirs) };
    merge_lists(versions, list).unwrap()
}

fn items(merged: &MergedList, list: &str) -> Vec<Value> {
    assert!(merged.conflicts.is_empty(), "{merged:?}");
    let file: Value = merged.text.parse().unwrap();
    let items = file[list].as_array().unwrap().clone();
    items.iter().for_each(|item| assert!(verifies(&item.to_string()), "{item}"));
    items
}

#[test]
fn new_entries_of_both_sides_stay() {
    let (a, b, c) = (capsule("a", 1, ""), capsule("b", 1, ""), capsule("c", 1, ""));
    let merged = merged("capsules", &[&a], &[&a, &b], &[&a, &c]);
    assert_eq!(items(&merged, "capsules"), [a, b, c]);
}

#[test]
fn the_longer_streak_wins_then_the_newer_record_whichever_side_is_ours() {
    let base = capsule("a", 1, "2026-01-01");
    for (one, other) in [
        (capsule("a", 3, "2026-01-02"), capsule("a", 2, "2026-01-09")),
        (capsule("a", 2, "2026-01-09"), capsule("a", 2, "2026-01-02")),
    ] {
        for (ours, theirs) in [(&one, &other), (&other, &one)] {
            let merged = merged("capsules", &[&base], &[ours], &[theirs]);
            assert_eq!(items(&merged, "capsules")[..], *std::slice::from_ref(&one));
        }
    }
}

#[test]
fn a_capsule_that_does_not_verify_never_wins() {
    let (base, good) = (capsule("a", 1, ""), capsule("a", 2, ""));
    let mut forged = capsule("a", 3, "");
    forged["success_streak"] = json!(99);
    let merged_one = merged("capsules", &[&base], &[&forged], &[&good]);
    assert_eq!(items(&merged_one, "capsules"), [good]);
    let mut other = forged.clone();
    other["success_streak"] = json!(98);
    assert_eq!(merged("capsules", &[&base], &[&forged], &[&other]).conflicts, ["a"]);
}

#[test]
fn a_gene_takes_the_newer_mark_for_each_environment_of_both_sides() {
    let base = gene("g", "s", &[("linux", 0.1, "2026-01-01")]);
    let one = gene("g", "s", &[("linux", 0.2, "2026-01-03")]);
    let other = gene("g", "s", &[("linux", 0.3, "2026-01-02"), ("darwin", 0.1, "2026-01-02")]);
    let expected = gene("g", "s", &[("darwin", 0.1, "2026-01-02"), ("linux", 0.2, "2026-01-03")]);
    for (ours, theirs) in [(&one, &other), (&other, &one)] {
        let merged = merged("genes", &[&base], &[ours], &[theirs]);
        assert_eq!(items(&merged, "genes")[..], *std::slice::from_ref(&expected));
    }
}

#[test]
fn a_gene_that_both_sides_wrote_anew_is_a_conflict_with_both_versions() {
    let merged =
        merged("genes", &[&gene("g", "s", &[])], &[&gene("g", "mine", &[])], &[&gene("g", "yours", &[])]);
    assert_eq!(merged.conflicts, ["g"]);
    for text in ["<<<<<<< ours\n", "mine", "=======\n", "yours", ">>>>>>> theirs\n"] {
        assert!(merged.text.contains(text), "{}", merged.text);
    }
}

#[test]
fn what_one_side_removed_is_removed_unless_the_other_changed_it() {
    let (a, b) = (capsule("a", 1, ""), capsule("b", 1, ""));
    let merged_one = merged("capsules", &[&a, &b], &[&b], &[&a, &b]);
    assert_eq!(items(&merged_one, "capsules")[..], *std::slice::from_ref(&b));
    let changed = capsule("a", 2, "");
    let merged_two = merged("capsules", &[&a, &b], &[&b], &[&changed, &b]);
    assert_eq!(items(&merged_two, "capsules"), [b, changed]);
}

#[test]
fn a_file_that_cannot_be_read_and_entries_without_ids_are_left_to_git() {
    let good = file("genes", &[&gene("g", "s", &[])]);
    for broken in
        [&b"<<<<<<< ours"[..], br#"{"genes": [{"v": 1}]}"#, br#"{"genes": [{"id":"a"},{"id":"a"}]}"#]
    {
        let versions = MergeVersions { base: Vec::new(), ours: good.clone(), theirs: broken.to_vec() };
        assert_eq!(merge_lists(versions, "genes"), None);
    }
    assert_eq!(list_of(Path::new("assets/gep/genes.json")), Some("genes"));
    assert_eq!(list_of(Path::new("package.json")), None);
}
