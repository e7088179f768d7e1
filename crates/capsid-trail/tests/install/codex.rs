//! Codex: one line of TOML.

use super::home::{Home, round_trip};
use super::settings::seeds;
use capsid_transcript::Tool;

const CODEX_LINE: &str = "notify = [\"/usr/local/bin/capsid\", \"trail\", \"hook\", \"codex\"] # Added by capsid: seal each completed turn";

#[test]
fn notify_lands_at_the_top_level_and_comes_out_to_the_byte() {
    for (original, expected) in [
        ("", "LINE"),
        ("\n", "\nLINE\n"),
        ("model = \"x\"\n", "model = \"x\"\nLINE\n"),
        ("model = \"x\"", "model = \"x\"\nLINE"),
        ("model = \"x\" # why\r\n[t]\r\na = 1\r\n", "model = \"x\" # why\r\nLINE\r\n[t]\r\na = 1\r\n"),
        ("[t]\na = 1", "LINE\n[t]\na = 1"),
        ("# head\n\n# of t\n[t]\nx = 1\n", "# head\n\nLINE\n# of t\n[t]\nx = 1\n"),
        ("#:schema x\n# of t\n[t]\n", "#:schema x\nLINE\n# of t\n[t]\n"),
        ("# only comments", "# only comments\nLINE"),
        ("[[a]]\nx = 1\n[b.c]\n", "LINE\n[[a]]\nx = 1\n[b.c]\n"),
        (
            "a.b = 1\nc = [\n 1,\n] # end\n\n[a2.x]\ny=1\n",
            "a.b = 1\nc = [\n 1,\n] # end\nLINE\n\n[a2.x]\ny=1\n",
        ),
        ("s = \"\"\"\n[not a table]\n\"\"\"\n[t]\n", "s = \"\"\"\n[not a table]\n\"\"\"\nLINE\n[t]\n"),
        ("c = 1\na.b = 2\n[t]\n", "c = 1\na.b = 2\nLINE\n[t]\n"),
        ("  [t] # ü\n", "LINE\n  [t] # ü\n"),
        ("\u{feff}[t]\n", "\u{feff}LINE\n[t]\n"),
        ("i = { notify = [1] }\n[z.y]\nq = 1\n[z]\n", "i = { notify = [1] }\nLINE\n[z.y]\nq = 1\n[z]\n"),
    ] {
        let installed = round_trip(Tool::Codex, original, 0);
        assert_eq!(installed, expected.replace("LINE", CODEX_LINE));
        let parsed: toml_edit::DocumentMut = installed.trim_start_matches('\u{feff}').parse().unwrap();
        assert_eq!(parsed["notify"][3].as_str(), Some("codex"));
    }
}

#[test]
fn random_codex_settings_come_back_to_the_byte() {
    for seed in seeds(200) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let newline = if rng.bool() { "\n" } else { "\r\n" };
        let mut text = String::new();
        let mut headers = 0;
        for n in 0..rng.usize(..12) {
            let line = match rng.u8(..8) {
                0 => String::new(),
                1 => "# ünd [x] notify = [1]".to_owned(),
                2 => {
                    headers += 1;
                    format!("[t{n}.u]")
                }
                3 => {
                    headers += 1;
                    format!("  [[l{n}]] # [")
                }
                4 => format!("k{n} = '''{newline}[no]{newline}'''"),
                5 => format!("k{n}.a.'b' = [{newline}1, # ]{newline}]"),
                6 => format!("k{n} = {{ notify = 1 }} # x"),
                _ => format!("k{n} = \"ü\""),
            };
            text.push_str(&line);
            text.push_str(newline);
        }
        if rng.bool() {
            text.truncate(text.trim_end().len());
        }
        let installed = round_trip(Tool::Codex, &text, seed);
        let parsed: toml_edit::DocumentMut = installed.parse().unwrap();
        assert!(parsed["notify"].is_array(), "seed {seed}, {headers} tables:\n{installed}");
    }
}

#[test]
fn another_notify_is_left_with_a_word_on_how_to_run_both() {
    let text = "notify = [\"terminal-notifier\", \"-x\"]\n[t]\nnotify = [\"agent-capsule-codex-notify\"]\n";
    let home = Home::with(Tool::Codex, text);
    let installed = home.install(Tool::Codex);
    assert!(!installed.registered);
    assert_eq!(home.text(Tool::Codex), text);
    assert!(installed.changes[0].contains("inside the table [t]"), "{installed:?}");
    assert!(installed.changes[1].contains("`terminal-notifier -x \"$1\"`"), "{installed:?}");
    assert!(installed.changes[1].contains("capsid trail hook codex \"$1\"`"), "{installed:?}");
    assert_eq!(home.uninstall(Tool::Codex).changes, ["notify: not registered"]);
    assert_eq!(home.text(Tool::Codex), text);
    let chained = "notify = ['sh', '-c', 'other \"$1\"; capsid trail hook codex \"$1\"', 'sh']\n";
    let home = Home::with(Tool::Codex, chained);
    assert_eq!(home.install(Tool::Codex).changes, ["notify: already registered"]);
    assert!(home.uninstall(Tool::Codex).changes[0].starts_with("warning: notify: left"));
    assert_eq!(home.text(Tool::Codex), chained);
}

#[test]
fn a_notify_that_lies_in_a_table_by_mistake_does_not_count() {
    let text = "[t]\nx = 1\n# Added by agent-capsule: seal each completed Codex turn into a capsule chain.\nnotify = [\"agent-capsule-codex-notify\"]\n";
    let home = Home::with(Tool::Codex, text);
    let installed = home.install(Tool::Codex);
    assert!(installed.registered);
    assert!(installed.changes[0].contains("inside the table [t]"));
    assert_eq!(home.text(Tool::Codex), format!("{CODEX_LINE}\n{text}"));
    home.uninstall(Tool::Codex);
    assert_eq!(home.text(Tool::Codex), text);
}

#[test]
fn a_notify_written_by_hand_goes_and_its_neighbours_stay() {
    let text = "a = 1\nnotify = [\n  \"capsid\", \"trail\",\n  \"hook\", \"codex\",\n] # mine\nb = 2\n";
    let home = Home::with(Tool::Codex, text);
    home.uninstall(Tool::Codex);
    assert_eq!(home.text(Tool::Codex), "a = 1\n # mine\nb = 2\n");
}
