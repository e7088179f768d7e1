//! Reuse by hand, as the guide has it: search, fetch, promote.

use super::*;
use capsid_model::json;
use capsid_testkit::hub::{HubProcess, TestHubLocation};

/// A hub on which a capsule that creates a file was published and promoted.
struct Market {
    ann: ProgramRepo,
    bob: ProgramRepo,
    hub: HubProcess,
    /// The capsule's id at the hub.
    capsule: String,
}

impl Market {
    fn open() -> Self {
        let (ann, bob) = (desk(), desk());
        assert_status(0, &ann.evolve(&["--json"], "echo 'module.exports = 1' > fix.js"));
        let local = store::list(&ann.repo, "capsules")[0]["id"].as_str().unwrap().to_owned();
        let place = TestHubLocation { data: ann.program.home().join("hub"), database: None };
        let hub = HubProcess::start(&ann.program, &place);
        let url = format!("http://{}", hub.address);
        let words = ["node", "publish", &local, "--anyway", "--json", "--hub", &url];
        let sent = ann.program.expect(0, &ann.repo, &words).json();
        let capsule = sent["published"][0]["answer"]["asset_ids"][1].as_str().unwrap().to_owned();
        assert_status(0, &place.run(&ann.program, &["admin", "promote", &capsule, "--reason", "tried"]));
        Self { ann, bob, hub, capsule }
    }

    /// What Bob's node does at the hub.
    #[track_caller]
    fn bob(&self, words: &[&str]) -> Value {
        let url = format!("http://{}", self.hub.address);
        let words = [&["node"], words, &["--json", "--hub", &url]].concat();
        self.bob.program.expect(0, &self.bob.repo, &words).json()
    }
}

#[test]
fn a_capsule_that_is_fetched_brings_its_gene_and_both_are_promoted_by_one_id() {
    let market = Market::open();
    let (bob, capsule) = (&market.bob, market.capsule.as_str());
    // The same name, another gene.
    let own = store::gene("gene_repair", "repair", &["log_error"], &["node other.js"]);
    store::write_store(&bob.repo, std::slice::from_ref(&own));
    let before = bob.repo.user_files();
    let fetched = market.bob(&["fetch", capsule, "--stage"]);
    let staged = fetched["staged"]["accepted"].as_array().unwrap();
    assert_eq!((&staged[0]["type"], &staged[1]["type"]), (&json!("Capsule"), &json!("Gene")), "{fetched:#}");
    let publisher = std::fs::read_to_string(market.ann.program.home().join(".evomap/node_id")).unwrap();
    for asset in staged {
        assert_eq!(asset["a2a"]["source"], publisher.trim(), "{asset:#}");
        assert_eq!(asset["a2a"]["hub"], format!("http://{}", market.hub.address));
    }
    let again = market.bob(&["fetch", capsule, "--stage"]);
    assert_eq!((&again["staged"]["accepted"], &again["assets"][1]), (&json!([]), &Value::Null), "{again:#}");

    let asked = bob.program.run(&bob.repo, &["node", "promote", capsule]);
    assert_eq!((asked.status, asked.code()), (1, "confirmation_required"), "{asked}");
    assert!(asked.stderr.contains("`node check.js`"), "{asked}");
    let promoted = bob.program.expect(0, &bob.repo, &["node", "promote", capsule, "--yes", "--json"]).json();
    let hex = &staged[1]["a2a"]["received_asset_id"].as_str().unwrap()[7..15];
    assert_eq!(promoted["asset"]["gene"], format!("gene_repair_{hex}"), "{promoted:#}");
    assert_eq!(
        (&promoted["gene"]["id"], &promoted["report"]["overall_ok"]),
        (&promoted["asset"]["gene"], &true.into())
    );
    let genes = store::list(&bob.repo, "genes");
    assert_eq!((genes.len(), &genes[0]), (2, &own));
    assert_eq!(bob.repo.user_files(), before, "the change was tried elsewhere");
}
