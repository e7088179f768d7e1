use super::super::{CountedEntity, CountedRelation, StatementSum};
use super::*;
use proptest::prelude::*;

const GENE: &str = "sha256:aa";
const CAPSULE: &str = "sha256:bb";
const BODY: &str = r#"{"trigger":["TimeoutError","retry|backoff","force_x"],"confidence":0.85,
    "outcome":{"status":"success"},"env_fingerprint":{"platform":"linux","arch":"x64"}}"#;

fn capsule(body: &str) -> Statement {
    asset_statement(&PublishedAssetFacts {
        asset_id: CAPSULE,
        asset_type: AssetType::Capsule,
        node_id: "n1",
        created_at: 7,
        body,
        origins: &[(AssetType::Gene, GENE.to_owned())],
    })
}

fn lines(said: &Statement) -> Vec<String> {
    let of = |link: &StatementLink| {
        format!("{} {} {} {}", link.source.key, link.kind, link.target.key, link.confidence)
    };
    said.links.iter().map(of).collect()
}

#[test]
fn a_capsule_says_what_it_solves_where_and_from_what() {
    let said = capsule(BODY);
    assert_eq!(
        lines(&said),
        [
            "sha256:bb made_by n1 1",
            "timeout_error solved_by sha256:bb 0.85",
            "retry solved_by sha256:bb 0.85",
            "backoff solved_by sha256:bb 0.85",
            "sha256:bb validated_on linux_x64 0.7",
            "sha256:bb derived_from sha256:aa 1",
        ]
    );
    assert_eq!(said.pairs.len(), 3);
    assert_eq!(said.things.len(), 7);
}

#[test]
fn what_failed_solves_nothing() {
    let said = capsule(&BODY.replace("success", "failed"));
    assert!(lines(&said).iter().all(|line| !line.contains("solved_by")));
    assert!(lines(&said).contains(&"sha256:bb fails_on linux_x64 0.7".to_owned()));
    for body in ["", "[]", "{\"trigger\":1}", "{\"trigger\":[1,null]", "\u{0}"] {
        assert_eq!(capsule(body).things.len(), 3, "{body}");
    }
}

#[test]
fn only_others_vouch_for_an_asset() {
    let report = ReportedOutcome {
        node_id: "n2",
        label: "unsolicited",
        ok: true,
        weight: 0.5,
        environment: Some("Linux_x64"),
        created_at: 9,
    };
    let said = report_statement(AssetType::Capsule, CAPSULE, &report).unwrap();
    assert_eq!(lines(&said), ["sha256:bb reused_by n2 0.7", "sha256:bb validated_on linux_x64 0.7"]);
    assert!(
        report_statement(AssetType::Capsule, CAPSULE, &ReportedOutcome { label: "self", ..report }).is_none()
    );
    assert!(
        report_statement(AssetType::Capsule, CAPSULE, &ReportedOutcome { weight: 0.0, ..report }).is_none()
    );
}

/// What a sum holds, in an order that does not depend on that of the statements.
fn listed(sum: &StatementSum) -> Vec<String> {
    let name = |place: usize| &sum.entities()[place].entity.key;
    let relation = |(said, claims): (&CountedRelation, &i64)| {
        let (by, asset) = (&sum.sources()[said.said_by], said.asset.map(name));
        let CountedRelation { lane, said_at, confidence, .. } = said;
        format!(
            "{} {lane} {} {by} {said_at} {asset:?} {confidence} {claims}",
            name(said.source),
            name(said.target)
        )
    };
    let entity =
        |counted: &CountedEntity| format!("{} {} {}", counted.id, counted.entity.key, counted.mentions);
    let mut lines: Vec<String> = sum.entities().iter().map(entity).collect();
    lines.extend(sum.relations().iter().map(relation));
    lines.sort();
    lines
}

#[test]
fn what_is_said_twice_is_said_alike() {
    // The capsule itself names the gene that its bundle links it to.
    let (asset, bundle) = (capsule(BODY), bundle_statement(CAPSULE, "n1", 7, GENE, None));
    let of = |statements: [&Statement; 2]| {
        let mut sum = StatementSum::default();
        statements.iter().for_each(|statement| sum.add_statement(statement));
        sum
    };
    assert_eq!(listed(&of([&asset, &bundle])), listed(&of([&bundle, &asset])));
    assert!(of([&asset, &bundle]).relations().values().any(|claims| *claims == 2));
}

#[test]
fn origins_are_ids_of_assets() {
    assert_eq!(origins_named(r#"{"reused_asset_id":"sha256:cc","parent":"evt_1"}"#), ["sha256:cc"]);
    assert!(origins_named(r#"{"parent":7}"#).is_empty() && origins_named("{}").is_empty());
}

proptest! {
    #[test]
    fn saying_and_unsaying_leaves_nothing(
        texts in prop::collection::vec("[a-d|]{1,3}", 0..8),
        order in any::<prop::sample::Index>(),
    ) {
        let body = serde_json::json!({"trigger": texts, "confidence": 0.5}).to_string();
        let mut statements =
            [capsule(&body), bundle_statement(CAPSULE, "n1", 7, GENE, Some("sha256:ee")), task_statement("t", &texts.join(","), 3)];
        let mut sum = StatementSum::default();
        statements.iter().for_each(|statement| sum.add_statement(statement));
        let by = order.index(statements.len());
        statements.rotate_left(by);
        let mut other = StatementSum::default();
        statements.iter().for_each(|statement| other.add_statement(statement));
        prop_assert_eq!(listed(&sum), listed(&other));
        for said in sum.relations().keys() {
            let is_named = |place: usize| sum.entities()[place].mentions > 0;
            prop_assert!(is_named(said.source) && is_named(said.target));
            prop_assert!(said.source != said.target);
        }
        statements.iter().for_each(|statement| sum.unsay(statement));
        prop_assert!(sum.is_empty());
    }
}
