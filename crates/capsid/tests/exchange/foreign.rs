//! What others made comes in staged, whatever way it comes.

use super::*;
use capsid_model::json;

/// A desk whose gene would be chosen at once elsewhere, and its archive.
fn archive() -> (ProgramRepo, String) {
    let theirs = desk();
    let signals = ["log_error", "TypeError", "error", "x is not a function"];
    let gene = store::gene("gene_better", "repair", &signals, &["node better.js"]);
    store::write_store(&theirs.repo, &[gene]);
    let file = theirs.program.home().join("store.gepx").to_str().unwrap().to_owned();
    theirs.program.expect(0, &theirs.repo, &["archive", "export", &file]);
    (theirs, file)
}

fn chosen(desk: &ProgramRepo) -> String {
    desk.program.expect(0, &desk.repo, &["select", "--signal", "log_error", "--json"]).stdout
}

#[test]
fn archive_import_makes_no_foreign_gene_selectable_before_it_is_promoted() {
    let (_theirs, file) = archive();
    let desk = desk();
    desk.repo.write("better.js", "");
    let before = desk.repo.read("assets/gep/genes.json");
    let shown = desk.program.expect(0, &desk.repo, &["archive", "import", &file]);
    assert!(shown.stdout.contains("gene_better") && shown.stderr.contains("node promote"), "{shown}");
    assert_eq!(desk.repo.read("assets/gep/genes.json"), before);
    assert!(!chosen(&desk).contains("gene_better"), "{}", chosen(&desk));
    let again = desk.program.expect(0, &desk.repo, &["archive", "import", &file, "--json"]).json();
    assert_eq!((&again["staged"], &again["known"]), (&json!([]), &json!(1)), "{again:#}");

    // Nobody can be asked here, and the command is a new one.
    for more in [&[][..], &["--validated"], &["--json"]] {
        let words = [&["node", "promote", "gene_better"], more].concat();
        let ran = desk.program.run(&desk.repo, &words);
        assert_eq!(ran.status, 1, "{ran}");
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains("confirmation_required") && text.contains("`node better.js`"), "{ran}");
    }
    desk.program.expect(0, &desk.repo, &["node", "promote", "gene_better", "--validated", "--yes"]);
    assert!(chosen(&desk).contains("gene_better"), "{}", chosen(&desk));
}

#[test]
fn an_archive_of_one_s_own_is_imported_after_its_commands_were_listed() {
    let (_theirs, file) = archive();
    let desk = desk();
    let refused = desk.program.run(&desk.repo, &["archive", "import", "--memory", &file]);
    assert_eq!(refused.status, 2, "{refused}");
    let shown = desk.program.expect(0, &desk.repo, &["archive", "import", "--trust", &file]);
    assert!(shown.stderr.contains("gene gene_better\n  node better.js\n"), "{shown}");
    assert!(chosen(&desk).contains("gene_better"), "{}", chosen(&desk));
}
