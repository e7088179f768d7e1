use super::*;
use capsid_model::asset;

#[test]
fn marks_grow_shrink_age_and_the_gene_verifies_each_time() {
    let day = 86_400_000;
    let mut gene =
        serde_json::from_str::<Object>(r#"{"type":"Gene","id":"g","asset_id":"sha256:stale"}"#).unwrap();
    for (n, success, expected) in [(0, true, 0.1), (1, true, 0.15), (2, false, 0.05), (3, false, -0.05)] {
        gene = marked_gene(&gene, "linux/x64/r", success, 1.0, Time(n * day));
        assert_eq!(gene["epigenetic_marks"][0]["boost"], expected);
        assert!(asset::verify(&gene).holds());
    }
    gene = marked_gene(&gene, "darwin/arm64/r", true, 1.0, Time(200 * day));
    assert_eq!(gene["epigenetic_marks"].as_array().unwrap().len(), 1, "the old mark is gone");
}

#[test]
fn an_auto_gene_has_a_stable_name_and_no_control_signals() {
    let signals = ["ban_gene:x".to_owned(), "log_error".to_owned()];
    let gene = auto_gene(&signals, "log_error", None, &[]);
    assert_eq!(gene["id"], format!("gene_auto_{}", stable_hash("log_error")));
    assert_eq!(gene["category"], "repair");
    assert_eq!(gene["signals_match"], json!(["log_error"]));
}
