//! One database for all sessions, and one chain of it.

use super::*;

struct Shop {
    desk: TrailUser,
}

impl Shop {
    /// Two sessions in one database; only the first is finished.
    fn new() -> Self {
        let shop = Self { desk: desk() };
        for (session, turns, finish) in [(SESSION, 2, &["--finalize"][..]), ("other", 1, &[])] {
            shop.desk.transcript(session, turns);
            let seal = ["trail", "seal", "--tool", "claude-code", "--session", session];
            shop.run(0, &[&seal[..], finish].concat());
        }
        shop
    }

    #[track_caller]
    fn run(&self, status: i32, args: &[&str]) -> ProgramOutput {
        let mut command = self.desk.program.command(self.desk.home(), args);
        let ran = ProgramOutput::from_output(
            command.env("AGENT_CAPSULE_DB", self.desk.home().join("all.db")).output().unwrap(),
        );
        assert_status(status, &ran);
        ran
    }
}

#[test]
fn a_tenant_is_named_behind_the_path() {
    let shop = Shop::new();
    let one = format!("all.db#{SESSION}");
    let expect = |status, args: &[&str]| shop.desk.expect(status, args);
    let verified = expect(0, &["trail", "verify", "--signatures", &one, "--json"]).json();
    assert_eq!((verified["chains"].as_array().unwrap().len(), &verified["total"]), (1, &6.into()));
    let head = verified["chains"][0]["head"].as_str().unwrap();
    let since = format!("5:{head}");
    expect(0, &["trail", "verify", &one, "--since", &since]);
    assert_eq!(expect(2, &["trail", "verify", "all.db", "--since", &since]).code(), "usage_error");
    let shown = expect(0, &["trail", "inspect", "all.db#other", "--json"]).json();
    assert_eq!(shown["records"].as_array().unwrap().len(), 3);
    expect(0, &["trail", "disclose", &one, "--seq", "0"]);
    let several = expect(2, &["trail", "inspect", "all.db"]);
    assert!(several.stderr.contains("PATH#TENANT"), "{several}");
    for missing in ["all.db#nobody", "none.db#other"] {
        assert_eq!(expect(2, &["trail", "inspect", missing]).code(), "file_not_found");
        assert_eq!(expect(2, &["trail", "verify", missing]).code(), "file_not_found");
    }
}

#[test]
fn what_was_never_finished_is_unsealed_and_no_local_path_leaves_the_machine() {
    let shop = Shop::new();
    let report = shop.run(0, &["trail", "verify-meta", "--signatures", "--json"]).json();
    let statuses: Vec<(&str, &str)> = report["conversations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["session"].as_str().unwrap(), one["status"].as_str().unwrap()))
        .collect();
    assert_eq!(statuses, [(SESSION, "intact"), ("other", "unsealed")]);
    shop.run(0, &["trail", "export", "--out", "bundle"]);
    let meta = std::fs::read_to_string(shop.desk.home().join("bundle/meta.json")).unwrap();
    assert!(meta.contains("all.db") && !meta.contains(shop.desk.home().to_str().unwrap()), "{meta}");
    let alone = shop.desk.expect(1, &["trail", "verify-meta"]);
    assert!(alone.stdout.contains("$AGENT_CAPSULE_DB does not name it"), "{alone}");
}
