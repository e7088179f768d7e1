//! Which stored solution is offered, applied and credited.

use super::*;

/// A problem of its own file, whose check fails until that file holds `good`.
struct SmallBug {
    name: &'static str,
}

impl SmallBug {
    /// Adds the check and leaves the bug in the tree, with its output as the log.
    fn plant(&self, desk: &ProgramRepo) {
        let name = self.name;
        desk.repo.write(
            &format!("{name}.js"),
            format!(
                "const state = require('fs').readFileSync('{name}.txt', 'utf8')\n\
                 if (!state.includes('good')) {{\n  throw new TypeError('{name} is not a function')\n}}\n"
            ),
        );
        self.appear(desk);
    }

    fn appear(&self, desk: &ProgramRepo) {
        let name = self.name;
        desk.repo.write(&format!("{name}.txt"), "start\n");
        desk.repo.commit(&format!("Break {name}"));
        desk.repo.write(
            "app.log",
            format!(
                "$ node {name}.js\nTypeError: {name} is not a function\n    \
                 at Object.<anonymous> (/srv/app/{name}.js:3:9)\n"
            ),
        );
    }

    #[track_caller]
    fn solve(&self, desk: &ProgramRepo, agent: &str) -> Value {
        let ran = desk.evolve(&["--json"], agent);
        assert_status(0, &ran);
        ran.json()
    }
}

#[test]
fn a_capsule_credited_is_the_one_that_was_applied() {
    let desk = desk();
    let (cart, order) = (SmallBug { name: "cart" }, SmallBug { name: "order" });
    cart.plant(&desk);
    let of_cart = cart.solve(&desk, "echo good > cart.txt")["capsule"]["id"].clone();
    order.plant(&desk);
    let of_order = order.solve(&desk, "echo good > order.txt")["capsule"]["id"].clone();
    assert_ne!(of_cart, of_order);
    for (bug, own, count) in [(&cart, &of_cart, 2), (&order, &of_order, 2), (&cart, &of_cart, 3)] {
        bug.appear(&desk);
        let solved = bug.solve(&desk, "touch the-agent-was-called; exit 1");
        assert_eq!(&solved["event"]["meta"]["reused_capsule_id"], own);
        assert_eq!(&solved["event"]["capsule_id"], own);
        let credited = capsules(&desk).into_iter().find(|capsule| capsule["id"] == *own).unwrap();
        assert_eq!(credited["success_streak"], count, "{}", bug.name);
    }
    let other = capsules(&desk).into_iter().find(|capsule| capsule["id"] == of_order).unwrap();
    assert_eq!(other["success_streak"], 2, "nothing else was credited");
}

#[test]
fn the_first_solution_is_not_overwritten_by_the_second() {
    let desk = broken();
    assert_status(0, &desk.evolve(&[], GOOD));
    let first = capsules(&desk).remove(0);
    // The stored change no longer applies, so an agent finds another one.
    desk.repo.write("state.txt", "another\nbeginning\n");
    desk.repo.commit("Begin in another way");
    let agent = "printf 'const good = 1\\nmodule.exports = { good, list: [1, 2, 3] }\\n' > state.txt";
    let ran = desk.evolve(&["--json"], agent);
    assert_status(0, &ran);
    let all = capsules(&desk);
    assert_eq!(all.len(), 2, "{ran}");
    let stored = all.iter().find(|capsule| capsule["id"] == first["id"]).unwrap();
    for member in ["diff", "summary", "title", "explanation", "problem", "success_streak"] {
        assert_eq!(stored.get(member), first.get(member), "{member}");
    }
    let second = all.iter().find(|capsule| capsule["id"] != first["id"]).unwrap();
    assert_eq!((&second["lineage"], &second["parent"]), (&json!("alternative"), &first["asset_id"]));
}

#[test]
fn a_streak_does_not_grow_for_a_capsule_whose_change_was_not_applied() {
    let desk = broken();
    let mut shown = store::proven_capsule("capsule_shown", "gene_repair", 1);
    let signals =
        desk.program.expect(0, &desk.repo, &["signals", "--no-sessions", "--log", "app.log", "--json"]);
    let error = signals.json()["signals"][1].clone();
    shown["trigger"] = json!(["log_error", error]);
    shown["diff"] = "--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-one\n+two\n".into();
    store::write_list(&desk.repo, "capsules", &[store::stamped(shown.into())]);
    store::append_events(&desk.repo, &[store::proven_success("evt_1", "gene_repair", "capsule_shown")]);
    assert_status(0, &desk.evolve(&[], GOOD));
    let event = last_event(&desk);
    assert_ne!(event["capsule_id"], "capsule_shown", "{event:?}");
    assert_ne!(event["source_type"], "reused");
    let shown = capsules(&desk).into_iter().find(|capsule| capsule["id"] == "capsule_shown").unwrap();
    assert_eq!(shown["success_streak"], 1);
}

#[test]
fn a_capsule_that_shares_nothing_but_log_error_is_not_handed_out() {
    let desk = broken();
    let mut unrelated = store::proven_capsule("capsule_unrelated", "gene_repair", 5);
    unrelated["trigger"] = json!(["log_error"]);
    store::write_list(&desk.repo, "capsules", &[store::stamped(unrelated.into())]);
    let prepared = desk.prepare(&["--dry-run", "--json"]).json();
    assert!(!prepared["prompt"].as_str().unwrap().contains("capsule_unrelated"), "{prepared:#}");
    assert_status(0, &desk.evolve(&[], GOOD));
    assert_ne!(last_event(&desk)["capsule_id"], "capsule_unrelated");
}

#[test]
fn errsig_norm_given_as_a_signal_finds_the_capsule() {
    let desk = desk();
    store::write_list(&desk.repo, "capsules", &[store::proven_capsule("capsule_known", "gene_repair", 1)]);
    let norm = capsid_model::signal::normalise_errsig(store::SIGNATURE).unwrap();
    let ran = desk.program.expect(0, &desk.repo, &["select", "--signal", &norm]);
    assert!(ran.stdout.starts_with("selected  capsule_known\n"), "{ran}");
}

#[test]
fn the_selector_lists_alternatives_as_the_seeds_show() {
    let desk = desk();
    std::fs::remove_dir_all(desk.repo.file("assets/gep")).unwrap();
    desk.program.expect(0, &desk.repo, &["init"]);
    let select = |signals: &[&str]| {
        let mut words = vec!["select", "--json"];
        signals.iter().for_each(|signal| words.extend(["--signal", signal]));
        desk.program.expect(0, &desk.repo, &words).json()
    };
    let repair = select(&["log_error", "exception", "failed"]);
    assert_eq!(repair["selected"], "gene_gep_repair_from_errors");
    assert_eq!(repair["alternatives"], json!(["gene_gep_innovate_from_opportunity"]));
    let innovate = select(&["user_missing", "user_feature_request"]);
    assert_eq!(innovate["selected"], "gene_gep_innovate_from_opportunity");
    assert_eq!(innovate["alternatives"], json!([]));
}
