//! Untrusted text in a store does nothing to the terminal of the one who looks at it.

use super::*;
use capsid_model::text::is_invisible;

const EVIL: &str = "gene_\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\u{202e}\u{200b}x\r\u{e0041}";

fn hostile() -> ProgramRepo {
    let desk = desk();
    let text = format!("{EVIL} text");
    let mut gene = store::gene(EVIL, EVIL, &["log_error", EVIL], &[EVIL]);
    gene.insert("summary".to_owned(), text.clone().into());
    store::write_store(&desk.repo, &[store::stamped(gene.into())]);
    let mut event = store::event("evt_1", EVIL, EVIL, &[EVIL], false);
    event.insert("failure_class".to_owned(), EVIL.into());
    event.insert("parent".to_owned(), EVIL.into());
    event.insert("capsule_id".to_owned(), EVIL.into());
    let named = store::event(EVIL, "repair", EVIL, &[EVIL], true);
    store::append_events(&desk.repo, &[event, named]);
    let mut capsule = store::failed_capsule(EVIL, EVIL, &[EVIL]);
    capsule.insert("summary".to_owned(), text.clone().into());
    capsule.insert("failure_reason".to_owned(), text.into());
    let capsule = store::stamped(capsule.into());
    store::write_list(&desk.repo, "capsules", std::slice::from_ref(&capsule));
    store::write_list(&desk.repo, "failed_capsules", &[capsule]);
    desk.repo.write("app.log", format!("error: TypeError: {EVIL} is not a function\n"));
    desk
}

/// Removes the styles that the program paints with: `ESC [ digits m`.
fn without_paint(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        let rest = &part[end..];
        plain.push_str(rest.strip_prefix('m').unwrap_or("\u{1b}"));
    }
    plain
}

#[test]
fn no_command_lets_it_through() {
    let desk = hostile();
    for args in [
        &["genes"][..],
        &["genes", "show", EVIL],
        &["genes", "show", "no\u{1b}[31m\u{202e}"],
        &["capsules"],
        &["capsules", "--failed"],
        &["capsules", "show", EVIL],
        &["events"],
        &["events", "--tree"],
        &["events", "stats"],
        &["events", "show", "evt_1"],
        &["events", "trace", "evt_1"],
        &["asset", "verify", "assets/gep/genes.json", "assets/gep/events.jsonl"],
        &["asset", "check", "assets/gep/genes.json", "assets/gep/events.jsonl"],
        &["asset", "check", EVIL],
        &["signals", "--no-sessions", "--log", "app.log"],
        &["select", "--no-sessions", "--log", "app.log"],
        &["select", "--signal", EVIL],
        &["doctor"],
        &["evolve", "--no-sessions", "--log", "app.log"],
        &["explain"],
        &["review"],
        &["solidify"],
    ] {
        let mut painted = vec!["--color", "always"];
        painted.extend(args);
        let ran = run(&desk, &painted);
        let shown = without_paint(&format!("{}{}", ran.stdout, ran.stderr));
        let acts = |c: char| (c.is_control() && !"\n\t".contains(c)) || is_invisible(c);
        let found: String = shown.chars().filter(|c| acts(*c)).collect();
        assert_eq!(found, "", "{args:?}\n{shown:?}");
        assert!(!shown.is_empty(), "{args:?}");
        // The text's own red is not to be taken for the program's.
        assert!(!format!("{ran}").contains("gene_\u{1b}[31m"), "{args:?}");
    }
}

#[test]
fn what_is_shown_to_people_is_still_the_record() {
    let desk = hostile();
    for kind in ["genes", "capsules", "events"] {
        let shown = good(&desk, &[kind, "show", EVIL]);
        let told = good(&desk, &[kind, "show", EVIL, "--json"]);
        assert_eq!(shown.json(), told.json(), "{kind}");
        assert_eq!(shown.json()["id"], EVIL);
        assert!(told.stdout.contains('\u{202e}'), "a program gets the text as it is");
    }
}
